"""Verdicts, samples and groups: against all signs, the sign test, positions swapped by hand, and numpy."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

import pairsig
from conftest import repetitions
from pairsig import InputError
from pairsig.readers import inputs
from pairsig.readers.output import pass_at
from running import ROOT


def table(path: Path, header: str, rows) -> str:
    path.write_text(f"{header}\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return str(path)


def by_all_signs(values) -> float:
    """P-value of the sum of signed values, by enumeration."""
    values = [value for value in values if value]
    observed = abs(sum(values))
    sums = (
        abs(sum(s * v for s, v in zip(signs, values, strict=True)))
        for signs in itertools.product((-1, 1), repeat=len(values))
    )
    return sum(total >= observed - 1e-9 for total in sums) / 2 ** len(values)


def test_verdicts_in_both_orders_are_tested_by_item(tmp_path):
    """Wins are 1, ties ½ and losses 0; an item counts once, with the mean of its verdicts."""
    rng = np.random.default_rng(3)
    rows, means = [], []
    for item in range(14):
        words = rng.choice(["x", "y", "tie"], 2, p=[0.5, 0.2, 0.3])
        rows += [(item, "x", "y", words[0]), (item, "y", "x", words[1])]
        means.append(np.mean([{"x": 1, "y": 0, "tie": 0.5}[word] for word in words]))
    data = pairsig.read(
        table(tmp_path / "v.csv", "item,m1,m2,winner", rows), winner="winner", system_a="m1", system_b="m2"
    )
    result = pairsig.compare(data)
    assert result.table[["score_a", "score_b"]].to_numpy().tolist() == [
        [pytest.approx(np.mean(means)), pytest.approx(1 - np.mean(means))]
    ]
    assert len(data.segments) == 14
    assert result.pvalue == pytest.approx(by_all_signs([2 * mean - 1 for mean in means]), rel=1e-9)
    changed = sum(first[3] != second[3] for first, second in zip(rows[::2], rows[1::2], strict=True))
    assert f"{changed} of 14 verdicts change" in data.notes[1]


def test_without_ties_it_is_the_sign_test(tmp_path):
    rows = [(item, "x" if item < 13 else "y") for item in range(17)]
    data = pairsig.read(table(tmp_path / "v.csv", "id,verdict", rows), winner="verdict")
    assert pairsig.compare(data).pvalue == pytest.approx(binomtest(13, 17).pvalue, rel=1e-9)


def test_words_of_verdicts(tmp_path):
    """Names of systems or of their columns, a and b, and words for a tie."""
    rows = [
        (1, "x", "y", "x"),
        (2, "x", "y", "m2"),
        (3, "y", "x", "A"),
        (4, "x", "y", "model_b"),
        (5, "x", "y", "Tie"),
        (6, "x", "y", "draw"),
    ]
    data = pairsig.read(table(tmp_path / "v.csv", "id,m1,m2,w", rows), winner="w", system_a="m1", system_b="m2")
    assert data.counts[0, :, 0].tolist() == [1, 0, 0, 0, 0.5, 0.5]
    path = table(tmp_path / "v.csv", "id,m1,m2,w", [*rows, (7, "x", "y", "both bad")])
    with pytest.raises(InputError, match="line 8, column w: found 'both bad', expected x, y, a, b or tie"):
        pairsig.read(path, winner="w", system_a="m1", system_b="m2")
    assert pairsig.read(path, winner="w", system_a="m1", system_b="m2", tie="tie,draw,both bad").counts[0, 6, 0] == 0.5
    for row, words in (
        ((8, "x", "x", "x"), "two different systems"),
        ((8, "x", "y", ""), "found ''"),
        ((1, "x", "y", "y"), "expected one per order"),
    ):
        with pytest.raises(InputError, match=words):
            pairsig.read(
                table(tmp_path / "v.csv", "id,m1,m2,w", [*rows, row]), winner="w", system_a="m1", system_b="m2"
            )


def test_draws_of_alpaca_eval_are_coded_0_or_one_and_a_half(tmp_path, monkeypatch):
    """The recipe of the documentation: of `preference`, 1 is the baseline, 2 the model, and 0 and 1.5 a draw."""
    page = (ROOT / "docs/coming-from.md").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"```python\n(import pandas as pd\n\nverdicts = .*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    rows = [{"instruction": f"Explain {n}", "preference": value} for n, value in enumerate((1, 2, 1.5, 0, 2))]
    Path("annotations.json").write_text(json.dumps(rows))
    exec(recipe, {})
    assert pairsig.read("model-a.csv", score="win").counts[0, :, 0].tolist() == [0, 1, 0.5, 0.5, 1]


@pytest.mark.parametrize("n", range(1, 8))
def test_pass_at_k_by_enumeration(n):
    """The share of the sets of k samples in which one passes, or all."""
    for c, k in itertools.product(range(n + 1), range(1, n + 1)):
        sets = list(itertools.combinations([1] * c + [0] * (n - c), k))
        assert pass_at(n, c, k) == pytest.approx(np.mean([max(one_set) for one_set in sets]))
        assert pass_at(n, c, k, "^") == pytest.approx(np.mean([min(one_set) for one_set in sets]))


def test_pass_at_k_of_unequal_samples(tmp_path):
    rows = [(item, system, n, int((item * n + len(system)) % 3 == 0)) for item in range(6) for system, most in (("x", 4), ("yy", 6)) for n in range(most)]  # fmt: skip  # noqa: E501
    path = table(tmp_path / "s.csv", "id,system,sample,passed", rows)
    data = pairsig.read(path, sample="sample", metric="pass@3")
    for place, (system, n) in enumerate((("x", 4), ("yy", 6))):
        passed = [sum(row[3] for row in rows if row[:2] == (item, system)) for item in range(6)]
        assert data.counts[place, :, 0].tolist() == pytest.approx(
            [1 - math.comb(n - c, 3) / math.comb(n, 3) for c in passed]
        )
    assert data.metrics[0].score([2.0, 4.0]) == 50
    with pytest.raises(InputError, match="found 4 samples of item 0, expected at least 5"):
        pairsig.read(path, sample="sample", metric="pass@5")


def test_epochs_of_a_log_are_samples():
    """The same means as Inspect's over epochs."""
    logs = [str(Path(__file__).parents[1] / f"data/evaluation_logs/inspect/{name}.eval") for name in ("strong", "weak")]
    (averaged,) = inputs.read_all(logs, {"scorer": "exact"})
    reported = json.loads((Path(logs[0]).parent / "reported.json").read_text())
    theirs = [reported[f"{name}.eval"]["exact"]["accuracy"] for name in ("strong", "weak")]
    assert averaged.counts[:, :, 0].mean(axis=1).tolist() == pytest.approx(theirs)
    assert not any(averaged.runs)
    assert "4 samples per item, averaged" in averaged.notes[0]
    (passed,) = inputs.read_all(logs, {"scorer": "exact", "metric": "pass@2"})
    runs = 4 * averaged.counts[0, :, 0]
    assert passed.counts[0, :, 0].tolist() == pytest.approx([1 - math.comb(4 - int(c), 2) / 6 for c in runs])


