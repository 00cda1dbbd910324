"""`pairsig compare`: files in, one table out, on every reader; adjusted p-values against their definitions."""

import json
import math
import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control

import pairsig
import simulate
from against import compare_with_one
from pairsig import InputError, Statistics, cli
from pairsig.comparisons import baseline
from pairsig.core import definitions, engine
from pairsig.io.tables import as_json
from pairsig.metrics import registry
from pairsig.readers import inputs
from pairsig.stats import kernels
from running import ROOT

SIGF_A = "2 2 2\n2 2 2\n0 1 2\n"
SIGF_B = "0 2 2\n1 2 2\n0 1 2\n"

TWO = ("exact", "randomization")
THREE = ("exact", "randomization", "bootstrap")


@pytest.fixture
def sigf(file):
    return [file("model1", SIGF_A), file("model2", SIGF_B)]


def compared(data, metrics, *arguments, **options):
    """The table of a comparison by these metrics, without its messages."""
    chosen = [registry.metric(name) for name in metrics.split()]
    return compare_with_one(data, chosen, *arguments, **options)[0]


def by_test(rows):
    return {(row["metric"], row["test"]): row for row in rows if row["method"] != "studentized"}


def test_sigfs_readme_example(sigf, rows):
    row = by_test(rows(*sigf, "--reader", "sigf", "--n-resamples", "10000"))["f1", "exact"]
    assert row["score_a"] == pytest.approx(72.72727272727272)
    assert row["score_b"] == pytest.approx(18.181818181818183)
    assert row["difference"] == pytest.approx(54.54545454545454)
    assert row["ci_low"] < 0 < row["difference"] < row["ci_high"]
    assert row["pvalue"] == pytest.approx(0.5, abs=1e-12)
    assert (row["n_segments"], row["n_different"], row["n_resamples"]) == (3, 2, None)


def test_every_number_is_in_the_json(sigf, rows):
    argv = [*sigf, "--reader", "sigf", "--n-resamples", "500"]
    metrics = ("f1", "precision", "recall")  # every segment has as many predicted as gold
    assert set(by_test(rows(*argv))) == {(metric, "exact") for metric in metrics}
    found = by_test(rows(*argv, "--all-tests"))
    assert set(found) == {(metric, test) for metric in metrics for test in definitions.names()}
    for row in found.values():
        assert (set(row), row["n_compared"]) == (set(baseline.COLUMNS), 3)
    a, b = (np.array([line.split() for line in text.splitlines()], dtype=int) for text in (SIGF_A, SIGF_B))
    alone = pairsig.randomization_test(a, b, metric="f1", n_resamples=500)
    mine = found["f1", "randomization"]
    assert (mine["pvalue"], mine["n_greater"], mine["n_equal"]) == (alone.pvalue, alone.n_greater, alone.n_equal)


def test_every_test_with_those_methods_that_it_has():
    data = simulate.statistics("accuracy", n_systems=2, n_segments=80, spread=0.3)
    how = {"methods": ["percentile", "shifted"], "alternatives": ["observed"], "n_resamples": 500}
    table = compared(data, "accuracy", THREE, **how)
    assert table[["test", "method", "alternative"]].to_numpy().tolist() == [
        ["exact", "", "observed"],
        ["randomization", "", "observed"],
        ["bootstrap", "percentile", "observed"],
        ["bootstrap", "shifted", "observed"],
    ]
    a, b = data.counts
    drawn = {"metric": "accuracy", "n_resamples": 500}
    assert table["pvalue"].tolist() == [
        pytest.approx(pairsig.exact_test(a, b, metric="accuracy", alternative="observed").pvalue, rel=1e-9),
        pairsig.randomization_test(a, b, alternative="observed", **drawn).pvalue,
        pairsig.bootstrap_test(a, b, method="percentile", alternative="observed", **drawn).pvalue,
        pairsig.bootstrap_test(a, b, alternative="observed", **drawn).pvalue,
    ]
    assert [len(notes) for notes in table["notes"]] == [1, 1, 1, 1]
    default = compared(data, "accuracy", n_resamples=500)
    assert default[["test", "alternative"]].to_numpy().tolist() == [["exact", "two-sided"]]
    assert [len(notes) for notes in default["notes"]] == [0]
    directed = compared(data, "accuracy", ["exact"], alternatives=["greater", "less"])
    assert directed["pvalue"].tolist() == [
        pytest.approx(pairsig.exact_test(a, b, metric="accuracy", alternative=alternative).pvalue, rel=1e-9)
        for alternative in ("greater", "less")
    ]


