"""What is read from memory: frames of pandas and polars, logs of Inspect and lm_eval."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pairsig
from pairsig import Comparison, InputError, Statistics, compare, read
from pairsig.readers import inputs
from test_inputs import COLUMNS, long, scores

polars = pytest.importorskip("polars")
FRAMES = {"pandas": pd.DataFrame, "polars": polars.DataFrame}
TWO = ("old", "new")


@pytest.mark.parametrize("kind", FRAMES)
def test_long_form(kind):
    of = scores(200, TWO)
    result = compare(read(FRAMES[kind](long(of, cell=bool)), **COLUMNS))
    a, b = of.values()
    expected, interval = pairsig.exact_test(a, b, metric="mean"), pairsig.difference_interval(a, b, metric="mean")
    assert isinstance(result, Comparison)
    assert type(result.table) is FRAMES[kind]
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert result.gain == pytest.approx(expected.gain)
    assert result.difference == pytest.approx(expected.statistic)
    assert result.confidence_interval() == pytest.approx((interval.low, interval.high))
    narrow = pairsig.difference_interval(a, b, metric="mean", confidence_level=0.8)
    assert result.confidence_interval(0.8) == pytest.approx((narrow.low, narrow.high))
    assert result.n_resamples == 0
    assert "test:exact" in result.signature
    assert result.better == "new"
    assert f"new is better than old by {expected.gain:.2f}" in str(result)
    assert result.table["pvalue"].to_list() == [result.pvalue]
    assert result.table["system_a"].to_list() == ["old"]


def test_one_voice():
    """What is printed says that a system is better where a sentence for a paper would; a p of 0 is a bound."""
    same = [1, 0] * 20
    rows = {"question": range(40), "old": same, "new": [0, 1] * 2 + same[4:-1] + [1], "best": [1] * 40}
    printed = str(compare(read(pd.DataFrame(rows), systems=["old", "new", "best"], item="question")))
    old_new, old_best, new_best = printed.split("\n")[:3]
    assert old_new.startswith("old and new are not significantly different: new is ahead by 0.03 in score ")
    assert old_best.startswith("best is better than old by 0.50 in score (95 % CI ")
    # 2 of 2^20, times 3
    assert "exact permutation test, p = 1.91e-06 (5.72e-06 adjusted by Holm for 3 comparisons), n = 40)" in old_best
    assert old_best.endswith("Scores: old 0.50, best 1.00.")
    assert new_best.startswith("best is better than new")
    two = read(pd.DataFrame(rows).drop(columns="new"), systems=["old", "best"], item="question")
    drawn = compare(two, "bootstrap", alternative="observed", n_resamples=20)
    assert drawn.pvalue == 0
    assert drawn.table["pvalue_high"].item() == pytest.approx(1 - 0.025 ** (1 / 20))
    assert str(drawn).startswith("old and best are not significantly different: best is ahead by")
    assert "p < 0.169" in str(drawn)


def test_an_exact_p_that_no_float_holds_is_no_zero():
    n = 2000
    frame = pd.DataFrame({"question": range(n), "a": [1] * n, "b": [0] * n})
    assert "p < 1e-300, n = 2,000" in str(compare(read(frame, systems=["a", "b"], item="question")))


def test_the_interval_in_a_sentence_is_that_of_the_gain():
    """The second system is the better one, so that difference and gain have opposite signs."""
    data = {"bad": [1] * 4 + [0] * 8, "good": [1] * 11 + [0]}
    assert "good is better than bad by 0.58 in score" in str(pairsig.compare(data))
    assert "95 % CI 0.17 to 0.83" in str(pairsig.compare(data))
    low, high = pairsig.compare(data).table[["ci_low", "ci_high"]].to_numpy()[0]
    assert (round(low, 2), round(high, 2)) == (-0.83, -0.17)
    rng = np.random.default_rng(1)
    good, bad = rng.random((3, 50, 1)) < 0.8, rng.random((3, 50, 1)) < 0.4
    runs = pairsig.compare({"bad": bad, "good": good})
    assert "95 % CI 0.18 to 0.50" in str(runs)
    assert (runs.table["ci_high"] < 0).all()


def test_all_pairs_are_adjusted_together():
    of = scores(systems=("a", "b", "c", "d"))
    result = compare(read(pd.DataFrame(long(of)), **COLUMNS))
    with pytest.raises(
        InputError, match=r"found 6 pairs, expected one: each has its own pvalue, in the rows of \.table"
    ):
        _ = result.pvalue
    table = result.table
    p = table["pvalue"].to_numpy()
    order = np.argsort(p)
    before = 0.0
    for rank, place in enumerate(order):
        before = max(before, min(1.0, (6 - rank) * p[place]))
        assert table["pvalue_holm"][place] == pytest.approx(before)
    for row in table.itertuples():
        expected = pairsig.exact_test(of[row.system_a], of[row.system_b], metric="mean")
        assert row.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        assert (row.score_a, row.score_b) == pytest.approx((expected.score_a, expected.score_b))
        assert row.better == {"a": row.system_a, "b": row.system_b, None: ""}[expected.better]


def test_counts_documents_and_costs():
    rng = np.random.default_rng(3)
    gold = np.tile(rng.integers(3, 9, 12), 2)
    matched = rng.binomial(gold, 0.7)
    frame = polars.DataFrame(
        {
            "s": ["x"] * 12 + ["y"] * 12,
            "i": [f"q{k}" for k in range(12)] * 2,
            "d": [f"d{k // 3}" for k in range(12)] * 2,
            "matched": matched, "predicted": matched + 1, "gold": gold,
        }
    )  # fmt: skip
    result = compare(read(frame, system="s", item="i", document="d", metric="f1"), unit="document")
    counts = np.stack([matched, matched + 1, gold], axis=1)
    documents = [k // 3 for k in range(12)]
    expected = pairsig.exact_test(counts[:12], counts[12:], metric="f1", document=documents)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    cost = compare(read(frame, system="s", item="i", score="matched", lower_is_better=True))
    assert cost.better == ("x" if matched[:12].sum() < matched[12:].sum() else "y")
    assert any("4 documents, which were not used" in note for note in compare(
        read(frame, system="s", item="i", document="d", metric="f1")
    ).notes)  # fmt: skip


def test_runs_test_the_method():
    rng = np.random.default_rng(4)
    passed = rng.random((2, 3, 100)) < np.array([0.5, 0.6])[:, None, None]
    rows = [
        (name, run, item, bool(passed[s, run, item]))
        for s, name in enumerate("ab") for run in range(3) for item in range(100)
    ]  # fmt: skip
    frame = polars.DataFrame(rows, schema=["m", "epoch", "q", "ok"], orient="row")
    data = read(frame, system="m", item="q", score="ok", run="epoch")
    for design in ("crossed", "nested"):
        result = compare(data, design=design)
        given = Statistics.from_arrays(
            {name: passed[s][..., None].astype(int) for s, name in enumerate("ab")}, ["value"]
        )
        (expected,) = pairsig.compare_runs(given, metric="mean", design=design).table.itertuples()
        assert result.pvalue == pytest.approx(expected.pvalue_method)
        assert result.table["test"].to_list() == ["method"]
        low, high = result.confidence_interval()
        sign = 1 if expected.better == "a" else -1
        assert sorted([sign * low, sign * high]) == pytest.approx([expected.ci_low, expected.ci_high])
    with pytest.raises(InputError, match=r"found test='exact' for systems with several runs.*compare_runs"):
        compare(data, "exact")
    with pytest.raises(InputError, match="found alternative='observed' for systems with several runs"):
        compare(data, alternative="observed")


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [
        (slice(None), {"score": "corect"}, "found no column 'corect' for score, .*; did you mean correct"),
        (slice(11), {}, r"new has no score .* 1 of 6 items, .* \(5\)"),
        (slice(6), {}, "found one system, old, expected at least two"),
        (slice(None), {"score": None, "metric": "f1"}, "matched"),
    ],
)
def test_what_cannot_be_compared(rows, columns, expected):
    cells = {name: values[rows] for name, values in long(scores(6, TWO), cell=bool).items()}
    with pytest.raises(InputError, match=expected):
        compare(read(polars.DataFrame(cells), **COLUMNS | columns))


def test_equal_systems_and_names_that_are_markup():
    of = {"<script>alert(1)</script>": [1, 0, 1], "b": [1, 0, 1]}
    result = compare(read(pd.DataFrame(long(of)), **COLUMNS))
    assert result.better is None
    assert "have the same correct" in str(result)
    assert "<script>" not in result._repr_html_()


LOGS = Path(__file__).parents[1] / "data/evaluation_logs"


class EvalLog:
    """What is asked of a log of Inspect."""

    def __init__(self, content):
        self.eval, self._content = content["eval"], content

    def model_dump_json(self):
        return json.dumps(self._content)


def test_logs_of_inspect(tmp_path):
    """As the files are."""
    weak = json.loads(gzip.decompress((LOGS / "inspect/weak.json.gz").read_bytes()))
    other = json.loads(json.dumps(weak).replace(weak["eval"]["model"], "other/model"))
    for sample in other["samples"][::2]:
        for score in sample["scores"].values():
            if score["value"] in ("I", 0):
                score["value"] = "C"
    with pytest.raises(InputError, match=r"^log-2: the header reports 0.416667 for exact, the samples have the mean"):
        read([EvalLog(weak), EvalLog(other)], metric="exact")
    del other["results"]
    result = compare(read([EvalLog(weak), EvalLog(other)], metric="exact"))
    for name, log in (("weak", weak), ("other", other)):
        (tmp_path / f"{name}.json").write_text(json.dumps(log))
    files = [str(tmp_path / f"{name}.json") for name in ("weak", "other")]
    (systems,) = inputs.read_files(files, "inspect", metrics=["exact"])
    np.testing.assert_array_equal(result.statistics.counts, systems.counts)
    (expected,) = pairsig.compare_runs(systems, design="nested").table.itertuples()
    assert result.table["system_b"].tolist() == ["other/model"]
    assert result.pvalue == pytest.approx(expected.pvalue_method)
    del weak["samples"][5]["scores"]["brevity"], weak["results"]
    with pytest.raises(InputError, match=r"^log-1: .* has no score in brevity for 1 of 12 items"):
        read([EvalLog(weak), EvalLog(other)], metric="brevity")
    with pytest.raises(
        InputError,
        match=r"found the metrics exact, brevity, .*, which do not have the same items",
    ):
        compare(read([EvalLog(weak), EvalLog(other)], missing="drop"))


def test_results_of_lm_eval():
    logs = []
    for name in "ab":
        (results,) = (LOGS / "lm_eval" / name).glob("*/results_*.json")
        samples = {
            path.name.split("_2026")[0].removeprefix("samples_"): [
                json.loads(line) for line in path.read_text().splitlines()
            ]
            for path in results.parent.glob("samples_*.jsonl")
        }
        logs.append({**json.loads(results.read_text()), "samples": samples})
    result = compare(read(logs, metric="sums/acc"))
    folders = [str(LOGS / "lm_eval" / name) for name in "ab"]
    (systems,) = inputs.read_files(folders, "lm_eval", metrics=["sums/acc"])
    # Models without a name in their arguments are named after the place of their logs.
    assert result.statistics.systems == ("dummy (log-1)", "dummy (log-2)")
    assert systems.systems == ("dummy (a)", "dummy (b)")
    np.testing.assert_array_equal(result.statistics.counts, systems.counts)
    with pytest.raises(InputError, match=r"have no samples: call lm_eval.simple_evaluate with log_samples=True"):
        read([{"results": {}}, {"results": {}}])
    with pytest.raises(InputError, match=r"found a builtins\.int, expected files"):
        read([1, 2])
    with pytest.raises(InputError, match=r"^found the metrics sums_small/acc, .* expected one"):
        read(logs)
