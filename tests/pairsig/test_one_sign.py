"""A difference is the score of the first system minus that of the second, wherever it appears.

The oracle is the definition, computed here from two lists: scipy's `permutation_test` has the same order.
"""

import json
import re

import numpy as np
import pytest
from scipy.stats import permutation_test

import pairsig
from pairsig import cli

A = [1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1]
B = [0, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0]
RUNS = {"first": [A, [1] * 12], "second": [B, [0] * 11 + [1]]}


@pytest.fixture
def files(file):
    def as_text(name, passed):
        return file(name, "\n".join(map(str, passed)))

    return [as_text("first", A), as_text("second", B)]


def difference(first, second):
    """The statistic of scipy's paired permutation test, with which every sign here is compared."""
    found = permutation_test(
        (np.array(first), np.array(second)), lambda x, y: np.mean(x) - np.mean(y), permutation_type="samples"
    )
    return float(found.statistic)


def test_python_agrees_with_scipy():
    expected = difference(A, B)
    assert expected > 0
    for test in (pairsig.exact_test, pairsig.bootstrap_test, pairsig.randomization_test):
        assert test(A, B).statistic == pytest.approx(expected)
    compared = pairsig.compare({"first": A, "second": B})
    assert compared.difference == pytest.approx(expected)
    for interval in (
        pairsig.difference_interval(A, B), pairsig.exact_test(A, B).confidence_interval(),
        compared.confidence_interval(),
    ):  # fmt: skip
        assert (interval.low + interval.high) / 2 == pytest.approx(expected, abs=0.2)
    assert pairsig.compare({"second": B, "first": A}).difference == pytest.approx(-expected)


def test_a_baseline_is_the_second_system():
    found = pairsig.compare({"first": A, "second": B}, baseline="first")
    assert found.table[["system_a", "system_b"]].to_numpy().tolist() == [["second", "first"]]
    assert found.difference == pytest.approx(difference(B, A)) == pytest.approx(pairsig.exact_test(B, A).statistic)


@pytest.mark.parametrize(("options", "sign"), [([], 1), (["--baseline", "first"], -1), (["--baseline", "second"], 1)])
def test_the_command_line_says_which_is_first(files, options, sign, rows, capsys):
    (row,) = rows(*files, *options)
    assert row["difference"] == pytest.approx(row["score_a"] - row["score_b"]) == pytest.approx(sign * difference(A, B))
    assert row["ci_low"] < row["difference"] < row["ci_high"]
    assert cli.main(["compare", *files, *options]) == 0
    head, _, line = capsys.readouterr().out.splitlines()
    assert f"A: {row['system_a']}" in head
    assert f"B: {row['system_b']}    A − B [95 %]".replace("    ", " ") in re.sub(" +", " ", head)
    assert f" {sign * difference(A, B):.2f} [" in line


def test_methods_with_runs_have_the_same_sign(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = []
    for name, runs in RUNS.items():
        words.append("--runs")
        for number, run in enumerate(runs):
            (tmp_path / f"{name}{number}.txt").write_text("\n".join(map(str, run)))
            words.append(f"{name}{number}.txt")
    expected = difference(*(np.mean(runs, axis=0) for runs in RUNS.values()))
    found = pairsig.compare({name: np.array(runs)[..., None] for name, runs in RUNS.items()})
    assert found.difference == pytest.approx(expected)
    words += ["--design", "nested"]  # two runs are too few for an interval over trainings
    shown = []
    for options in ([], ["--baseline", "first"]):
        assert cli.main(["compare", *words, *options]) == 0
        line = capsys.readouterr().out.splitlines()[2]
        shown.append([float(number) for number in re.search(r"(\S+) \[(\S+), (\S+)\]", line).groups()])
    (gain, low, high), turned = shown
    assert gain == pytest.approx(expected, abs=0.005)
    assert low < gain < high
    assert turned == [-gain, -high, -low]


def test_ranks_and_gates_have_one_direction(files, capsys):
    """Of ranked pairs A is the better one; a release changes by its score minus that of the baseline."""
    pairs = pairsig.rank({"second": B, "first": A}, n_resamples=200).pairs
    assert pairs[["system_a", "system_b"]].to_numpy().tolist() == [["first", "second"]]
    assert pairs["gain"].item() == pytest.approx(pairs["score_a"].item() - pairs["score_b"].item())
    cli.main(["gate", *files, "--margin", "50%", "--format", "json", "--higher-is-better"])
    (check,) = json.loads(capsys.readouterr().out)["checks"]
    assert check["change"] == pytest.approx(check["score_candidate"] - check["score_baseline"])
    assert check["change"] == pytest.approx(difference(B, A))