def winning(ahead, n=30):
    """Two systems on n segments: A alone is right on `ahead` of them."""
    counts = np.stack([simulate.items(ahead, 0, n), np.ones((2, n), dtype=int)], axis=2)
    return Statistics.from_arrays({"first": counts[0], "second": counts[1]}, ("correct", "total"))


@pytest.mark.parametrize(
    ("ahead", "p", "word", "form"),
    [(2, 0.5, "no", "markdown"), (5, 0.0625, "undecided", "table"), (12, 2**-11, "yes", "latex")],
)
def test_the_decision_is_in_the_table(ahead, p, word, form):
    table = compared(winning(ahead), "accuracy", TWO, stop_at=(0.05, 0.99), n_resamples=400)
    exact, randomization = table.to_dict("records")
    assert (exact["pvalue"], exact["significant"]) == (p, p < 0.05)
    assert randomization["pvalue_low"] <= p <= randomization["pvalue_high"]
    shown = [line for line in baseline.render(table, form).splitlines() if "randomization" in line]
    cells = [cell.strip(" \\") for cell in re.split(r"[&|]|  +", shown[0]) if cell.strip(" \\")]
    assert cells[-1] == word
    assert cells[-2] == baseline.shown_p(randomization)


def test_the_decision_is_in_the_json():
    options = {"alternatives": ["observed"], "stop_at": (0.05, 0.99), "n_resamples": 400}
    table = compared(winning(5), "accuracy", THREE, **options)
    exact, randomization, bootstrap = json.loads(as_json(table))["rows"]
    assert (exact["significant"], randomization["significant"], bootstrap["significant"]) == (True, None, True)
    assert {(row["alpha"], row["confidence_level"]) for row in (exact, randomization, bootstrap)} == {(0.05, 0.99)}
    plain = compared(winning(5), "accuracy", n_resamples=400)
    for row in json.loads(as_json(plain))["rows"]:
        assert (row["alpha"], row["confidence_level"], row["significant"]) == (None, None, None)
    assert "p < 0.05" not in baseline.render(plain, "table").splitlines()[0]


def test_adjusted_p_values_of_0_are_bounds_too():
    a, b = winning(12).counts
    data = Statistics.from_arrays({"base": a, "one": b, "two": b.copy()}, ("correct", "total"))
    table = compared(data, "accuracy", ["bootstrap"], alternatives=["observed"], n_resamples=400)
    assert set(table["pvalue_holm"]) == {0.0}
    bound = 2 * (1 - 0.025 ** (1 / 400))
    for line in baseline.render(table, "table").splitlines()[2:4]:
        p, holm = map(float, re.findall(r"< ([\de.-]+)", line))
        assert bound <= holm < 1.01 * bound
        assert p == pytest.approx(bound / 2, rel=0.01)


def test_stopping_saves_the_drawing(monkeypatch):
    """All that is drawn is what the tests stop at: the interval draws nothing, so 10¹⁰ resamples cost nothing."""
    drawn = []
    original = engine.for_each_batch

    def counted(take, test, product, resampling, resamples, *rest, **options):
        drawn.append(len(resamples))
        return original(take, test, product, resampling, resamples, *rest, **options)

    monkeypatch.setattr(engine, "for_each_batch", counted)
    data = winning(12)
    table = compared(data, "accuracy", TWO, stop_at=(0.05, 0.99), n_resamples=10**10)
    assert sum(drawn) == table["n_resamples"].sum() < 1000
    alone = pairsig.sequential_test(*data.counts, metric="accuracy", test="randomization", max_resamples=10**10)
    row = table.set_index("test").loc["randomization"]
    assert (row["pvalue"], row["pvalue_high"]) == (alone.pvalue, alone.pvalue_high)


