"""The findings, and the numbers on other pages, are what the reference tables say.

What a template renders is compared with cells that are read here without the project's code.
"""

import csv
import re
from pathlib import Path

import pytest
from jinja2 import DictLoader

from pairsig.io import tables as files
from pairsig.io.errors import InputError
from study.findings import text
from study.tables.declared import declared

ROOT = Path(__file__).parents[2]
REFERENCE = sorted((ROOT / "results/reference").glob("*.tsv"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FINDINGS = ROOT / "results/README.md"

NUMBER = r"[−+]?\d[\d,]*(?:\.\d+)?"
INTERVAL = re.compile(rf"{NUMBER}(?:\s?%|\s[A-Za-z0-9]+)?(?:\*\*)?\s*\[{NUMBER},\s+{NUMBER}\]")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)

OF_COMMANDS = {"1.26 [0.98, 1.62]", "5,982 [3,713, 9,640]", "6,979 [2,607, 18,693]"}
"""Intervals that `pairsig plan` prints; tests/pairsig/test_planning.py and tests/docs/test_docs.py check them."""


@pytest.fixture(scope="module")
def tables():
    return {path.stem: files.read(path, declared(path.stem)) for path in REFERENCE}


def cells(table, **wanted):
    """The rows of a reference table with these cells, as text."""
    with (ROOT / f"results/reference/{table}.tsv").open(encoding="utf-8", newline="") as lines:
        found = list(csv.DictReader(lines, delimiter="\t"))
    return [row for row in found if all(row[name] == cell for name, cell in wanted.items())]


def in_percent(row, name):
    value, low, high = (f"{100 * float(row[f'{name}{end}']):.0f}" for end in ("", "_low", "_high"))
    return f"{value} % [{low}, {high}]"


def test_the_committed_findings_are_rendered_from_the_reference(tables):
    found = text.findings(tables, "reference")
    assert found == FINDINGS.read_text(encoding="utf-8"), "type make findings; edit src/study/findings"


@pytest.fixture(scope="module")
def filled(tables):
    """All pages, filled in as one, because the numbers are looked up once for each."""
    between = "\n\0\n"
    pages = [page.read_text(encoding="utf-8") for page in PAGES]
    return dict(zip(PAGES, text.filled(between.join(pages), tables).split(between), strict=True))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_numbers_on_a_page_are_rendered_from_the_reference(page, filled):
    written = page.read_text(encoding="utf-8")
    assert filled[page] == written, "type make findings; edit src/study/findings/fragments.jinja"
    assert not re.search(r"^<!-- [a-z0-9_]+ -->.", written, re.MULTILINE), "the rest of this line would be HTML"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_interval_is_written_by_hand(page):
    written = re.sub(r"<!-- ([a-z0-9_]+) -->.*?<!-- /\1 -->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert {found[0] for found in INTERVAL.finditer(FENCED.sub("", written))} <= OF_COMMANDS


def test_every_fragment_is_on_a_page():
    macros = (ROOT / "src/study/findings/fragments.jinja").read_text(encoding="utf-8")
    used = {name for page in PAGES for name in re.findall(r"<!-- /([a-z0-9_]+) -->", page.read_text(encoding="utf-8"))}
    assert set(re.findall(r"\{% macro (\w+)\(\)", macros)) == used


@pytest.fixture
def rendered(tables, monkeypatch):
    """Fill in one fragment with this template."""

    def render(template):
        loader = DictLoader({"fragments.jinja": f"{{% macro x() %}}{template}{{% endmacro %}}"})
        environment = text.environment().overlay(loader=loader)
        monkeypatch.setattr(text, "environment", lambda: environment)
        return text.filled("a <!-- x -->old<!-- /x --> b", tables)

    return render


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ('{{ one("calibratoin").share }}', "found the table calibratoin, expected one of .*calibration"),
        ('{{ one("calibration", distnace="near").share }}', "found the column distnace, expected one of"),
        ('{{ one("calibration", distance="", p_low=0.04).shaer }}', "found the column shaer, expected one of calibr"),
        ('{{ one("calibration", distance="near", p_low=0.04).share }}', r"found \d+ rows of calibration with"),
        ('{{ one("calibration", distance="naer").share }}', "no row for a number of the fragment x"),
        ('{{ table("calibratoin") }}', "found the table calibratoin"),
    ],
)  # fmt: skip
def test_a_misspelt_address_is_an_error(rendered, template, message):
    with pytest.raises(InputError, match=message):
        rendered(template)


def test_a_fragment_is_filled_in_where_it_stands(rendered):
    share = in_percent(
        cells("calibration", calibration="dependency", distance="far", p_low="0.04", p_high="0.06")[0], "share"
    )
    address = '{{ one("calibration", calibration="dependency", distance="far", p_low=0.04, p_high=0.06).share }}'
    assert rendered(address) == f"a <!-- x -->{share}<!-- /x --> b"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (text.Number(0.00156, 0.00104, 0.0122).share, "0.16 % [0.10, 1]"),
        (text.Number(0.0).share, "0 %"),
        (text.Number(0.2484, 0.2084, 0.2962).exp, "1.28 [1.23, 1.34]"),
        (text.Number(-0.484, -0.5, -0.4).alone, "−0.48"),
        (text.Number(12345.6).digits(0), "12,346"),
        (text.Number(), text.ABSENT),
    ],
)
def test_numbers_are_written_with_their_interval(value, shown):
    assert str(value) == shown
    assert value.shown == (shown if value.known else "–")


@pytest.mark.parametrize(("n_systems", "note"), [(40, "too few test sets"), (4, "too few systems")])
def test_a_rate_over_test_sets_without_an_interval_says_why(n_systems, note):
    cells = {"difference": -0.22, "n_systems": n_systems, "n_test_sets": 4, "n_pairs": 59}
    table = declared("calibration")
    row, known = (text.Row(table, cells | ends) for ends in ({}, {"difference_low": -0.5, "difference_high": 0.1}))
    assert str(row["difference"]) == f"−22 ({note})"
    assert str(row["difference"].alone) == "−22"
    assert str(known["difference"]) == "−22 [−50, +10]"
    assert not text.all_hold([row["difference"]], 0)


def test_a_run_without_most_numbers_is_called_small(tables):
    few = tables["reproduction"].copy()
    absent = few.index[3:]
    few.loc[absent, ["verdict", "why"]] = ["not comparable", text.NOT_IN_THIS_RUN]
    found = text.findings(tables | {"reproduction": few})
    assert f"**A small run: 3 of {len(few)} printed numbers have a counterpart in it.**" in found
    page = text.html_page(found)
    assert "<h1>Findings of a small run</h1>" in page
    assert "](" not in page
    assert not re.search(rf"{text.ABSENT}|\bnan\b|\bNone\b", found)
