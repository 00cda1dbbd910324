"""The findings, and the numbers on other pages, are what the reference tables say.

What a template renders is compared with cells that are read here without the project's code.
"""

import csv
import re
from pathlib import Path

import pytest
from jinja2 import DictLoader, UndefinedError

from pairsig.io.errors import InputError
from study import analysis, cli
from study.site import text

ROOT = Path(__file__).parents[2]
REFERENCE = sorted((ROOT / "results/reference").glob("*.tsv"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FINDINGS = ROOT / "results/README.md"

NUMBER = r"[−+]?\d[\d,]*(?:\.\d+)?"
INTERVAL = re.compile(rf"{NUMBER}(?:\s?%|\s[A-Za-z0-9]+)?(?:\*\*)?\s*\[{NUMBER},\s+{NUMBER}\]")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)

OF_COMMANDS = {"1.26 [0.98, 1.62]", "6,240 [3,789, 10,281]", "7,039 [2,444, 20,282]"}
"""Intervals that `pairsig plan` prints; tests/pairsig/test_planning.py and tests/docs/test_docs.py check them."""


@pytest.fixture(scope="module")
def tables():
    return {path.stem: analysis.read(path) for path in REFERENCE}


def cells(table, **wanted):
    """The rows of a reference table with these cells, as text."""
    with (ROOT / f"results/reference/{table}.tsv").open(encoding="utf-8", newline="") as lines:
        found = list(csv.DictReader(lines, delimiter="\t"))
    return [row for row in found if all(row[name] == cell for name, cell in wanted.items())]


def in_percent(row, name):
    value, low, high = (f"{100 * float(row[f'{name}{end}']):.0f}" for end in ("", "_low", "_high"))
    return f"{value} % [{low}, {high}]"


# ------------------------------------------------------------------------------------------- the committed pages


def test_the_committed_findings_are_rendered_from_the_reference_and_nothing_is_left_out(tables):
    found = text.findings(tables, "reference")
    assert "**Not in this run**" not in found
    assert found == FINDINGS.read_text(encoding="utf-8"), "type make findings; edit src/study/site/templates"


@pytest.fixture(scope="module")
def filled(tables):
    """All pages, filled in as one, because the numbers are looked up once for each."""
    between = "\n\0\n"
    pages = [page.read_text(encoding="utf-8") for page in PAGES]
    return dict(zip(PAGES, text.filled(between.join(pages), tables).split(between), strict=True))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_numbers_on_a_page_are_rendered_from_the_reference(page, filled):
    written = page.read_text(encoding="utf-8")
    assert filled[page] == written, "type make findings; edit src/study/site/templates/fragments.md"
    assert not re.search(r"^<!-- [a-z0-9_]+ -->.", written, re.MULTILINE), "the rest of this line would be HTML"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_interval_is_written_by_hand(page):
    written = re.sub(r"<!-- ([a-z0-9_]+) -->.*?<!-- /\1 -->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert {found[0] for found in INTERVAL.finditer(FENCED.sub("", written))} <= OF_COMMANDS


def test_every_fragment_is_on_a_page():
    macros = (ROOT / "src/study/site/templates/fragments.md").read_text(encoding="utf-8")
    used = {name for page in PAGES for name in re.findall(r"<!-- /([a-z0-9_]+) -->", page.read_text(encoding="utf-8"))}
    assert set(re.findall(r"\{% macro (\w+)\(\)", macros)) == used


def test_findings_are_cells_of_the_tables():
    written = " ".join(FINDINGS.read_text(encoding="utf-8").split())
    near = {"p_low": "0.04", "p_high": "0.06"}
    for calibration, distance in (("constituency", "far"), ("translation", "near"), ("benchmarks", "near")):
        (row,) = cells("calibration", calibration=calibration, distance=distance, **near)
        low, high, change = (round(100 * float(row[f"difference{end}"])) for end in ("_low", "_high", ""))
        change, low, high = (f"{points:+d}".replace("-", "−") for points in (change, low, high))
        expected = f"{100 * float(row['expected']):.0f} %"
        pairs = f"{int(row['n_pairs']):,}"
        assert f"| {pairs} | {in_percent(row, 'share')} | {expected} | {change} [{low}, {high}] |" in written
    (row,) = cells("training_variance", dataset="icepahc-modern", n_segments="19759")
    least, most = (f"{100 * float(row[name]):.0f}" for name in ("least_of_methods", "most_of_methods"))
    by_method = in_percent(row, "share_significant_by_method")
    low, high = (f"{100 * float(row[f'over_methods_{end}']):.0f}" for end in ("low", "high"))
    shown = f"| {in_percent(row, 'share_significant')} | {low} to {high} % | {least} to {most} % | {by_method} |"
    assert shown in written
    (row,) = cells("heterogeneity", family="wmt-domains")
    size, low, high = (f"{float(row[f'effective_sample_size{end}']):.0f}" for end in ("", "_low", "_high"))
    assert f"no better than {size} [{low}, {high}] segments" in written
    (row,) = [row for row in cells("claims", claim="t-test") if row["measured"].startswith("share")][:1]
    value, low, high = (f"{100 * float(row[name]):.2f}" for name in ("value", "low", "high"))
    assert f"or {value} % [{low}, {high}] of all {int(row['n']):,} pairs." in written


def test_the_verdicts_counts_each_verdict_by_paper():
    written = FINDINGS.read_text(encoding="utf-8")
    counts = {True: [], False: []}
    for exact in counts:
        own = [row for row in cells("reproduction") if row["item"].startswith("exact-") == exact]
        verdicts = [row["verdict"] for row in own]
        counts[exact] = [verdicts.count(name) for name in ("agrees", "better", "differs", "not comparable", "too few")]
        assert sum(counts[exact]) == len(own)  # all of them are part of this run
    assert f"Burkett and Klein | {' | '.join(map(str, counts[False]))} | 0 |" in written
    assert f"Vieira and Cotterell | {' | '.join(map(str, counts[True]))} | 0 |" in written


# ----------------------------------------------------------------------------------------------------- other runs


def test_a_run_without_some_rows_leaves_their_paragraphs_out_and_says_so(tables):
    few = {name: tables[name] for name in ("systems", "thresholds", "reproduction", "claims")}
    few["systems"] = few["systems"][few["systems"]["dataset"].isin(["wmt21-de-en", "hansards"])]
    few["claims"] = few["claims"][few["claims"]["claim"] != "t-test"]
    found = text.findings(few)
    top = found.partition("\n## ")[0]
    assert "a run of 2 datasets (machine translation 1, word alignment 1)" in top
    assert "too small for a verdict on every claim" in top
    assert "“New: is it the method or the training run?”" in top
    assert "**Not in this run**" in top
    assert "make reproduce" in top
    assert "another domain of the WMT" not in found
    assert "Student's t" not in found  # a row of a table, which the line below lists
    below = found.partition("## The 2012 paper")[2].partition("\n\n*Not part of this run*: ")[2]
    missing = " ".join(below.partition("\n\n")[0].split())
    assert "The curve is that of the normal distribution (2); " in missing
    assert "Similar systems need smaller gains" not in missing
    assert missing.endswith(". Type `make reproduce`.")
    assert "Similar systems need smaller gains (3.1)" in found
    assert "## New: is it" not in found  # a heading without text
    assert "](tables/claims.tsv)" in found
    assert "](reference/" not in found
    assert not re.search(rf"[{text.ABSENT}{text.LEFT_OUT}]|\bnan\b|\bNone\b", found)


def test_a_run_of_nothing_has_findings_too():
    found = text.findings({})
    assert "a run of 0 datasets" in found
    assert not INTERVAL.search(found)


def test_a_number_that_needs_other_data_is_not_in_this_run(tables):
    changed = tables["reproduction"].copy()
    at = changed.index[changed["item"] == "calibration-iid"][0]
    changed.loc[at, ["ours", "low", "high"]] = float("nan")
    changed.loc[at, ["verdict", "why"]] = ["not comparable", "this run did not compute our number"]
    assert "Klein | 25 | 0 | 10 | 3 | 0 | 0 |" in FINDINGS.read_text(encoding="utf-8")
    assert "Klein | 24 | 0 | 10 | 3 | 0 | 1 |" in text.findings(tables | {"reproduction": changed})


def test_too_few_pairs_or_systems_get_no_verdict(tables):
    near = (tables["calibration"]["p_low"] == 0.04) & (tables["calibration"]["p_high"] == 0.06)
    for changed in ({"n_pairs": 9}, {"n_systems": 5}):
        few = tables["calibration"].copy()
        few.loc[near, list(changed)] = list(changed.values())
        found = text.findings(tables | {"calibration": few})
        assert "Most claims of the 2012 paper reproduce" not in found
        assert "as often as expected" not in found
    claims = tables["claims"].copy()
    claims.loc[claims["claim"] == "t-test", "n"] = 9
    reproduction = tables["reproduction"].copy()
    at = reproduction["item"] == "calibration-iid"
    reproduction.loc[at, ["verdict", "why"]] = ["too few", "number of our systems in the range: 5"]
    found = text.findings(tables | {"claims": claims, "reproduction": reproduction})
    assert re.search(r"normal distribution \(2\)\..*\| too few pairs: 9 \|\n", found)
    assert re.search(r"in 92 % \(4\.2\)\..*\| too few systems in the range: 5 \|\n", found)


def test_a_conclusion_that_the_numbers_do_not_support_is_left_out(tables):
    claims = tables["claims"].copy()
    claims.loc[(claims["claim"] == "t-test") & claims["measured"].str.contains("disagree"), "high"] = 0.02
    found = text.findings(tables | {"claims": claims})
    assert "Most claims of the 2012 paper reproduce" not in found
    assert re.search(r"normal distribution \(2\)\..*\| differs \|", found)
    better = tables["training_variance"].assign(share_significant_by_method_low=0.06)
    assert "is about these two outputs" not in text.findings(tables | {"training_variance": better})


# -------------------------------------------------------------------------------------------------------- mistakes


@pytest.fixture
def rendered(tables, monkeypatch):
    """Fill in one fragment with this template."""

    def render(template):
        loader = DictLoader({"fragments.md": f"{{% macro x() %}}{template}{{% endmacro %}}"})
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


def test_a_misspelt_name_in_a_template_is_an_error(rendered):
    with pytest.raises(UndefinedError):
        rendered("{{ near.share }}")


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
    table = text.declared()["calibration"]
    row, known = (text.Row(table, cells | ends) for ends in ({}, {"difference_low": -0.5, "difference_high": 0.1}))
    assert str(row["difference"]) == f"−22 ({note})"
    assert str(row["difference"].alone) == "−22"
    assert str(known["difference"]) == "−22 [−50, +10]"
    assert not text.all_hold([row["difference"]], 0)


def test_what_is_not_known_supports_no_conclusion():
    assert not text.Number().holds(0)
    assert not text.Number(1.0).holds(1)
    assert not text.all_hold([], 0)
    assert text.all_hold([text.Number(1, 0, 2), text.Number(2, 1, 3)], 1)
    assert not text.all_hold([text.Number(1, 0, 2), text.Number(2, 1.5, 3)], 1)
    assert str(text.least([])) == str(text.most([])) == text.ABSENT


def test_markdown_becomes_html_with_the_links_of_the_site():
    page, headings = text.html(
        "## A b?\n\n[x](../docs/x.md) [y](tables/y.tsv) ![z](figures/z.png) ![w](figures/w.png) <i>\n\n"
        "| a |\n|---|\n| 1 |\n",
        lambda target: {"tables/y.tsv": "y.csv", "figures/z.png": "z.svg"}.get(target, ""),
    )
    assert headings == [("a-b", "A b?")]
    assert '<h2 id="a-b">A b?</h2>' in page
    assert '<p>x <a href="y.csv">y</a> <img src="z.svg" alt="z" />  &lt;i&gt;</p>' in page
    assert 'role="region"' in page


# ----------------------------------------------------------------------------------------------------- the command


def test_the_command_writes_the_findings_and_fills_in_pages(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("p < 0.05 in <!-- one_method --><!-- /one_method --> of pairs\n", encoding="utf-8")
    words = ["findings", *REFERENCE, "--output", tmp_path / "README.md", "--fill", page]
    assert cli.main([str(word) for word in words]) == 0
    assert (tmp_path / "README.md").read_bytes() == FINDINGS.read_bytes()
    assert page.read_text(encoding="utf-8") == "p < 0.05 in <!-- one_method -->3 to 52 %<!-- /one_method --> of pairs\n"
    page.write_text("<!-- nonsense --><!-- /nonsense -->\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("old", encoding="utf-8")
    assert cli.main([str(word) for word in words]) == 2
    assert "found the fragment nonsense" in capsys.readouterr().err
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "old"