def test_the_interval_is_that_of_the_difference_and_says_where_it_is_in_doubt():
    data = simulate.statistics("f1", n_systems=2, n_segments=60, seed=2)
    few = data.counts.copy()
    few[1, 4:] = few[0, 4:]
    for counts, doubts in ((data.counts, 0), (few, 1)):
        alone = pairsig.difference_interval(counts[0], counts[1], metric="f1")
        (score_a, score_b) = (registry.metric("f1").score(own.sum(axis=0)) for own in counts)
        table = compared(replace(data, counts=counts), "f1", TWO, n_resamples=200)
        assert set(zip(table["ci_low"], table["ci_high"], strict=True)) == {(alone.low, alone.high)}
        np.testing.assert_allclose(table["difference"], score_a - score_b)
        assert [alone.doubt in notes for notes in table["notes"]] == [bool(doubts)] * 2
        assert baseline.render(table, "markdown").count("too few (below 10)") == doubts
        assert baseline.render(table, "latex").count("\n% the systems differ") == doubts


@pytest.mark.parametrize("ahead", [1, 5, 6])
def test_the_table_never_shows_an_interval_that_contradicts_p(ahead):
    """Of `ahead` wins in `ahead`, the sign test gives 2^(1 - ahead): 0.0625 for five, 0.031 for six."""
    table = compared(winning(ahead), "accuracy")
    (row,) = table.to_dict("records")
    low, high = map(float, re.findall(r"\[(-?[\de.-]+), (-?[\de.-]+)\]", baseline.render(table, "table"))[0])
    assert row["pvalue"] == 2 ** (1 - ahead)
    assert (low > 0) == (row["ci_low"] > 0) == (row["pvalue"] < 0.05)
    assert low <= row["difference"] < high or row["pvalue"] >= 0.05


def test_two_notes_are_shown_and_the_others_counted():
    notes = ["first", "second", "third", "fourth"]
    assert baseline.most_important(notes) == ["first", "second", "2 more notes: --details"]
    assert baseline.most_important(notes[:3])[-1] == "1 more note: --details"
    assert baseline.most_important(notes[:2]) == ["first", "second"]
    table = three_rows(notes=[notes] * 3)
    assert baseline.footnotes(table) == notes


def test_a_lower_better_score_has_an_arrow_and_both_systems_are_headings(monkeypatch, capsys):
    monkeypatch.chdir(ROOT / "config/example")
    files = ["tuned.txt", "baseline.txt", "--reference", "reference.txt"]
    assert cli.main(["compare", *files, "--metric", "ter,bleu", "--n-resamples", "200"]) == 0
    head, _, ter, bleu = capsys.readouterr().out.splitlines()
    assert re.split("  +", head) == [
        "metric", "n", "A: tuned", "B: baseline", "A − B [95 %]", "test", "p", "p (Holm)",
    ]  # fmt: skip
    assert re.match(r"ter ↓ +40 +6.90 +11.08 +-4.19 \[", ter)
    assert re.match(r"bleu +40 +85.29 +75.69 +9.60 \[", bleu)
    assert max(map(len, (head, ter, bleu))) <= 100


def test_no_interval_is_none():
    table = compared(winning(1, n=1), "accuracy", ["exact"])
    assert not np.isnan(table["ci_low"]).any()  # passed or failed: there always is one
    data = simulate.statistics("f1", n_systems=2, n_segments=1, seed=2)
    table = compared(data, "f1", ["exact"])
    (row,) = json.loads(as_json(table))["rows"]
    assert (row["ci_low"], row["ci_high"]) == (None, None)
    assert "nan" not in baseline.render(table, "table")


