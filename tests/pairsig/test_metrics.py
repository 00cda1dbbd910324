"""Scores of totals against the formulas, worked out with fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pairsig
from conftest import examples
from pairsig import cli
from pairsig.metrics import registry

RATIOS = {
    # How often each total is in the numerator, and in the denominator.
    "accuracy": ([1, 0], [0, 1]),
    "uas": ([1, 0], [0, 1]),
    "las": ([1, 0], [0, 1]),
    "precision": ([1, 0, 0], [0, 1, 0]),
    "recall": ([1, 0, 0], [0, 0, 1]),
    "f1": ([2, 0, 0], [0, 1, 1]),
    "parseval": ([2, 0, 0], [0, 1, 1]),
    "conll_uas": ([2, 0, 0], [0, 1, 1]),
    "conll_las": ([2, 0, 0], [0, 1, 1]),
    "aer": ([-1, -1, 1, 1], [0, 0, 1, 1]),
    "alignment_precision": ([0, 1, 0, 0], [0, 0, 1, 0]),
    "alignment_recall": ([1, 0, 0, 0], [0, 0, 0, 1]),
    "rouge1_f": ([1, 0], [0, 1]),
    "mean": ([Fraction(1, 100), 0], [0, 1]),
}


def expected(name, totals):
    above, below = (sum(times * total for times, total in zip(of, totals, strict=True)) for of in RATIOS[name])
    return float(100 * Fraction(above) / below) if below else 0.0


@pytest.mark.parametrize("name", RATIOS)
def test_scores_are_those_of_the_formula(name):
    """Small totals, so that denominators of 0 (the score is 0), 1 and 2 come up; any shape in front."""
    metric = registry.metric(name)
    width = len(RATIOS[name][0])

    @examples(25)
    @given(st.lists(st.lists(st.integers(0, 4), min_size=width, max_size=width), min_size=2, max_size=5))
    def agrees(totals):
        found = metric.score(totals)
        assert found.tolist() == pytest.approx([expected(name, row) for row in totals], abs=1e-12)
        assert metric.score(totals[0]) == found[0]
        np.testing.assert_array_equal(metric.score([totals, totals[::-1]]), [found, found[::-1]])

    agrees()


@pytest.mark.parametrize("name", registry.METRICS)
def test_names_ignore_case(name):
    """No two names differ in case only, so each is found in any."""
    for written in (name, name.upper(), name.lower(), name.title()):
        assert registry.metric(written) is registry.METRICS[name]


def test_names_of_files_and_of_python_ignore_case(tmp_path, monkeypatch, answer, refusal):
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "reference.txt"):
        (tmp_path / name).write_text("a cat sat\n" * 3)
    (tmp_path / "b.txt").write_text("a cat\na cat sat\nno\n")
    files = ["a.txt", "b.txt", "--reference", "reference.txt", "--metric"]
    assert answer(*files, "BLEU,chrF", "--n-resamples", "99") == answer(*files, "bleu,chrf", "--n-resamples", "99")
    assert "metric bleu is named 2 times" in refusal("compare", *files, "BLEU,bleu")
    counts = [[3, 5, 5], [2, 2, 2]], [[3, 5, 5], [1, 2, 2]]
    assert pairsig.exact_test(*counts, metric="F1").pvalue == 1


def test_every_metric_is_listed_once_below_its_task(capsys):
    assert cli.main(["metrics"]) == 0
    out = capsys.readouterr().out
    for name, metric in registry.METRICS.items():
        (line,) = [line for line in out.splitlines() if line.split()[:1] == [name]]
        assert metric.formula in line
        assert line.endswith("(lower is better)") == (not metric.higher_is_better)
    listing = out.partition("\nFormats")[0]
    tasks = [line for line in listing.splitlines() if line.endswith(")") and not line.startswith(" ")]
    assert tasks[1:3] == ["Machine translation (--reader text)", "Summarization (--reader text)"]
    assert len(tasks) == len(registry.MODULES)
