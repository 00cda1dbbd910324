"""What every result offers: text, HTML, rows, JSON, a figure."""

import functools
import inspect
import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import pairsig
from pairsig.io.errors import InputError
from pairsig.io.tables import SCHEMA

OLD, NEW = [1] * 4 + [0] * 8, [1] * 11 + [0]
TWO = {"old": OLD, "new": NEW}
RUNS = {name: np.array([own, own[::-1], own])[..., None] for name, own in TWO.items()}

RESULTS = {
    "compare": lambda: pairsig.compare(TWO),
    "compare, runs": lambda: pairsig.compare(RUNS),
    "rank": lambda: pairsig.rank(TWO | {"x<b>": [0, 1] * 6}, n_resamples=200),
    "compare_runs": lambda: pairsig.compare_runs(RUNS),
    "plan": lambda: pairsig.plan(TWO, gain=0.5),
    "gate": lambda: pairsig.gate(TWO, "5%"),
    "exact_test": lambda: pairsig.exact_test(OLD, NEW),
    "randomization_test": lambda: pairsig.randomization_test(OLD, NEW, n_resamples=200),
    "bootstrap_test": lambda: pairsig.bootstrap_test(OLD, NEW, n_resamples=200),
    "margin_test": lambda: pairsig.margin_test(OLD, NEW, 0.9),
    "difference_interval": lambda: pairsig.difference_interval(OLD, NEW),
}


@functools.cache
def result_of(name):
    return RESULTS[name]()


def test_every_kind_of_result_is_here():
    """Public classes with `to_frame` are results, and those of the functions above are all of them."""
    public = {value for value in (getattr(pairsig, name) for name in pairsig.__all__) if hasattr(value, "to_frame")}
    assert {type(result_of(name)) for name in RESULTS} == public


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_shows_itself(name):
    result = result_of(name)
    assert len(repr(result)) > 20
    assert "0x" not in repr(result)
    html = result._repr_html_()
    assert html.startswith("<")
    assert "x<b>" not in html
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    found = json.loads(result.to_json())
    assert found == json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert found["schema_version"] == SCHEMA
    rows = found["rows"]
    assert [list(row) for row in rows] == [list(frame)] * len(frame)
    if name.startswith("compare,") or name == "compare":
        pytest.importorskip("matplotlib")
        assert len(result.plot().axes) > 0


def test_a_figure_is_a_file_or_shown_in_a_notebook(tmp_path):
    pytest.importorskip("matplotlib")
    figure = pairsig.compare(TWO).plot(tmp_path / "result.svg")
    assert "<svg" in figure._repr_svg_()  # what notebooks show without pyplot
    assert (tmp_path / "result.svg").stat().st_size > 1000


def test_the_rows_are_the_numbers():
    result = pairsig.exact_test(OLD, NEW)
    (row,) = result.to_dict()["rows"]
    assert (row["pvalue"], row["better"]) == (2 / 2**7, "b")
    assert result.to_frame()["pvalue"].item() == 2 / 2**7


def test_every_function_has_the_same_default_seed():
    functions = filter(inspect.isfunction, (getattr(pairsig, name) for name in pairsig.__all__))
    parameters = [inspect.signature(function).parameters for function in functions]
    seeds = [of_function["rng"].default for of_function in parameters if "rng" in of_function]
    assert len(seeds) >= 5
    assert set(seeds) == {2012}


def test_one_sided_comparisons_of_two_systems():
    """The sign test of seven differences that all favour the new system."""
    assert pairsig.compare(TWO, alternative="less").pvalue == pytest.approx(binom.sf(6, 7, 0.5))
    greater = pairsig.compare(TWO, alternative="greater")
    assert greater.pvalue == 1
    assert str(greater).startswith("The score of old is not significantly greater than that of new")
    drawn = pairsig.compare(TWO, "bootstrap", alternative="less", n_resamples=999, rng=3)
    assert drawn.pvalue == pairsig.bootstrap_test(OLD, NEW, alternative="less", n_resamples=999, rng=3).pvalue


def test_one_sided_comparisons_with_a_baseline():
    systems = TWO | {"third": [1, 0] * 6}
    table = pairsig.compare(systems, alternative="greater", baseline="old").table
    assert table["pvalue"].tolist() == [
        pairsig.exact_test(systems[name], OLD, alternative="greater").pvalue for name in ("new", "third")
    ]
    with pytest.raises(InputError, match="two systems, or a baseline"):
        pairsig.compare(systems, pairs="all", alternative="greater")


def test_plan_asks_for_everything_at_once():
    with pytest.raises(InputError, match=r"needs --metric, and --gain.*, and --score.*, and --length"):
        pairsig.plan()
    with pytest.raises(InputError, match=r"needs --score, .* and --length, the mean length .* reference words"):
        pairsig.plan(metric="bleu", gain=1)
    with pytest.raises(InputError, match=r"needs --score, the mean score of both systems; or"):
        pairsig.plan(metric="accuracy", gain=1)


def test_plan_has_a_cautious_default_for_accuracy():
    """The lowest correlation of the leaderboards needs the most segments."""
    default, least, most = (
        pairsig.plan(metric="accuracy", score=60, gain=2, correlation=rho).table["n_segments"].item()
        for rho in (None, 0.31, 0.65)
    )
    assert default == least > most
    assert "no --correlation, so 0.31 is assumed" in str(pairsig.plan(metric="accuracy", score=60, gain=2))


def test_plan_for_f1_uses_the_model_of_brackets_and_says_so():
    f1, brackets = (pairsig.plan(metric=name, score=80, length=10, gain=1) for name in ("f1", "parseval"))
    assert f1.table["n_segments"].item() == brackets.table["n_segments"].item()
    assert any("stands for f1" in note for note in f1.notes)
    assert not any("stands for" in note for note in brackets.notes)


def test_plan_from_a_pilot_is_that_of_the_standard_error():
    """A gain at (z(0.975) + z(0.8)) standard errors, for many segments: Student's distribution is nearly normal."""
    a, b = np.random.default_rng(1).normal(size=(2, 4000))
    n = pairsig.plan({"a": a, "b": b}, gain=0.05).table["n_segments"].item()
    assert n == pytest.approx(((1.959964 + 0.841621) * np.std(a - b, ddof=1) / 0.05) ** 2, rel=0.002)


def test_gate_takes_arrays():
    scores = [1, 0] * 200
    result = pairsig.gate({"old": scores, "new": scores}, "2%")
    assert (result.verdict, result.status) == ("passed", 0)
    assert pairsig.gate({"old": NEW * 9, "new": OLD * 9}, 0.02).verdict == "worse"


def test_twelve_pairs_are_shown_as_sentences():
    systems = {name: [*range(8, 8 - place, -1), *[0] * 8] for place, name in enumerate("abcdef", start=1)}
    result = pairsig.compare({name: values[:8] for name, values in systems.items()}, pairs="all")
    assert len(result.table) == 15
    lines = str(result).splitlines()
    assert lines[12] == "and 3 more pairs"
    assert sum(" and " in line or " than " in line for line in lines[:12]) == 12