@pytest.mark.parametrize(
    ("p", "error", "printed", "bound"),
    [
        (0.075108951309005, 2.4e-13, 0.0751089513090, 6e-12),
        (3.028690269002974e-100, 9.3e-12, 3.0286902690e-100, 6e-11),
        (0.25, 0.0, 0.25, 0.0),
        (0.123456, 9e-4, 0.123, 6e-3),
        (0.123456, 0.4, 0.1, 0.6),
    ],
)
def test_json_prints_the_digits_that_are_certain(monkeypatch, p, error, printed, bound):
    """Whatever a processor makes of the digits beyond the bound, the same number is printed, and within its bound."""
    data = winning(5)
    alone = pairsig.exact_test(*data.counts, metric="accuracy")
    printouts = set()
    for wrong in (-1e-3 * error, 0.0, 1e-3 * error):
        value = p * (1 + wrong)
        changed = replace(alone, pvalue=value, log10_pvalue=math.log10(value), error_bound=error)
        monkeypatch.setitem(kernels.KERNELS, "exact", lambda *_, result=changed: result)
        table = compared(data, "accuracy", ["exact"])
        printouts.add(as_json(table))
    (text,) = printouts
    (row,) = json.loads(text)["rows"]
    assert (row["pvalue"], row["error_bound"]) == (printed, bound)
    assert abs(row["pvalue"] - p) <= bound * p
    assert row["pvalue_low"] <= p * (1 - error / 2) <= p * (1 + error / 2) <= row["pvalue_high"]
    assert row["log10_pvalue"] == pytest.approx(math.log10(p), abs=max(bound, 1e-15))


