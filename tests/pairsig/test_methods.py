"""Gains between methods over runs and segments: against closed forms, brute force and simulation."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pairsig
from pairsig import InputError, Statistics, cli
from pairsig.comparisons.methods import cheapest, sum_of_variances
from pairsig.core import statistics
from pairsig.metrics import registry
from pairsig.report import sentences


def means(**runs) -> Statistics:
    """Methods by name, each an array (runs × segments) of values."""
    return Statistics.from_arrays({name: np.asarray(values)[:, :, None] for name, values in runs.items()}, ["value"])


def drawn(rng, k, n, *, run=0.0, unit=0.0, rest=1.0, common=0.0):
    """Scores (runs × segments) of a method with these standard deviations."""
    return common + run * rng.normal(size=(k, 1)) + unit * rng.normal(size=(1, n)) + rest * rng.normal(size=(k, n))


def apart(y):
    """Squared deviations from what the run and the segment explain."""
    return (y - y.mean(1, keepdims=True) - y.mean(0) + y.mean()) ** 2


def degrees_of(squares):
    """Degrees of freedom of a sum of squares, by their kurtosis."""
    n = len(squares)
    return min(2 * n / ((squares**2).mean() / squares.mean() ** 2 - (n - 3) / (n - 1)), n - 1)


def compared(given, **options) -> pd.Series:
    return pairsig.compare_methods(given, metric="mean", **options).table.iloc[0]


class TestClosedForms:
    def test_one_run_nested_is_the_paired_t_test(self):
        a, b = np.random.default_rng(1).normal(size=(2, 1, 60))
        found = compared(means(a=a, b=b), design="nested")
        # Student's test has n − 1 degrees of freedom, ours those for the kurtosis of the differences.
        degrees = degrees_of((a - b - (a - b).mean()).ravel() ** 2)
        t = stats.ttest_rel(a[0], b[0]).statistic
        assert found["pvalue_method"] == pytest.approx(2 * stats.t.sf(abs(t), degrees), rel=1e-10)
        assert found["pvalue_method"] == found["pvalue_outputs"]
        assert np.isnan(found["sd_rest"])

    def test_runs_alone_are_welchs_t_test(self):
        """Where segments do not differ in anything but a run's own level, only the runs vary."""
        rng = np.random.default_rng(2)
        levels_a, levels_b = rng.normal(size=4), 1 + 3 * rng.normal(size=3)
        a, b = (levels[:, None] + np.zeros(50) for levels in (levels_a, levels_b))
        found = compared(means(a=a, b=b))
        assert found["pvalue_method"] == pytest.approx(
            stats.ttest_ind(levels_a, levels_b, equal_var=False).pvalue, rel=1e-9
        )
        assert found["pvalue_outputs"] == 1  # segments with the same difference do not show how much it varies
        assert found["sd_rest"] == found["sd_test_set"] == 0

    def test_the_parts_are_those_of_the_two_way_analysis_of_variance(self):
        rng = np.random.default_rng(3)
        n, (k_a, k_b) = 40, (5, 3)
        a, b = drawn(rng, k_a, n, run=1, unit=2), drawn(rng, k_b, n, run=2, unit=1)
        found = compared(means(a=a, b=b))

        def squares(y):  # mean squares of runs and of the rest, by the textbook
            k = len(y)
            ms_run = n * ((y.mean(1) - y.mean()) ** 2).sum() / (k - 1)
            return ms_run, apart(y).sum() / ((k - 1) * (n - 1))

        (run_a, rest_a), (run_b, rest_b) = squares(a), squares(b)
        assert found["sd_rest"] ** 2 == pytest.approx((rest_a + rest_b) / n)
        training = max(0, run_a - rest_a) / n, max(0, run_b - rest_b) / n
        assert found["sd_training"] ** 2 == pytest.approx(sum(training))
        of_means = (a.mean(0) - b.mean(0)).var(ddof=1) / n
        assert found["sd_test_set"] ** 2 == pytest.approx(max(0, of_means - rest_a / n / k_a - rest_b / n / k_b))
        assert found["standard_error"] ** 2 == pytest.approx(of_means + training[0] / k_a + training[1] / k_b)

    @pytest.mark.parametrize(("k_a", "k_b", "run"), [(2, 4, 0.0), (3, 6, 0.3), (2, 2, 3.0)])
    def test_p_of_the_method_by_the_formula(self, k_a, k_b, run):
        """Degrees of freedom by Satterthwaite: what runs are estimated by counts even where it is less than g²."""
        n = 25
        rng = np.random.default_rng([11, k_a])
        a, b = drawn(rng, k_a, n, run=run, unit=1, rest=2), drawn(rng, k_b, n, run=run, common=0.4, rest=2)
        found = compared(means(a=a, b=b))
        terms = (a.mean(0) - b.mean(0) - a.mean() + b.mean()) ** 2
        segments = terms.sum() / n / (n - 1)
        variance, doubt = segments, segments**2 / degrees_of(terms)
        less = []
        for y, k in ((a, k_a), (b, k_b)):
            total = y.mean(axis=1).var(ddof=1)
            rest = apart(y).sum() / (k - 1) / n / (n - 1)
            variance += max(0, total - rest) / k
            doubt += (max(total, rest) / k) ** 2 / (k - 1)
            less.append(total < rest)
        assert any(less) == (run < 1)
        t = (a.mean() - b.mean()) / variance**0.5
        assert found["pvalue_method"] == pytest.approx(2 * stats.t.sf(abs(t), variance**2 / doubt), rel=1e-9)
        if variance**2 / doubt < 1.999:  # too few runs for an interval
            assert np.isnan(found["ci_low"])
            assert "too few runs for a confidence interval" in found["doubt"]
            return
        assert found["ci_low"] == pytest.approx(
            abs(a.mean() - b.mean()) - variance**0.5 * stats.t.ppf(0.975, variance**2 / doubt), rel=1e-9
        )

    def test_intervals_and_what_twice_as_many_bring_by_the_formulas(self):
        n, ks = 30, np.array([3, 5])
        rng = np.random.default_rng(14)
        runs = [drawn(rng, 3, n, run=0.5, unit=1), drawn(rng, 5, n, run=0.7, common=0.5)]
        found = compared(means(a=runs[0], b=runs[1]))
        gain = abs(runs[0].mean() - runs[1].mean())
        total = np.array([y.mean(axis=1).var(ddof=1) for y in runs])
        squares = [apart(y).sum(axis=0) / (len(y) - 1) / n**2 for y in runs]  # of each unit
        rest = np.array([n / (n - 1) * own.sum() for own in squares])
        training = total - rest
        assert (training > 0).all()
        terms = (runs[0].mean(0) - runs[1].mean(0) - runs[0].mean() + runs[1].mean()) ** 2
        segments, degrees = terms.sum() / n / (n - 1), degrees_of(terms)

        def p(segments, degrees, rest, ks):
            variance = segments + (training / ks).sum()
            doubt = segments**2 / degrees + (((training + rest) / ks) ** 2 / (ks - 1)).sum()
            return 2 * stats.t.sf(gain / variance**0.5, variance**2 / doubt)

        assert found["pvalue_twice_segments"] == pytest.approx(p(segments / 2, 2 * degrees, rest / 2, ks), rel=1e-6)
        fewer = segments - (rest / ks).sum() / 2
        assert found["pvalue_twice_runs"] == pytest.approx(p(fewer, degrees, rest, 2 * ks), rel=1e-6)

        error = np.hypot(*(n / (n - 1) * n**0.5 * own.std() for own in squares))
        reach = np.exp(stats.norm.ppf(0.975) * error / rest.sum())
        assert found["sd_rest_low"] ** 2 == pytest.approx(rest.sum() / reach)
        assert found["sd_rest_high"] ** 2 == pytest.approx(rest.sum() * reach)
        low, high = sum_of_variances(total[None], ks - 1.0, 0.025)
        assert found["sd_training_low"] ** 2 == pytest.approx(max(0, low[0] - rest.sum()))
        assert found["sd_training_high"] ** 2 == pytest.approx(high[0] - rest.sum())
        quantiles = stats.chi2.ppf([0.975, 0.025], degrees)
        low, high = degrees * segments / quantiles - (rest / ks).sum()
        assert [found["sd_test_set_low"] ** 2, found["sd_test_set_high"] ** 2] == pytest.approx([max(0, low), high])

    def test_runs_that_are_nested_vary_as_wholes_too(self):
        """The variance of sampling is that within units, and the runs' means are part of it."""
        rng = np.random.default_rng(12)
        a, b = drawn(rng, 3, 20, run=1.5, unit=1), drawn(rng, 4, 20, run=1, unit=1)
        found = compared(means(a=a, b=b), design="nested")
        sampling = a.var(axis=0, ddof=1).mean() / 20, b.var(axis=0, ddof=1).mean() / 20
        assert found["sd_rest"] ** 2 == pytest.approx(sum(sampling), rel=1e-9)
        of_means = (a.mean(0) - b.mean(0)).var(ddof=1) / 20
        assert found["sd_test_set"] ** 2 == pytest.approx(max(0, of_means - sampling[0] / 3 - sampling[1] / 4))

    def test_a_specified_standard_deviation_is_that_of_one_run(self):
        """The mean over k runs has the variance σ²/k, by the formula and in the bootstrap."""
        rng = np.random.default_rng(13)
        a, b = drawn(rng, 4, 200, unit=1), drawn(rng, 9, 200, unit=1)
        found = compared(means(a=a, b=b), training_sd=0.3, n_resamples=20_000)
        segments = (a.mean(0) - b.mean(0)).var(ddof=1) / 200
        error = (segments + 0.09 / 4 + 0.09 / 9) ** 0.5
        assert found["standard_error"] == pytest.approx(error)
        assert found["pvalue_bootstrap"] == pytest.approx(2 * stats.norm.sf(found["gain"] / error), abs=0.02)
        alone = compared(means(a=a[:1], b=b[:1]), training_sd=0.3)
        assert alone["standard_error"] == pytest.approx(((a[0] - b[0]).var(ddof=1) / 200 + 0.18) ** 0.5)
        wrong = (segments + 0.18) ** 0.5  # without √k
        assert abs(found["pvalue_bootstrap"] - 2 * stats.norm.sf(found["gain"] / wrong)) > 0.1

    def test_twice_as_many_have_the_standard_error_of_the_formula(self):
        rng = np.random.default_rng(4)
        found = compared(means(a=drawn(rng, 4, 30, run=1, unit=1), b=drawn(rng, 4, 30, run=1)))
        test_set, training, rest = (found[f"sd_{part}"] ** 2 for part in ("test_set", "training", "rest"))
        assert found["standard_error"] ** 2 == pytest.approx(test_set + training / 4 + rest / 4)
        assert found["error_twice_segments"] ** 2 == pytest.approx(test_set / 2 + training / 4 + rest / 8)
        assert found["error_twice_runs"] ** 2 == pytest.approx(test_set + training / 8 + rest / 8)

    def test_a_ratio_is_linearized(self):
        """F1 of runs: the standard error of many jackknifed pieces, and of the runs, added by hand."""
        rng = np.random.default_rng(5)
        gold = rng.integers(5, 30, size=400)
        runs = {}
        for name, rate in (("a", 0.8), ("b", 0.7)):
            predicted = np.maximum(1, gold + rng.integers(-2, 3, size=(3, 400)))
            matched = rng.binomial(np.minimum(gold, predicted), rate + 0.02 * rng.normal(size=(3, 1)))
            runs[name] = np.stack([matched, predicted, np.broadcast_to(gold, (3, 400))], axis=2)
        given = Statistics.from_arrays(runs, ["matched", "predicted", "gold"])
        found = pairsig.compare_methods(given, metric="f1").table.iloc[0]

        def score(counts):
            m, p, g = counts.sum(axis=-2)[..., :3].T
            return 200 * m / (p + g)

        assert found["gain"] == pytest.approx(score(runs["a"]).mean() - score(runs["b"]).mean())
        without = np.array(
            [
                score(np.delete(runs["a"], i, axis=1)).mean() - score(np.delete(runs["b"], i, axis=1)).mean()
                for i in range(400)
            ]
        )
        segments = 399 / 400 * ((without - without.mean()) ** 2).sum()
        parts = segments
        for counts in runs.values():
            left = np.array([score(np.delete(counts, i, axis=1)) for i in range(400)])
            left = left - left.mean(axis=1, keepdims=True)
            rest = 399 / 400 * ((left - left.mean(axis=0)) ** 2).sum() / 2
            parts += max(0, score(counts).var(ddof=1) - rest) / 3
        assert found["standard_error"] == pytest.approx(parts**0.5, rel=5e-3)

    def test_documents_are_units(self):
        rng = np.random.default_rng(6)
        a, b = drawn(rng, 3, 12, run=1), drawn(rng, 3, 12, run=1)
        documents = np.repeat(["d", "e", "f", "g"], 3)
        by_segment = replace(means(a=a, b=b), documents=documents)
        by_hand = means(a=a.reshape(3, 4, 3).mean(2), b=b.reshape(3, 4, 3).mean(2))
        found, expected = compared(by_segment, unit="document"), compared(by_hand)
        for column in ("gain", "standard_error", "pvalue_method", "sd_rest", "sd_test_set"):
            assert found[column] == pytest.approx(expected[column]), column

    def test_lower_is_better(self):
        rng = np.random.default_rng(7)
        counts = {name: np.stack([3 + rng.integers(0, 2, size=(2, 9))] * 4, axis=2) for name in "ab"}
        counts["b"][:, :, :2] -= 2  # fewer hits of the same links: the error rate is higher
        found = pairsig.compare_methods(
            Statistics.from_arrays(counts, ["sure_hits", "possible_hits", "predicted", "sure"]), metric="aer"
        ).table.iloc[0]
        assert found["better"] == "a"
        assert found["score_a"] < found["score_b"]


