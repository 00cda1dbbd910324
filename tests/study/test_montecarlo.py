"""Monte Carlo against exact: simulated systems beside the paper's, closed forms beside enumeration."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm, truncnorm
from scipy.stats import t as student

from pairsig.io.errors import InputError
from study.reproduction import montecarlo
from study.reproduction.montecarlo import approximate

TABLE_2 = {250: 0.0512, 500: 0.0189, 1000: 0.0153, 2000: 0.0202, 4000: 0.0170, 8000: 0.0360}


@pytest.fixture(scope="module")
def error():
    """A small run: two sizes, accuracy and F1."""
    return approximate([25, 250, 1000], n_simulated=16, n_pairs=8, n_runs=25, factors={60: 0.9, 120: 0.94})


class TestSystems:
    def test_draws_are_the_papers_normal_ones_truncated(self):
        rng = np.random.default_rng(1)
        for (mean, spread), highest in ((montecarlo.ACCURACY, 1.0), (montecarlo.LENGTH, np.inf)):
            drawn = montecarlo._truncated(rng, mean, spread, highest, 200_000)
            variance_model = truncnorm((0 - mean) / spread, (highest - mean) / spread, mean, spread)
            assert drawn.mean() == pytest.approx(variance_model.mean(), abs=4 * variance_model.std() / 200_000**0.5)
            assert drawn.std() == pytest.approx(variance_model.std(), rel=0.01)
            assert 0 < drawn.min() <= drawn.max() <= highest
        # Before they are truncated they have the moments of Table 1: the mode is the paper's mean.
        heights, edges = np.histogram(montecarlo._truncated(rng, *montecarlo.LENGTH, np.inf, 200_000), bins=12)
        assert edges[heights.argmax()] - 1 < 12.08 < edges[heights.argmax() + 1] + 1

    @pytest.mark.parametrize("n", TABLE_2)
    def test_p_values_are_those_of_table_2(self, n):
        """By the normal limit: swaps leave Σ ±d with a variance of Σ d²."""
        p = []
        for seed in range(400):
            a, b = (own[:, 0] for own in montecarlo.systems(n, montecarlo.FACTORS[n], seed=seed))
            p.append(2 * norm.sf(abs((a - b).sum()) / ((a - b) ** 2).sum() ** 0.5))
        assert 1 / 2 < np.mean(p) / TABLE_2[n] < 2
        assert montecarlo.FACTORS.keys() == TABLE_2.keys()

    @pytest.mark.parametrize("metric", montecarlo.METRICS)
    def test_counts_are_possible_and_repeatable(self, metric):
        a, b = montecarlo.systems(2000, 0.9, metric, seed=3)
        for one in (a, b):
            assert (one >= 0).all()
            assert (one[:, :1] <= one[:, 1:]).all()
        np.testing.assert_array_equal(a[:, -1], b[:, -1])
        assert a[:, 0].sum() > b[:, 0].sum()
        np.testing.assert_array_equal(a, montecarlo.systems(2000, 0.5, metric, seed=3)[0])
        assert (a != montecarlo.systems(2000, 0.9, metric, seed=4)[0]).any()
        if metric == "f1":
            assert a[:, 1].sum() == pytest.approx(a[:, 2].sum(), rel=0.02)


@pytest.mark.parametrize("k", [1, 2, 7, 100, 2000])
@pytest.mark.parametrize("p", [1e-9, 1e-4, 0.001, 0.01, 0.02, 0.1, 0.25, 0.5, 0.9, 1.0])
def test_the_closed_form_is_the_sum_over_the_binomial(p, k):
    counts = np.arange(k + 1)
    by_sum = (binom.pmf(counts, k, p) * np.abs((counts + 1) / (k + 1) - p)).sum() / p
    assert montecarlo.mean_error(p, k) == pytest.approx(by_sum, rel=1e-9, abs=1e-12)


class TestApproximate:
    def test_errors_are_those_of_the_closed_form(self, error):
        assert len(error) == 2 * 2 * 3
        # Student's interval over 25 runs, twice as wide: 12 of 12 but for some 1 in 2,000.
        margin = error["error_high"] - error["error"]
        assert (np.abs(error["error"] - error["closed_form"]) < 2 * margin).all()
        assert (margin < 0.2 * error["error"]).all()

    def test_errors_fall_and_settings_are_reported(self, error):
        for _, rows in error.groupby(["metric", "n_segments"]):
            assert rows["n_resamples"].tolist() == [25, 250, 1000]
            assert rows["error"].is_monotonic_decreasing
        assert set(error["n_pairs"]) == {8}
        assert error.groupby("n_segments")["factor"].first().to_dict() == {60: 0.9, 120: 0.94}

    def test_the_same_for_any_threads_and_other_numbers_of_samples(self, error):
        few = approximate(
            [1000, 250], n_simulated=16, n_pairs=8, n_runs=25, factors={60: 0.9}, metrics=["f1"], threads=1
        )
        mine = error.query("metric == 'f1' and n_segments == 60 and n_resamples >= 250")
        pd.testing.assert_frame_equal(few, mine.reset_index(drop=True), check_exact=True)

    @pytest.mark.parametrize("n_runs", [2, 5])
    def test_intervals_are_students(self, n_runs):
        """Runs follow each other in the same stream: each is known from the means of the first ones."""
        options = {"n_simulated": 12, "n_pairs": 3, "factors": {250: 0.95}, "metrics": ["accuracy"]}
        rows = [approximate([50], n_runs=n, **options).iloc[0] for n in range(1, n_runs + 1)]
        errors = np.diff([0.0, *(n * row["error"] for n, row in enumerate(rows, start=1))])
        low, high = student(n_runs - 1, errors.mean(), errors.std(ddof=1) / np.sqrt(n_runs)).interval(0.95)
        assert rows[-1]["error_high"] == pytest.approx(high, rel=1e-9)
        assert rows[-1]["error_low"] == pytest.approx(max(low, 0.0), rel=1e-9)
        assert (low > 0) == (n_runs == 5)

    def test_no_pair_in_the_range_is_refused(self):
        with pytest.raises(InputError, match="increase montecarlo: n_simulated"):
            approximate([10], n_simulated=2, factors={250: 0.5})


def test_race_times_every_test_once_a_size():
    found = montecarlo.race([500, 250], n_resamples=(20, 400), n_repeats=2)
    assert len(found) == 2 * 2 * 3
    assert found["n_segments"].tolist() == [250] * 3 + [500] * 3 + [250] * 3 + [500] * 3
    assert found["test"].tolist() == ["exact", "randomization", "randomization"] * 4
    assert (found["n_resamples"].isna() == (found["test"] == "exact")).all()
    assert (found["seconds_low"] > 0).all()
    assert (found["seconds_low"] <= found["seconds"]).all()
    assert (found["seconds"] <= found["seconds_high"]).all()
    assert set(found["n_repeats"]) == {2}
    papers = montecarlo.race([250], n_repeats=1, metrics=["accuracy"])["n_resamples"].dropna()
    assert papers.tolist() == [20_000, 40_000]