@pytest.mark.slow
def test_the_same_json_on_another_processor(tmp_path):
    """OpenBLAS runs the kernels of older processors, with which unrounded exact p-values would differ."""
    a, b = simulate.statistics("f1", n_systems=2, n_segments=600, seed=1, spread=0.3).counts
    for name, counts in (("a", a), ("b", b)):
        np.savetxt(tmp_path / name, counts, fmt="%d")
    command = [sys.executable, "-m", "pairsig", "compare", "a", "b", "--reader", "sigf", "--format", "json"]
    printed = set()
    for kernel in ("Haswell", "Nehalem", "Sandybridge"):
        environment = os.environ | {"OPENBLAS_CORETYPE": kernel, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        printed.add(done.stdout)
    assert len(printed) == 1


def level(n, p_only_a, p_only_b, which):
    """How often p < 0.05 comes up by the bootstrap (b = ∞) on n pass/fail items: every table, by its probability."""
    total = 0.0
    for r in range(n + 1):
        for s in range(n + 1 - r):
            weight = math.comb(n, r) * math.comb(n - r, s) * p_only_a**r * p_only_b**s
            weight *= (1 - p_only_a - p_only_b) ** (n - r - s)
            if weight < 1e-5 or r == s:
                continue
            wins, losses = max(r, s), min(r, s)
            variance_model = np.array([1.0])  # of the gain on a resample, from −n to n
            for _ in range(n):
                variance_model = np.convolve(variance_model, [losses / n, 1 - (wins + losses) / n, wins / n])
            twice = n + 2 * (wins - losses)
            p = {
                "shifted": variance_model[twice + 1 :].sum(),
                "percentile": variance_model[:n].sum(),
                "two-sided": variance_model[twice:].sum() + variance_model[: n + 1].sum(),
            }[which]
            total += weight * (p < 0.05)
    return total


def test_how_often_the_bootstrap_finds_what_is_not_there():
    """What the notes, `--help` and the documentation say of the one-sided bootstrap, in closed form for pass/fail."""
    for n, lowest, highest in ((20, 0.15, 0.21), (50, 0.12, 0.21)):
        for p in (0.05, 0.1, 0.4):
            assert lowest < level(n, p, p, "shifted") < highest
            assert level(n, p, p, "two-sided") < 0.1
    assert level(20, 0.05, 0.05, "percentile") == pytest.approx(0.48, abs=0.01)
    page = " ".join((ROOT / "docs/limits.md").read_text(encoding="utf-8").split())
    for words in ("10 to 14 % of test sets of 100 to 500 segments", "up to 21 % of those of 20 or 50", "up to 48 %"):
        assert words in page


def test_identical_outputs_are_never_significant(file, capsys):
    argv = ["compare", file("one.txt", SIGF_A), file("two.txt", SIGF_A), "--reader", "sigf", "--format", "json"]
    assert cli.main(argv) == 0
    printed = capsys.readouterr()
    assert {row["pvalue"] for row in json.loads(printed.out)["rows"]} == {1.0}
    assert "one and two have the same counts on every segment" in printed.err


@pytest.mark.parametrize(
    ("n_documents", "fragments"),
    [
        (20, "the 100 segments come from 20 documents, which were not used; with documents as units the standard "
         "error of the gain is 2.28 times as large (--unit document)"),
        (14, "the 100 segments come from 14 documents, which were not used (--unit document)"),
        (100, None),
        (1, None),
    ],
)  # fmt: skip
def test_documents_that_were_not_used(n_documents, fragments):
    """Documents of 5 equal segments: sqrt(5 · (20/19) / (100/99)) = 2.28."""
    rng = np.random.default_rng(4)
    passed = np.repeat(rng.integers(0, 2, (2, 20)), 5, axis=1)
    counts = np.stack([passed, np.ones_like(passed)], axis=2)
    documents = np.array([f"d{index * n_documents // 100}" for index in range(100)])
    data = Statistics.from_arrays({"a": counts[0], "b": counts[1]}, ("correct", "total"), documents=documents)
    by_unit = {}
    for unit in ("segment", "document") if n_documents > 1 else ("segment",):
        table = compared(data, "accuracy", ["exact"], unit=unit)
        by_unit[unit] = [note for note in table["notes"].iloc[0] if "which were not used" in note]
    assert by_unit.pop("segment") == ([fragments] if fragments else [])
    assert not any(by_unit.values())


EVALB_ROW = "{:4d}  {:3d}    0  {:6.2f} {:6.2f}   {:3d}    {:3d}  {:3d}    0      5     5   100.00\n"
DOCUMENTS = "news\td1\nnews\td1\nblog\td2\nblog\td2\n"


@pytest.fixture
def counts(file):
    """Four segments of two documents: the first system is better in the first document only."""
    a, b = "2 2 2\n2 2 2\n1 2 2\n1 2 2\n", "1 2 2\n0 2 2\n1 2 2\n1 2 2\n"
    return [file("a.tsv", a), file("b.tsv", b), "--reader", "sigf", "--test", "exact"]


def test_documents_of_counts_are_the_unit(counts, file, rows):
    """Two documents, of which one is the same for both: swapped or not, |δ'| = |δ|. As segments, 2 of the 4 swaps."""
    row, *_ = rows(*counts, "--unit", "document", "--document-file", file("docs", DOCUMENTS))
    assert row["pvalue"] == pytest.approx(1, abs=1e-12)
    assert "unit:document" in row["signature"]
    assert rows(*counts)[0]["pvalue"] == pytest.approx(1 / 2, abs=1e-12)


@pytest.mark.parametrize("lines", [3, 5])
def test_documents_of_another_test_set(counts, file, capsys, lines):
    """Whatever the unit."""
    assert cli.main(["compare", *counts, "--document-file", file("docs", "news\td1\n" * lines)]) == 2
    message = f"a.tsv has 4 segments, but found {lines} domains, expected one per segment"
    assert message in capsys.readouterr().err


def test_documents_of_a_table_and_of_a_file(file, capsys):
    table = "segment\tdocument\tx\n1\td1\t1\n2\td1\t{}\n3\td2\t2\n4\td2\t3\n"
    paths = [file(f"{name}.tsv", table.format(value)) for name, value in (("a", 5), ("b", 1))]
    argv = ["compare", *paths, "--reader", "table", "--test", "exact", "--document-file"]
    assert cli.main([*argv, file("docs", DOCUMENTS), "--unit", "document"]) == 0
    capsys.readouterr()
    assert cli.main([*argv, file("docs", DOCUMENTS.replace("blog\td2", "blog\td3", 1))]) == 2
    message = (
        "a.tsv, line 4: segment 3 belongs to document 'd2', but to 'd3' in the file of documents, expected the same"
    )
    assert message in capsys.readouterr().err


def test_documents_are_those_of_all_sentences_where_some_are_left_out(file, capsys):
    rows = [EVALB_ROW.format(n, length, 50, 50, 1, 2, 2) for n, length in enumerate((5, 50, 5, 5), start=1)]
    (systems,) = inputs.read_files(
        [file(name, f"{'=' * 76}\n{''.join(rows)}{'=' * 76}\n") for name in "ab"],
        "evalb",
        options={"max_length": "40"},
        domains=["", "", "", ""],
        documents=["w", "x", "y", "z"],
    )
    assert systems.segments.tolist() == ["1", "3", "4"]
    assert systems.documents.tolist() == ["w", "y", "z"]


def test_lines_skipped_in_the_outputs_are_skipped_in_the_documents(file, rows):
    ref, x, y = (file(f"{number}", "canary\n" + f"a b c d {last}\n" * 4) for number, last in enumerate("eef"))
    argv = [x, y, "--reader", "text", "--reference", ref, "--unit", "document", "--skip-lines", "1"]
    argv += ["--document-file", file("docs", "canary\tcanary\n" + DOCUMENTS)]
    (row,) = rows(*argv, "--test", "randomization", "--n-resamples", "100")
    assert (row["n_segments"], "unit:document" in row["signature"]) == (4, True)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["gpt-4.1.sigf", "gpt-3.5.sigf"], ["gpt-4.1", "gpt-3.5"]),
        (["gpt-4.1", "gpt-3.5"], ["gpt-4.1", "gpt-3.5"]),  # no suffix
        (["runs/gpt-4.1.jsonl.gz", "runs/o3.parquet"], ["gpt-4.1", "o3"]),
        (["llama-3.1-8b.en.txt.xz", "baseline.txt"], ["llama-3.1-8b.en", "baseline"]),
        (["model.v1", "model.v2"], ["model.v1", "model.v2"]),
        (["model.tsv", "model.csv"], ["model.tsv", "model.csv"]),
        (["runs/a/out.txt", "runs/b/out.txt"], ["a", "b"]),
        (["a/out.txt", "b/out.tsv", "c/out.txt"], ["a/out.txt", "b/out.tsv", "c/out.txt"]),
        (["x", "y.txt"], ["x", "y"]),
        ([".txt", "y.txt"], [".txt", "y"]),
    ],
)
def test_a_system_is_called_as_its_file_without_what_says_its_format(paths, names):
    assert inputs._names(paths) == names