class TestLevelAndCoverage:
    """60 equal methods and all their pairs at a time: p < 0.05 on about 5 % of them, not on what outputs give."""

    N = 150

    def pairs(self, k, run, seed, **options):
        rng = np.random.default_rng([seed, k])
        given = means(
            **{f"m{i}": drawn(rng, k, self.N, run=run / np.sqrt(self.N), unit=1, rest=0.5) for i in range(60)}
        )
        return pairsig.compare_methods(given, metric="mean", **options).table

    @pytest.mark.parametrize(
        ("k", "run"), [(2, 3), *(pytest.param(*other, marks=pytest.mark.slow) for other in ((2, 0), (10, 3)))]
    )
    def test_crossed(self, k, run):
        found = pd.concat([self.pairs(k, run, seed) for seed in range(2)])
        # The true gain is 0, so the intervals hold it where p is above 0.05.
        assert ((found["ci_low"] > 0) == (found["pvalue_method"] < 0.05)).all()
        assert 0.02 < (found["pvalue_method"] < 0.05).mean() < 0.075
        outputs = 2 * stats.norm.sf(1.96 * np.sqrt((2 + 0.5 / k) / (2 + 0.5 / k + 2 * run**2 / k)))
        assert (found["pvalue_outputs"] < 0.05).mean() == pytest.approx(outputs, abs=0.04)
        truth = np.sqrt(2 * run**2 / self.N)
        covered = (found["sd_training_low"] <= truth + 1e-12) & (truth <= found["sd_training_high"] + 1e-12)
        assert covered.mean() > 0.9

    def test_nested(self):
        found = pd.concat([self.pairs(10, 0, seed, design="nested") for seed in range(2)])
        assert 0.03 < (found["pvalue_method"] < 0.05).mean() < 0.07

    @pytest.mark.parametrize(
        ("k", "low", "high"), [(2, 0.05, 0.2), pytest.param(10, 0.03, 0.09, marks=pytest.mark.slow)]
    )
    def test_the_bootstrap_of_few_runs_is_too_small(self, k, low, high):
        found = pd.concat([self.pairs(k, 3, seed, n_resamples=500) for seed in range(2)])
        assert low < (found["pvalue_bootstrap"] < 0.05).mean() < high