@pytest.mark.parametrize(("n_tasks", "n_samples"), [(20, 3), (164, 10)])
def test_samples_are_no_items(n_tasks, n_samples, tmp_path):
    """Of equally good models on tasks of unlike difficulty, 3 to 7 % have p < .05, and more if samples were items."""
    rng = np.random.default_rng(n_tasks)
    times = repetitions(400)
    by_task = as_items = 0
    for _ in range(times):
        difficulty = rng.beta(0.6, 0.6, n_tasks)
        passed = (
            rng.random((2, n_tasks, n_samples))
            < np.clip(difficulty + rng.normal(0, 0.15, (2, n_tasks)), 0, 1)[..., None]
        )
        by_task += pairsig.compare({"a": passed[0].mean(axis=1), "b": passed[1].mean(axis=1)}).pvalue < 0.05
        as_items += ttest_1samp((passed[0].astype(int) - passed[1]).ravel(), 0).pvalue < 0.05
    reach = 3 * math.sqrt(0.05 * 0.95 / times)
    assert by_task / times < 0.05 + reach
    assert as_items > by_task


def test_macro_averages_are_those_of_the_harness(tmp_path):
    """The score of a group with `weight_by_size: false` is the mean of the tasks' means, as of a table with groups."""
    folder = Path(__file__).parents[1] / "data/evaluation_logs/lm_eval"
    for name in "ab":
        (tmp_path / name).mkdir()
        for path in (folder / name).rglob("*.json*"):
            (tmp_path / name / path.name).write_bytes(path.read_bytes())
        (path,) = (tmp_path / name).glob("results*.json")
        report = json.loads(path.read_text())
        of_tasks = [report["results"][task]["acc,none"] for task in ("sums_small", "sums_large")]
        report["groups"]["sums"]["acc,none"] = report["results"]["sums"]["acc,none"] = sum(of_tasks) / 2
        path.write_text(json.dumps(report))
    logs = inputs.read_all([str(tmp_path / "a"), str(tmp_path / "b")], {"metric": "acc"})
    small, large, group = logs
    rows = []
    for task in (small, large):
        rows += [
            (f"{task.dataset}-{n}", task.dataset, *scores) for n, scores in enumerate(task.counts[:, :, 0].T.tolist())
        ]
    again = pairsig.read(table(tmp_path / "t.csv", "id,task,a,b", rows), systems="a,b", macro="task")
    (metric,) = group.metrics
    theirs = metric.score(group.of(metric).sum(axis=1)).tolist()
    assert theirs[0] == pytest.approx(sum(of_tasks) / 2) or theirs[1] == pytest.approx(sum(of_tasks) / 2)
    assert again.metrics[0].score(again.of(again.metrics[0]).sum(axis=1)).tolist() == pytest.approx(theirs)
    assert pairsig.compare(again).pvalue == pairsig.compare(group).pvalue