def test_an_option_goes_to_the_metrics_that_have_it(file, capsys):
    ref, x, y = (file(name, f"天地人和{last}\n" * 5) for name, last in (("ref", "大小"), ("x", "大小"), ("y", "小大")))
    argv = ["compare", x, y, "--reader", "text", "--reference", ref, "--text-as-is"]
    argv += ["--test", "randomization", "--n-resamples", "20", "--format", "json"]

    def found(*arguments):
        assert cli.main([*argv, *arguments]) == 0
        return {row["metric"]: row["score_b"] for row in json.loads(capsys.readouterr().out)["rows"]}

    alone = found("--metric", "bleu", "--tokenize", "char") | found("--metric", "chrf")
    assert found("--metric", "bleu,chrf", "--tokenize", "char") == alone
    assert alone["bleu"] != found("--metric", "bleu", "--tokenize", "none")["bleu"]
    assert cli.main([*argv, "--metric", "bleu,chrf", "--normalized"]) == 2
    fragments = capsys.readouterr().err
    assert (
        "option of reader text and metric bleu, chrf: 'normalized', expected one of skip_lines, tokenize, low"
        in fragments
    )
    assert cli.main([*argv, "--metric", "bleu,chrf,ter", "--normalized"]) == 0


def test_nothing_to_compare(sigf, capsys):
    assert cli.main(["compare", sigf[0], sigf[0], "--reader", "sigf"]) == 2
    assert "is given 2 times, expected different files" in capsys.readouterr().err
    with pytest.raises(InputError, match="found one system, expected at least two"):
        compared(simulate.statistics("mean", n_systems=1, n_segments=5), "mean")
    with pytest.raises(InputError, match="found no metric, expected at least one"):
        compared(simulate.statistics("mean", n_systems=2, n_segments=5), "")