class TestBootstrap:
    def test_against_all_draws_of_a_small_example(self):
        a, b = np.array([[0.0, 1, 5], [3, 4, 9]]), np.array([[1.0, 1, 4], [0, 2, 2]])
        found = compared(means(a=a, b=b), n_resamples=200_000)
        draws = np.array(np.meshgrid(*[range(3)] * 3)).reshape(3, -1).T
        gains = (a.mean(0) - b.mean(0))[draws].mean(axis=1)
        runs = []
        for y in (a, b):
            share = max(0, 1 - apart(y).sum() / (1 * 2) / 3 / y.mean(1).var(ddof=1))
            runs.append((y.mean(1) - y.mean()) * np.sqrt(share))
        observed = a.mean() - b.mean()
        every = gains[:, None, None] + runs[0][:, None] - runs[1] - observed
        assert found["pvalue_bootstrap"] == pytest.approx((np.abs(every) >= observed - 1e-9).mean(), abs=0.004)

    def test_does_not_depend_on_threads(self):
        rng = np.random.default_rng(9)
        given = means(a=drawn(rng, 3, 20), b=drawn(rng, 2, 20), c=drawn(rng, 5, 20))
        one, two = (compared(given, n_resamples=5000, threads=threads) for threads in (1, 2))
        assert one["pvalue_bootstrap"] == two["pvalue_bootstrap"]


