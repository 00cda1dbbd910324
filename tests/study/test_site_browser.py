"""The pages in a real browser, opened from disk: they draw, hover and filter, fit, and ask nobody for anything."""

import numpy as np
import pytest

import pages
import pairsig
from pages import DATASET, rows
from study.site import own_data

PAGES = (
    "index.html",
    "paper.html",
    "explorer.html",
    "cells.html",
    "datasets.html",
    "figures.html",
    "docs/index.html",
    "docs/tutorial.html",
    f"datasets/{DATASET}.html",
    "datasets/hostile.html",
)
DRAWN = "document.querySelector('#chart canvas') && document.querySelector('#summary').textContent !== 'Loading …'"


@pytest.fixture
def visit(browser, folder):
    """Open a page of the site; what it asked for and complained of is looked at when the test is over."""
    asked, complaints, contexts = [], [], []

    def opened(name, width=1280, height=900, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((folder / "site" / name.partition("#")[0]).as_uri() + "".join(name.partition("#")[1:]))
        if name.startswith(("explorer", "cells")):
            page.wait_for_function(DRAWN)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in asked if not url.startswith(("file://", "data:"))] == []


MOST_COMPLEX = {"paper.html", "datasets/hostile.html"}


@pytest.mark.parametrize(
    ("name", "width"),
    [
        pytest.param(name, width, marks=[pytest.mark.slow] * (width == 1280 or name not in MOST_COMPLEX))
        for name in PAGES
        for width in (1280, 390)
    ],
)
def test_pages_fit_the_window(visit, name, width):
    page = visit(name, width, scheme="dark" if width == 390 else "light")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach((element) => { element.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def compared(folder, test_set="whole"):
    kind = "comparisons" if test_set == "whole" else "test_sets"
    table = rows(folder / f"results/{kind}/{DATASET}.bootstrap.parquet")
    return [row for row in table if row["test_set"] == test_set]


def dots(page):
    return page.evaluate("explore.view.data('dots').map((row) => [row.a, row.b, row.gain, row.p])")


def test_the_explorer_draws_every_pair(visit, folder):
    page = visit(f"explorer.html#{DATASET}")
    page.select_option("select[name=gains]", "all")
    page.wait_for_function(f"explore.view.data('dots').length === {len(compared(folder))}")
    assert sorted(tuple(dot[:2]) for dot in dots(page)) == sorted(
        (row["system_a"], row["system_b"]) for row in compared(folder)
    )
    colours = page.evaluate(
        """() => { const canvas = document.querySelector("#chart canvas");
                   const bytes = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
                   const found = new Set();
                   for (let i = 0; i < bytes.length; i += 4) if (bytes[i + 3] > 200) found.add(`${bytes[i]} ${bytes[i
                   + 1]} ${bytes[i + 2]}`); return found.size; }"""
    )
    assert colours > 20  # anti-aliased marks, axes and words
    assert f"{len(compared(folder)):,} of {len(compared(folder)):,} pairs" in page.inner_text("#summary")


def place(page, index):
    """Where on the screen a dot lies."""
    return page.evaluate(
        """(index) => { const row = explore.view.data("dots")[index];
                        const box = document.querySelector("#chart canvas").getBoundingClientRect();
                        const [left, top] = explore.view.origin();
                        const padding = explore.view.padding();
                        return [box.left + padding.left + left + explore.view.scale("x")(row.gain),
                                box.top + padding.top + top + explore.view.scale("y")(row.confidence)]; }""",
        index,
    )


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_hovering_tells_who_they_are(visit, folder, width):
    page = visit(f"explorer.html#{DATASET}", width)
    page.evaluate("document.querySelector('#chart').scrollIntoView({ block: 'center' })")
    shown = dots(page)
    # The pair that lies furthest from any other one, so that no other dot is on top of it.
    near = [at for at, dot in enumerate(shown) if 0.03 < dot[3] < 0.4]
    isolated = max(
        near,
        key=lambda at: min(
            abs(shown[at][2] - dot[2]) / 2 + abs(shown[at][3] - dot[3])
            for other, dot in enumerate(shown)
            if other != at
        ),
    )
    page.mouse.move(*place(page, isolated))
    page.wait_for_selector("#tooltip:not([hidden])")
    said = page.inner_text("#tooltip")
    row = next(row for row in compared(folder) if [row["system_a"], row["system_b"]] == shown[isolated][:2])
    for word in (
        row["system_a"], row["system_b"], f"{float(row['score_a']):.2f}", f"{float(row['score_b']):.2f}",
        f"{float(row['gain']):.2f}", f"{float(row['pvalue']):.3g}", f"{float(row['correlation']):.2f}",
    ):  # fmt: skip
        assert word in said


@pytest.mark.slow
def test_filters_leave_the_pairs_that_are_asked_for(visit, folder):
    page = visit(f"explorer.html#{DATASET}")
    page.select_option("select[name=gains]", "all")
    table = compared(folder)
    kinds = sorted({row["kind_a"] for row in table})
    cases = [
        ("group", "1", [row for row in table if row["same_group"] == "True"]),
        ("group", "0", [row for row in table if row["same_group"] == "False"]),
        (
            "kind",
            f"{kinds[0]} / {kinds[1]}",
            [row for row in table if {row["kind_a"], row["kind_b"]} == set(kinds[:2])],
        ),
    ]
    for name, value, expected in cases:
        page.select_option(f"select[name={name}]", value)
        page.wait_for_function(f"explore.view.data('dots').length === {len(expected)}")
        assert {tuple(dot[:2]) for dot in dots(page)} == {(row["system_a"], row["system_b"]) for row in expected}
        page.select_option(f"select[name={name}]", "")
    page.select_option("select[name=system]", label="GPT-4")
    own = [row for row in table if "GPT-4" in (row["system_a"], row["system_b"])]
    page.wait_for_function(f"explore.view.data('dots').length === {len(own)}")
    assert len(page.query_selector_all("#pairs tbody tr")) == len(own)


def test_names_that_are_code_are_shown_and_run_nothing(visit):
    page = visit("explorer.html#hostile")
    page.select_option("select[name=gains]", "all")
    page.wait_for_function("explore.view.data('dots').length === explore.shown.length")
    names = {name for dot in dots(page) for name in dot[:2]}
    assert names <= set(pages.HOSTILE)
    assert len(names) == len(pages.HOSTILE)
    listed = {cell.inner_text() for cell in page.query_selector_all("#pairs tbody td:not(.n)")}
    assert "<b>\"&'x</b>" in listed
    page.evaluate("document.querySelector('#chart').scrollIntoView({ block: 'center' })")
    page.mouse.move(*place(page, 0))
    page.wait_for_selector("#tooltip:not([hidden])")
    assert any(name in page.inner_text("#tooltip") for name in pages.HOSTILE)
    assert page.query_selector("#tooltip b") is None


@pytest.mark.slow
def test_calibrated_pairs_are_drawn_and_filtered(visit, folder):
    page = visit("cells.html")
    row = next(
        row
        for row in rows(folder / "results/tables/calibration.tsv")
        if (row["p_low"], row["p_high"]) == ("0.04", "0.06")
    )
    assert len(page.evaluate("explore.view.data('dots')")) == int(row["n_pairs"])
    page.select_option("select[name=replicated]", "1")
    page.wait_for_function(f"explore.view.data('dots').length === {row['n_replicated']}")
    assert f"{int(row['n_pairs']):,} pairs with p from 0.04 to 0.06" in page.inner_text("#summary")


def test_numbers_are_sorted_and_filtered_by_the_keyboard_alone(visit):
    page = visit("paper.html")
    page.focus("#paper-2012 thead th:nth-child(2) button")
    page.keyboard.press("Enter")
    values = [
        float(value)
        for value in page.evaluate(
            "[...document.querySelectorAll('#paper-2012 tbody tr')].map((row) => row.dataset.ours).filter(Boolean)"
        )
    ]
    assert values == sorted(values)
    page.keyboard.press("Enter")
    again = [
        float(value)
        for value in page.evaluate(
            "[...document.querySelectorAll('#paper-2012 tbody tr')].map((row) => row.dataset.ours).filter(Boolean)"
        )
    ]
    assert again == sorted(values, reverse=True)
    assert page.get_attribute("#paper-2012 thead th:nth-child(2)", "aria-sort") == "descending"
    page.focus("[name=text]")
    page.keyboard.type("brown")
    page.wait_for_timeout(100)
    shown = page.evaluate(
        "[...document.querySelectorAll('table.reproduction tbody tr:not([hidden])')].map((row) => row.textContent)"
    )
    assert shown
    assert all("brown" in text.lower() for text in shown)
    page.focus("table.reproduction tbody tr:not([hidden]) summary")
    page.keyboard.press("Enter")
    assert page.is_visible("table.reproduction details[open] dl")


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 500])
def test_names_of_own_systems_stay_whole_on_a_phone(browser, tmp_path, width):
    names = ("transformer_big_backtranslation", "Llama-3.1-405B-Instruct-Turbo")
    scores = {name: np.arange(60) % (place + 2) > 0 for place, name in enumerate(names)}
    (tmp_path / "own.html").write_text(own_data.page(pairsig.rank(scores, n_resamples=200)), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto((tmp_path / "own.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for table in ("table.ranks", "#pairs table"):
        for name in names:
            cell = page.locator(f"{table} tbody").get_by_text(name).first
            lines = cell.evaluate(
                """(cell) => { const range = document.createRange(); range.selectNodeContents(cell.firstChild);
                               return new Set([...range.getClientRects()].map((box) => box.top)).size; }"""
            )
            assert lines == 1, f"{table}: {name}"
    page.close()