@pytest.mark.data
def test_evalbs_own_sample(data_dir, tmp_path, rows):
    """The sample is compared to a copy of itself: evalb's own recall, and nothing significant."""
    listing = data_dir / "evalb-sample/EVALB/sample/sample.rsl"
    (tmp_path / "other.rsl").write_text(listing.read_text())
    found = by_test(rows(listing, tmp_path / "other.rsl", "--reader", "evalb", "--n-resamples", "100"))
    printed = [line.split("=")[1] for line in listing.read_text().splitlines() if line.startswith("Bracketing Recall")]
    assert round(found["recall", "exact"]["score_a"], 2) == float(printed[0])  # the first summary is of all sentences
    assert {row["pvalue"] for row in found.values()} == {1.0}


def three_rows(**columns):
    """Rows of a table that name what `footnotes`, `shown_p` and others look at."""
    rows = {"metric": ["f1"] * 3, "system_a": ["base"] * 3, "system_b": ["one", "two", "three"], "notes": [[]] * 3}
    return pd.DataFrame(rows | columns)


def test_a_note_on_all_but_one_says_what_it_is_about():
    table = three_rows(notes=[["few"], ["few"], []])
    assert baseline.footnotes(table) == ["f1 for base and one; f1 for base and two: few"]
    assert baseline.footnotes(table[1:]) == ["f1 for base and two: few"]
    assert baseline.footnotes(three_rows(notes=[["few"]] * 3)) == ["few"]


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ({"pvalue": 0.0, "pvalue_high": 0.00921, "n_resamples": 400}, "< 0.00921"),
        ({"pvalue": 0.0, "pvalue_high": 0.0092101, "n_resamples": 400}, "< 0.00922"),
        ({"pvalue": 0.0, "pvalue_high": 0.0092101, "n_resamples": 157, "confidence_level": 0.99}, "< 0.00922"),
        ({"pvalue": 0.0, "pvalue_high": 0.0, "n_resamples": None}, "< 1e-300"),
        ({"pvalue": 0.0, "log10_pvalue": -412.34, "n_resamples": None}, "1e-412.3"),
        ({"pvalue": 1e-200, "log10_pvalue": -200.0, "n_resamples": None}, "1e-200"),
        ({"pvalue": 0.0301, "pvalue_low": 0.02019, "pvalue_high": 0.04011, "n_resamples": 9, "confidence_level": 0.9},
         "0.0301 [0.0201, 0.0402]"),
        ({"pvalue": 0.0301, "pvalue_low": 0.02, "pvalue_high": 0.04, "n_resamples": 9}, "0.0301"),
        ({"pvalue": 0.0301, "pvalue_low": 0.02, "pvalue_high": 0.04, "n_resamples": None, "confidence_level": 0.9},
         "0.0301"),
        ({"pvalue": 1.0, "pvalue_low": 0.9, "pvalue_high": 1.0, "n_resamples": 9, "confidence_level": 0.9}, "1"),
    ],
)  # fmt: skip
def test_a_p_value_as_it_is_printed(row, shown):
    plain = {"log10_pvalue": -math.inf, "pvalue_low": 0.0, "pvalue_high": 1.0, "confidence_level": None}
    assert baseline.shown_p(plain | row) == shown


def test_p_values_are_adjusted_within_a_test_over_systems_and_metrics():
    """With two systems, two metrics, two tests and two alternatives, each family has four p-values, not sixteen."""
    data = simulate.statistics("f1", n_systems=3, n_segments=40, spread=0.3)
    table = compared(data, "f1 recall", TWO, alternatives=["two-sided", "observed"], n_resamples=200)
    assert len(table) == 16
    assert set(table["n_compared"]) == {4}
    for _, family in table.groupby(["test", "method", "alternative"]):
        p = np.sort(family["pvalue"])
        expected = np.minimum(np.maximum.accumulate(p * [4, 3, 2, 1]), 1)
        assert sorted(family["pvalue_holm"]) == pytest.approx(list(expected))
        np.testing.assert_allclose(family["pvalue_bh"], false_discovery_control(family["pvalue"]))