class TestNoVariance:
    """Data on which nothing varies are no evidence: without another assumption, every variance is possible."""

    @pytest.mark.parametrize(("design", "k"), [("crossed", 2), ("nested", 2), ("nested", 1)])
    @pytest.mark.parametrize("values", [np.zeros(3), np.array([0.1, 0.2, 0.3]), np.array([0.7, 0.1, 0.7, 0.4])])
    def test_the_same_difference_everywhere(self, design, k, values):
        data = means(a=np.tile(values + 0.1, (k, 1)), b=np.tile(values, (k, 1)))
        found = compared(data, design=design, n_resamples=100)
        assert found["gain"] == pytest.approx(0.1)
        assert found[["pvalue_outputs", "pvalue_method", "pvalue_bootstrap", "pvalue_holm"]].tolist() == [1, 1, 1, 1]
        assert np.isnan(found[["ci_low", "ci_high"]].astype(float)).all()
        assert "the same on every segment, which does not show how much it varies" in found["doubt"]

    def test_with_the_smallest_variance_there_is_evidence(self):
        """One segment of 40 differs by another amount: the paired t-test with the standard error by hand."""
        a = np.full((1, 40), 0.3)
        a[0, 0] = 0.4
        found = compared(means(a=a, b=np.full((1, 40), 0.2)), design="nested")
        assert found["standard_error"] == pytest.approx(0.1 / 40)
        assert found["pvalue_method"] < 0.05
        assert found["ci_low"] > 0

    def test_no_part_of_the_standard_deviation_exceeds_the_largest_gain(self):
        """With one degree of freedom, the end of the training's interval would be 32 times its estimate."""
        passed = np.random.default_rng(4).integers(0, 2, (2, 200, 1))
        found = compared(means(a=passed[:, :, 0], b=1 - passed[:, :, 0]), design="crossed")
        assert found["sd_training_high"] <= 1.0

    def test_sentence_and_table_have_no_interval(self):
        found = pairsig.compare_methods(means(a=np.ones((2, 3)), b=np.zeros((2, 3))), metric="mean")
        said = sentences.of_methods(found.table)
        assert said.startswith("a and b are not significantly different: a is ahead by 1.00 on average (over runs and")
        assert "p = 1, 2 and 2 runs, n = 3" in said
        assert "nan" not in said + str(found)