def test_macro_averages_and_their_p_by_all_swaps(tmp_path):
    rng = np.random.default_rng(5)
    sizes = (2, 3, 5)
    rows = [
        (f"{group}-{n}", group, rng.integers(2), rng.integers(2))
        for group, size in enumerate(sizes)
        for n in range(size)
    ]
    data = pairsig.read(table(tmp_path / "g.csv", "id,subject,a,b", rows), systems="a,b", macro="subject")
    result = pairsig.compare(data)
    differences = [(row[2] - row[3]) / (len(sizes) * sizes[row[1]]) for row in rows]
    assert result.difference == pytest.approx(sum(differences))
    assert result.pvalue == pytest.approx(by_all_signs(differences), rel=1e-9)
    with pytest.raises(InputError, match="is no mean over items"):
        pairsig.read(
            table(
                tmp_path / "c.csv",
                "id,system,subject,matched,predicted,gold",
                [(1, "a", "x", 1, 1, 1), (1, "b", "x", 1, 1, 1)],
            ),
            metric="f1",
            macro="subject",
        )


def test_f_beta_is_exact_and_the_formula():
    """F_β = (1 + β²) PR / (β² P + R), for the counts of errant and of m2scorer."""
    import pandas as pd

    rng = np.random.default_rng(2)
    rows = pd.DataFrame(
        {
            "id": list(range(12)) * 2,
            "system": ["a"] * 12 + ["b"] * 12,
            **{name: rng.integers(0, 4, 24) for name in ("TP", "FP", "FN")},
        }
    )
    for beta in (0.5, 2, 0.25):
        data = pairsig.read(rows, metric=f"f{beta:g}")
        for place, name in enumerate("ab"):
            tp, fp, fn = rows[rows["system"] == name][["TP", "FP", "FN"]].sum()
            p, r = tp / (tp + fp), tp / (tp + fn)
            score = float(data.metrics[0].score(data.of(data.metrics[0])[place].sum(axis=0)))
            assert score == pytest.approx(100 * (1 + beta**2) * p * r / (beta**2 * p + r))
        assert "test:exact" in pairsig.compare(data).signature
    brackets = rows.assign(matched=rows["TP"], predicted=rows["TP"] + rows["FP"], gold=rows["TP"] + rows["FN"]).drop(
        columns=["TP", "FP", "FN"]
    )
    assert (
        pairsig.compare(pairsig.read(brackets, metric="f0.5")).pvalue
        == pairsig.compare(pairsig.read(rows, metric="f0.5")).pvalue
    )