def test_an_exact_test_and_what_stands_for_it_are_one_family(monkeypatch, rows):
    """TER has an exact test and BLEU has none, but both are the same claim about the same two systems."""
    monkeypatch.chdir(ROOT / "config/example")
    argv = ["baseline.txt", "tuned.txt", "--reference", "reference.txt", "--metric", "ter,bleu", "--n-resamples", 2000]
    found = rows(*argv)
    assert [(row["test"], row["n_compared"]) for row in found] == [("exact", 2), ("randomization", 2)]
    low, high = sorted(row["pvalue"] for row in found)
    assert sorted(row["pvalue_holm"] for row in found) == pytest.approx([2 * low, max(2 * low, high)])
    found = rows(*argv, "--test", "exact,randomization")
    assert [(row["test"], row["n_compared"]) for row in found] == [("exact", 1), *[("randomization", 2)] * 2]


def test_how_many_tests_draw():
    data = simulate.statistics("f1", n_systems=4, n_segments=9)
    metrics = [registry.metric("f1"), registry.metric("recall")]
    assert baseline.n_drawn(data, metrics, definitions.names(), ["shifted", "percentile"]) == 3 * 2 * 3
    assert baseline.n_drawn(data, metrics, ["exact"]) == baseline.n_drawn(data, metrics, []) == 0
    assert baseline.n_drawn(data, [*metrics, registry.metric("bleu")], []) == 3


@pytest.mark.parametrize(
    ("paths", "methods", "runs"),
    [
        ([["a1", "a2"], ["b"]], ["a", "a", "b"], ["1", "2", ""]),
        ([["m10", "m11"], ["n"]], ["m", "m", "n"], ["1", "2", ""]),  # not m1, a part of both numbers
        ([["m-1", "m-b"], ["n"]], ["m", "m", "n"], ["1", "2", ""]),
        ([["x1", "x2"], ["x3", "x4"]], ["x1", "x1", "x3", "x3"], ["1", "2", "1", "2"]),  # both would be x
        ([["1", "2"], ["b"]], ["1", "1", "b"], ["1", "2", ""]),  # nothing in common
    ],
)
def test_runs_are_called_by_what_their_names_have_in_common(paths, methods, runs):
    assert inputs._called(paths) == (methods, runs)


def test_a_reference_before_the_systems_takes_them(capsys):
    assert cli.main(["compare", "--metric", "bleu", "--reference", "ref.txt", "a.txt", "b.txt"]) == 2
    assert "found no file before --reference, which takes all that follow" in capsys.readouterr().err


def test_draws_follow_the_ids_and_not_the_order_of_rows(tmp_path, rows):
    """Both files shuffled together are the same data, so that p is the same number; id 10 comes after id 9."""
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"item": [f"q{i}" for i in range(60)], "a": rng.random(60), "b": rng.random(60)}).round(3)
    found = []
    for name, order in (("first", np.arange(60)), ("second", rng.permutation(60))):
        table.iloc[order].to_csv(tmp_path / f"{name}.csv", index=False)
        options = ["--systems", "a,b", "--test", "randomization,bootstrap", "--n-resamples", "500"]
        found.append([row["n_greater"] for row in rows(tmp_path / f"{name}.csv", *options)])
    assert found[0] == found[1]
    data = Statistics.from_arrays({"a": np.arange(3.0), "b": np.arange(3.0)}, ("value",))
    data = replace(data, segments=np.array(["q10", "q9", "p"]))
    assert data.in_order().segments.tolist() == ["p", "q9", "q10"]
    assert data.in_order().counts[0, :, 0].tolist() == [2, 1, 0]