EQUAL = {"a": np.ones((2, 4)), "b": np.ones((2, 4))}


class TestInput:
    def test_the_same_outputs(self):
        y = np.ones((2, 5)) * np.arange(5)
        found = compared(means(a=y, b=y), n_resamples=100)
        assert (found["gain"], found["better"]) == (0, "")
        assert found[["pvalue_outputs", "pvalue_method", "pvalue_bootstrap"]].tolist() == [1, 1, 1]

    @pytest.mark.parametrize(
        ("given", "options", "message"),
        [
            ({"a": np.ones((2, 4)), "b": np.ones((1, 4))}, {}, "system b has one run, expected at least 2"),
            ({"a": np.ones((2, 4))}, {}, "found runs of one method only, a, expected at least two"),
            ({"a": np.ones((2, 1)), "b": np.ones((2, 1))}, {}, "a test set of one segment, expected at least two"),
            (EQUAL, {"training_sd": -1}, "training -1, expected a number, 0 or more"),
            (EQUAL, {"training_sd": np.nan}, "training nan, expected a number"),
            (EQUAL, {"training_sd": 1, "design": "nested"}, "of training for nested runs"),
            (EQUAL, {"design": "x"}, "expected one of crossed, nested"),
            (EQUAL, {"unit": "document"}, "found no documents for the unit document"),
            (EQUAL, {"baseline": "c"}, "unknown baseline 'c', expected one of a, b"),
            ({"a": np.ones((2, 4)), "b": np.full((2, 4), np.nan)}, {}, "system b-1, segment 1"),
        ],
    )
    def test_refused(self, given, options, message):
        with pytest.raises(InputError, match=message):
            compared(means(**given), **options)

    def test_runs_that_are_not_nested_are_reported(self):
        rng = np.random.default_rng(10)
        given = means(a=drawn(rng, 5, 100, run=2), b=drawn(rng, 5, 100))
        y = given.counts[:5, :, 0]
        rest = y.var(axis=0, ddof=1).sum() / 100**2
        drift = stats.chi2.sf(4 * y.mean(axis=1).var(ddof=1) / rest, 4)
        message = f"runs of a differ more than they would if each segment were sampled anew (p = {drift:.1g})"
        assert message in compared(given, design="nested")["doubt"]
        assert "the runs of b" not in compared(given, design="nested")["doubt"]


@pytest.mark.parametrize(("k", "n", "runs", "units"), [(2, 50, True, False), (3, 49, False, True)])
def test_few_runs_and_few_units_are_reported(k, n, runs, units):
    rng = np.random.default_rng(15)
    doubt = compared(means(a=drawn(rng, k, n), b=drawn(rng, k, n)))["doubt"]
    assert ("runs, too few to estimate the training variance well" in doubt) == runs
    assert (f"{n} segments are too few" in doubt) == units


def test_embedded_systems_are_runs_as_they_are():
    given = statistics.read("resources/statistics/hansards-110.parquet").numbered()
    found = pairsig.compare_methods(given).table
    names = set(given.methods)
    assert len(found) == len(names) * (len(names) - 1) / 2
    # Scores by hand: the mean of the runs' own.
    name = found["method_a"][0]
    rows = [row for row, method in enumerate(given.methods) if method == name]
    totals = given.of(registry.metric("aer"))[rows].sum(axis=1)
    hits, possible, predicted, sure = totals.T
    assert found["score_a"][0] == pytest.approx((100 * (1 - (hits + possible) / (predicted + sure))).mean())


class TestCommandLine:
    @pytest.fixture
    def files(self, tmp_path, monkeypatch):
        rng = np.random.default_rng(11)
        monkeypatch.chdir(tmp_path)
        long = ["system,run,id,passed"]
        for name, k, rate in (("base", 3, 0.5), ("ours", 2, 0.6)):
            for run in range(1, k + 1):
                values = (rng.random(80) < rate).astype(int)
                rows = [f"q{i},{value}" for i, value in enumerate(values)]
                (tmp_path / f"{name}{run}.csv").write_text("\n".join(["id,passed", *rows]) + "\n")
                long += [f"{name},{run},{row}" for row in rows]
        (tmp_path / "all.csv").write_text("\n".join(long) + "\n")

    def run(self, capsys, *words):
        status = cli.main(["compare", *words, "--reader", "table", "--n-resamples", "500"])
        return status, capsys.readouterr()

    RUNS = ("--runs", "base1.csv", "base2.csv", "base3.csv", "--runs", "ours1.csv", "ours2.csv")

    def test_files_of_runs_and_one_table_of_all(self, files, capsys):
        by_file, by_table = (self.run(capsys, *words, "--format", "json") for words in (self.RUNS, ("all.csv",)))
        assert by_file[1].out == by_table[1].out
        (row,) = json.loads(by_file[1].out)["rows"]
        assert (row["method_a"], row["n_runs_a"], row["method_b"], row["n_runs_b"]) == ("base", 3, "ours", 2)

    def test_both_p_values_and_what_they_mean(self, files, capsys):
        status, printed = self.run(capsys, *self.RUNS)
        assert status == 0
        for words in ("p (outputs)", "p (method)", "run again", "with twice the runs", "ours has 2 runs"):
            assert words in printed.out

    def test_methods_of_statistics(self, files, tmp_path):
        given = Statistics.from_table(
            pd.read_csv("all.csv").rename(columns={"id": "segment", "passed": "value"}), dataset="d"
        )
        statistics.write(given, "d.parquet")
        assert cli.main(["methods", "d.parquet", "--metric", "mean", "--output", "m.tsv"]) == 0
        found = pd.read_csv("m.tsv", sep="\t")
        expected = pairsig.compare_methods(given, metric="mean").table
        assert found["pvalue_method"].tolist() == expected["pvalue_method"].tolist()

    def test_dashes_before_files_end_the_options(self, files, capsys):
        assert cli.main(["compare", "--reader", "table", "--test", "exact", "--", "base1.csv", "ours1.csv"]) == 0
        plain = capsys.readouterr().out
        assert cli.main(["compare", "base1.csv", "ours1.csv", "--reader", "table", "--test", "exact"]) == 0
        assert plain == capsys.readouterr().out

    def test_the_cheapest_number_of_answers_is_said(self, files, capsys):
        status, printed = self.run(capsys, *self.RUNS, "--item-cost", "20", "--design", "nested")
        assert status == 0
        assert "if an item costs as much as 20 answers, " in printed.out

    def test_one_run_each_with_a_specified_variance(self, files, capsys):
        status, printed = self.run(capsys, "base1.csv", "ours1.csv", "--training-sd", "0.1")
        assert status == 0
        assert "the training variance was specified" in printed.out


@pytest.mark.parametrize("k", [[2, 2], [10] * 9, [3, 3, 3, 5, 6, 6, 10, 10]])
def test_the_interval_of_a_sum_of_variances(k):
    """Graybill and Wang's, of variances that are a hundredfold apart."""
    rng = np.random.default_rng(12)
    degrees = np.array(k) - 1.0
    truth = np.geomspace(1, 100, len(k))
    found = truth * rng.chisquare(degrees, size=(4000, len(k))) / degrees
    low, high = sum_of_variances(found, np.broadcast_to(degrees, found.shape), 0.025)
    assert 0.94 < ((low <= truth.sum()) & (truth.sum() <= high)).mean() < 0.99


def test_outputs_have_runs_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(13)
    words = np.array(["a", "b", "c", "d"])
    lines = [" ".join(words[rng.integers(0, 4, 6)]) for _ in range(60)]
    (tmp_path / "ref").write_text("\n".join(lines) + "\n")
    for name, share in (("x1", 0.2), ("x2", 0.25), ("y1", 0.3), ("y2", 0.3)):
        noisy = [" ".join(w if rng.random() > share else "e" for w in line.split()) for line in lines]
        (tmp_path / name).write_text("\n".join(noisy) + "\n")
    words = ["compare", "--runs", "x1", "x2", "--runs", "y1", "y2", "--reader", "text", "--reference", "ref"]
    assert cli.main([*words, "--n-resamples", "100", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["metric"], row["method_a"], row["method_b"], row["n_runs_a"]) == ("bleu", "x", "y", 2)


def test_the_cheapest_number_of_samples():
    """By trying: of all numbers of answers to an item the one that buys most for the money."""
    rng = np.random.default_rng(21)
    for _ in range(200):
        test_set, sampling = rng.uniform(0.1, 1, 2).tolist()
        cost = float(rng.choice([0, 0.5, 3, 40, 1000]))
        k = np.arange(1, 2000)
        product = (test_set**2 + sampling**2 / k) * (cost + k)
        assert product[int(cheapest(test_set, sampling, cost)) - 1] == pytest.approx(product.min())
    assert cheapest(0.0, 1.0, 5.0) == np.inf
    assert cheapest(0.0, 0.0, 5.0) == cheapest(0.0, 1.0, 0.0) == 1


def test_two_segments_are_enough():
    a, b = np.random.default_rng(8).normal(size=(2, 3, 2))
    assert np.isfinite(compared(means(a=a, b=b))["gain"])


def test_training_without_variance_may_be_specified():
    """One run each, and σ = 0: the method is its outputs."""
    rng = np.random.default_rng(6)
    systems = {"a": rng.random((1, 40, 1)), "b": rng.random((1, 40, 1)) + 0.1}
    table = pairsig.compare_methods(systems, training_sd=0.0).table
    assert table["pvalue_method"].item() == pytest.approx(table["pvalue_outputs"].item(), abs=0.01)
