"""Thresholds, size scaling, calibration and check against hand-made tables, brute force and simulation."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logit
from scipy.stats import binom, binomtest, norm
from scipy.stats import t as student

import simulate
from pairsig import InputError
from pairsig.io.tables import frame
from pairsig.metrics import registry
from study.analysis.over_systems import members
from study.analysis.pairs import Window, quantile_interval, weighted_quantile
from study.reproduction.calibrate import calibrate, table_1
from study.reproduction.check import _recomputed, check
from study.reproduction.claims import band, other_decision
from study.reproduction.describe import SYSTEMS, describe
from study.reproduction.thresholds import size_scaling, thresholds
from study.reproduction.validate import validate
from study.training.omission import Omission


def message(*words: str) -> str:
    """A pattern for a message in which all words occur, in this order."""
    return ".*".join(re.escape(word) for word in words)


def pairs(gains, pvalues, *, systems=None, **columns) -> pd.DataFrame:
    """Comparisons with these gains and p-values; every pair has two systems of its own unless `systems` says."""
    n = len(gains)
    a, b = zip(*systems, strict=True) if systems else ([f"a{i}" for i in range(n)], [f"b{i}" for i in range(n)])
    table = {
        "dataset": "d", "test_set": "whole", "derived": "whole", "metric": "f1", "test": "bootstrap",
        "system_a": a, "system_b": b,
        "same_group": False, "kind_a": "", "kind_b": "", "n_segments": 1000, "gain": np.asarray(gains, float),
        "standard_error": np.asarray(gains, float) / 1.6448536269514722, "correlation": 0.5,
        "pvalue": np.nan, "pvalue_one_sided": np.asarray(pvalues, float), "number": 0,
        "pvalue_low": np.asarray(pvalues, float), "pvalue_high": np.asarray(pvalues, float),
    }  # fmt: skip
    return pd.DataFrame(table | columns)


def named(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """A table as it is read from a file."""
    table.attrs["source"] = source
    return table


INITIAL = {"test_set": "first-100", "derived": "initial"}
CRITICAL = ["critical_difference", "critical_difference_low", "critical_difference_high"]


def only(table: pd.DataFrame, **values) -> pd.Series:
    """The one row with these values."""
    for column, value in values.items():
        table = table[table[column] == value]
    assert len(table) == 1, f"{len(table)} rows"
    return table.iloc[0]


def ring(n: int) -> list[tuple[str, str]]:
    """n pairs of n systems, each in two."""
    return [(f"s{i}", f"s{(i + 1) % n}") for i in range(n)]


def every_pair(n: int) -> list[tuple[str, str]]:
    """All pairs of n systems."""
    return [(f"s{i}", f"s{j}") for i in range(n) for j in range(i)]


def of_all(comparisons: pd.DataFrame, **settings) -> pd.Series:
    """The thresholds of all pairs."""
    return only(thresholds(comparisons, **settings), subset="all")


class TestThresholds:
    systems = every_pair(9)
    errors = np.exp(np.random.default_rng(5).normal(0, 0.3, len(systems)))

    def test_by_hand(self):
        # 20 gains in the window, two of them at its ends: the 95th percentile is the 19th. Larger ones lie outside.
        gains = [*np.arange(1, 21) / 10, 7, 8, 9]
        p = [0.05] * 18 + [0.04, 0.06, 0.0399, 0.0601, 1.0]
        table = pairs(gains, p)
        table.loc[20:, "standard_error"] = 100.0
        row = of_all(table)
        assert (row["n_all"], row["n_systems"], row["n_pairs"], row["n_segments"]) == (23, 46, 20, 1000)
        assert (row["printed"], row["verdict"]) == (1.9, "estimated")
        # Gains of 1.645 standard errors have equal weights; 95 % are below the middle of the 19th and 20th.
        assert row["threshold"] == pytest.approx(np.exp((np.log(1.9) + np.log(2.0)) / 2))
        assert row["critical_difference"] == pytest.approx(1.2)  # the 12th of 23, whatever the p-values are
        assert row["critical_difference_low"] < row["critical_difference"] < row["critical_difference_high"]
        assert row["low"] < row["threshold"] < row["high"]

    def test_the_window_is_a_setting(self):
        table = pairs(np.arange(1, 25), [0.03] * 12 + [0.05] * 12)
        table[["pvalue_low", "pvalue_high"]] = [[0.03, 0.03]] * 12 + [[0.05, 0.05]] * 12
        row = of_all(table, window=Window(0.03, 0.05))
        assert row[["p_low", "p_high", "n_pairs", "n_pairs_low", "n_pairs_high"]].tolist() == [0.03, 0.05, 24, 24, 24]
        narrow = of_all(table)
        assert narrow[["p_low", "p_high", "n_pairs", "n_pairs_low", "n_pairs_high"]].tolist() == [
            0.04,
            0.06,
            12,
            12,
            12,
        ]
        assert (row["printed"], narrow["printed"]) == (23, 24)
        estimates = ["critical_difference", "threshold", "low", "high"]  # independent of the window
        assert row[estimates].tolist() == narrow[estimates].tolist()

    def test_pairs_that_are_in_the_window_for_certain_or_perhaps(self):
        p = np.repeat([0.05, 0.041, 0.059, 0.035, 0.065, 0.02, 0.08], [10, 1, 1, 1, 1, 1, 1])
        table = pairs(np.arange(1, 17), p)
        table[["pvalue_low", "pvalue_high"]] = np.stack([p - 0.006, p + 0.006], axis=1)
        row = of_all(table)
        assert row[["n_pairs", "n_pairs_low", "n_pairs_high"]].tolist() == [12, 10, 14]
        # The 95th percentile by the definitions with the smallest and the largest value, over 10 to 14 pairs.
        assert (row["printed"], row["printed_low"], row["printed_high"]) == (12, 9.5, 14)

    @settings(deadline=None, max_examples=8)
    @given(
        st.lists(st.floats(0.01, 50, allow_nan=False), min_size=10, max_size=60),
        st.sampled_from([1.0, 25.0, 50.0, 90.0, 95.0, 99.0, 100.0]),
    )
    def test_percentiles_against_numpy(self, gains, percentile):
        row = of_all(pairs(gains, [0.05] * len(gains)), percentile=percentile)
        assert row["printed"] == np.percentile(gains, percentile, method="inverted_cdf")
        log = np.log(gains)
        assert row["critical_difference"] == pytest.approx(np.exp(np.median(log)))
        assert row["threshold"] == pytest.approx(np.exp(np.percentile(log, percentile, method="hazen")))

    def test_the_reach_of_a_threshold_is_the_jackknife_of_the_mean_and_spread(self):
        """Twice of it above; at least it below, where the interval of the quantile may reach further."""
        errors, systems = self.errors, self.systems
        row = of_all(pairs(errors, [0.05] * 36, systems=systems))

        def high(without=""):
            logs = [np.log(e) for e, pair in zip(errors, systems, strict=True) if without not in pair]
            return np.mean(logs) + 1.6448536269514722 * np.std(logs)

        left = np.array([high(f"s{k}") for k in range(9)])
        reach = np.log(row["high"] / row["threshold"]) / 2
        _, low, _ = quantile_interval(np.log(errors), members(*np.array(systems).T), 0.95)
        assert np.log(row["low"]) == pytest.approx(min(low, np.log(row["threshold"]) - reach))
        ratio = reach / np.sqrt(8 / 9 * ((left - left.mean()) ** 2).sum())
        assert student.ppf(0.975, 8) < ratio < student.ppf(0.975, 2)

    def test_too_few_says_so_and_invents_nothing(self):
        table = pairs(np.arange(1, 10), [0.05] * 9)
        row, numbers = of_all(table), ["threshold", "low", "high", "printed"]
        assert (row["n_pairs"], row["verdict"]) == (9, "too few")
        assert row[[*CRITICAL, *numbers]].isna().all()
        row = of_all(pairs(np.arange(1, 11), [0.5] * 10))
        assert (row["n_pairs"], row["verdict"]) == (0, "critical difference only")
        assert row[numbers].isna().all()
        assert row["critical_difference"] == pytest.approx(np.sqrt(30))

    def test_groups_and_kinds_are_distinguished(self):
        kinds = [("llm", "online"), ("online", "llm"), ("llm", "llm"), ("", "llm")] * 5
        table = pairs(
            np.arange(1, 21), [0.05] * 20, same_group=[True] * 15 + [False] * 5,
            kind_a=[a for a, _ in kinds], kind_b=[b for _, b in kinds],
        )  # fmt: skip
        found = thresholds(table).set_index("subset")
        assert found["n_pairs"].to_dict() == {
            "all": 20, "same group": 15, "different group": 5, "llm / llm": 5, "llm / online": 10
        }  # fmt: skip
        printed = found["printed"].dropna().to_dict()  # five pairs are too few
        assert printed == {"all": 19, "same group": 15, "llm / online": 18}

    def test_pairs_of_full_sets_are_a_series_of_their_own(self):
        """Four systems of two base models: six pairs, of which one is of full sets and of different groups."""
        systems = ["hmm-full-1", "hmm-half-1", "my-itg-full-2", "my-itg-full"]
        drawn = list(combinations(range(4), 2))
        table = pairs(
            np.arange(1, 7), [0.05] * 6, systems=[(systems[a], systems[b]) for a, b in drawn],
            same_group=[b - a == 1 and a != 1 for a, b in drawn], kind_a="synthetic", kind_b="synthetic",
        )  # fmt: skip
        found = thresholds(table).set_index("subset")["n_pairs"].to_dict()
        assert found == {
            "all": 6, "same group": 2, "different group": 4,
            "full sets": 1, "full sets, same group": 0, "full sets, different group": 1,
        }  # fmt: skip
        for names in (["hmm-full-1", "hmm-full-2"], ["hmm-half-1", "hmm-half-2"]):  # of one size: no series
            assert len(thresholds(pairs([1], [0.05], systems=[names], kind_a="synthetic"))) == 3
            assert len(thresholds(table.assign(kind_a="submission", kind_b="submission"))) == 3

    def test_no_comparisons_and_the_same_ones_twice(self):
        table = pairs([1.0, 2.0], [0.05, 0.05])
        with pytest.raises(InputError, match="no comparisons"):
            thresholds(table.iloc[:0])
        with pytest.raises(InputError, match=message("dataset d, test set whole", "a0 and b0 again")):
            thresholds(pd.concat([table, table.iloc[:1]]))
        both = pd.concat([table, table.assign(test="randomization")])
        assert thresholds(both)["test"].tolist() == ["bootstrap"] * 3 + ["randomization"] * 3


@given(st.data())
def test_weighted_quantile_is_between_the_middles_of_the_weights(data):
    values = np.array(data.draw(st.lists(st.integers(0, 6).map(float), max_size=12)))
    weights = data.draw(st.lists(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)), min_size=1))
    share = data.draw(st.floats(0.01, 0.99))
    order = np.argsort(values, kind="stable")
    for row, found in zip(np.array(weights, float), weighted_quantile(values, np.array(weights, float), share),
                          strict=True):  # fmt: skip
        some, own = row[order] > 0, row[order]
        middles = own[some].cumsum() - own[some] / 2
        expected = np.interp(share * own.sum(), middles, values[order][some]) if some.any() else np.nan
        assert found == pytest.approx(expected, nan_ok=True)


class TestSizeLaw:
    def sizes(self, errors: dict[int, np.ndarray], **columns) -> pd.DataFrame:
        """Initial segments with these standard errors, pairs in a ring of systems; which is better may change."""
        tables = []
        for number, (n, values) in enumerate(errors.items()):
            systems = [pair[:: 1 if number % 2 else -1] for pair in ring(len(values))]
            own = {"test_set": f"first-{n}", "derived": "initial", "n_segments": n, "standard_error": values}
            tables.append(pairs(values, [0.5] * len(values), systems=systems, **(own | columns)))
        return pd.concat(tables)

    @settings(deadline=None, max_examples=8)
    @given(st.floats(0.1, 100), st.floats(-2, 1), st.integers(3, 7), st.integers(8, 30))
    def test_recovers_the_coefficient_and_the_exponent(self, coefficient, exponent, n_sizes, n_pairs):
        rng = np.random.default_rng(n_pairs)
        own = np.exp(rng.normal(0, 0.5, n_pairs))
        own /= np.exp(np.median(np.log(own)))
        table = self.sizes({100 * 2**k: coefficient * (100.0 * 2**k) ** exponent * own for k in range(n_sizes)})
        row = only(size_scaling(table), subset="all")
        assert row["exponent"] == pytest.approx(exponent, abs=1e-9)
        assert row["coefficient"] == pytest.approx(1.6448536269514722 * coefficient, rel=1e-8)
        assert row["exponent_high"] - row["exponent_low"] < 1e-8  # every pair has the same curve
        assert (row["n_sizes"], row["n_low"], row["n_all"]) == (n_sizes, 100, n_pairs)

    def test_only_pairs_that_are_there_at_every_size_count(self):
        """A pair that is missing, or does not differ, at one size would make another set of pairs of it."""
        own = np.linspace(1, 3, 12)
        table = self.sizes({n: own / np.sqrt(n) for n in (100, 200, 400)})
        extreme = pairs([900.0], [0.5], systems=[("s3", "s9")], test_set="first-100", derived="initial", n_segments=100)
        equal = [pairs([0.0 if n == 400 else 70.0], [1.0], systems=[("s2", "s7")], test_set=f"first-{n}",
                       derived="initial", n_segments=n) for n in (100, 200, 400)]  # fmt: skip
        row = only(size_scaling(pd.concat([table, extreme, *equal])), subset="all")
        assert (row["n_all"], row["exponent"]) == (12, pytest.approx(-0.5))


def sheet(*rows) -> pd.DataFrame:
    columns = ["calibration", "distance", "on_dataset", "on_test_set", "against_dataset", "against_test_set"]
    return pd.DataFrame(list(rows), columns=columns)


NEAR = ("t", "near", "x", "whole", "y", "whole")


def rates(comparisons: pd.DataFrame, sheet: pd.DataFrame) -> pd.DataFrame:
    """The first table of `calibrate`."""
    return calibrate(comparisons, sheet)


class TestCalibration:
    # On `x`: five pairs. On `y` the first and the fourth hold, the second does not, the third is a tie, the fifth
    # is missing; the pairs come in another order there.
    on = pairs(
        [1.0, 2.0, 3.0, 4.0, 5.0], [0.05, 0.05, 0.05, 0.3, 0.05], dataset="x",
        systems=[("a", "b"), ("c", "a"), ("b", "c"), ("d", "a"), ("d", "b")], standard_error=1.0,
    )  # fmt: skip
    against = pairs(
        [0.5, 1.0, 0.0, 9.0], [0.2] * 4, dataset="y",
        systems=[("d", "a"), ("a", "c"), ("c", "b"), ("a", "b")], standard_error=1.0,
    )  # fmt: skip
    both = pd.concat([on, against])

    def test_by_hand(self):
        found = rates(self.both, sheet(NEAR))
        other = calibrate(self.both, sheet(NEAR), Window(0.05, 0.3)).reset_index(drop=True)
        assert other.iloc[:-1].equals(found)  # another window adds a row, and leaves the paper's
        assert other.iloc[-1][["p_low", "p_high", "n_pairs", "n_replicated"]].tolist() == [0.05, 0.3, 3, 2]
        window = only(found, p_low=0.04, p_high=0.06)
        assert (window["n_pairs"], window["n_replicated"], window["share"]) == (2, 1, 0.5)
        assert (window["n_systems"], window["n_test_sets"]) == (4, 1)
        assert 0 <= window["share_low"] < 0.05 < 0.95 < window["share_high"] <= 1
        assert only(found, p_low=0.04, p_high=0.08)["n_pairs"] == 2
        row = only(found, p_low=0.16)
        assert (row["n_pairs"], row["n_replicated"]) == (1, 1)
        ranges = found[found["p_high"] != 0.06]
        assert ranges["n_pairs"].sum() == 3
        assert (ranges["p_low"].to_numpy()[1:] == ranges["p_high"].to_numpy()[:-1]).all()
        empty = only(found, p_low=0.0)
        assert (empty["n_pairs"], empty["n_replicated"]) == (0, 0)
        assert np.isnan(
            empty[["share", "share_low", "share_high", "difference", "difference_low"]].to_numpy(float)
        ).all()
        assert 0 < empty["expected"] <= 1

    def test_spread_between_test_sets_beyond_that_of_independent_pairs(self):
        """Three pairs of test sets with 20, 30 and 50 pairs of systems, of which all, half and a fifth replicate."""
        tables = []
        for name, n, right in (("a", 20, 20), ("b", 30, 15), ("c", 50, 10)):
            gains = np.where(np.arange(n) < right, 1.0, -1.0)
            tables += [
                pairs(np.ones(n), [0.05] * n, dataset=f"on-{name}"),
                pairs(np.ones(n), [0.2] * n, dataset=f"to-{name}").assign(gain=gains),
            ]
        rows = [("t", "near", f"on-{name}", "whole", f"to-{name}", "whole") for name in "abc"]
        row = only(rates(pd.concat(tables), sheet(*rows)), p_low=0.04, p_high=0.06)
        share = 45 / 100
        spread = (20 * (1 - share) ** 2 + 30 * (0.5 - share) ** 2 + 50 * (0.2 - share) ** 2) / 100
        assert row["between"] == pytest.approx(np.sqrt(spread - share * (1 - share) * 3 / 100))
        assert np.isnan(only(rates(self.both, sheet(NEAR)), p_low=0.04, p_high=0.06)["between"])

    def test_ranges_are_closed_below_and_the_last_one_above(self):
        p = [0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.16, 0.32, 1.0]
        on = pairs(np.ones(12), p, dataset="x")
        found = rates(pd.concat([on, on.assign(dataset="y")]), sheet(NEAR)).set_index("p_low")
        assert found["n_pairs"].tolist() == [1, 1, 1, 1, 1, 1, 2, 1, 1, 2, 2]
        assert (found["n_replicated"] == found["n_pairs"]).all()

    def test_expected_and_difference_stand_beside_the_share(self):
        """Two test sets of one population, by drawing them: 20 pairs with a gain of their own, two million times."""
        rng = np.random.default_rng(8)
        gains_on, gains_against = rng.normal(2, 1.5, 20), rng.normal(2, 1.5, 20)
        errors_on, errors_against = rng.uniform(0.5, 2, (2, 20))
        p = norm.sf(gains_on / errors_on).clip(max=0.5)
        on = pairs(gains_on, p, dataset="x", standard_error=errors_on)
        against = pairs(gains_against, p, dataset="y", standard_error=errors_against)
        row = only(rates(pd.concat([on, against]), sheet(NEAR)), p_low=0.02)
        weights = errors_against**2 / (errors_on**2 + errors_against**2)
        mean = weights * gains_on + (1 - weights) * gains_against
        first = mean + errors_on * np.sqrt(1 - weights) * rng.standard_normal((100_000, 20))
        second = (mean - weights * first) / (1 - weights)
        z = np.abs(first) / errors_on
        inside = (z <= norm.isf(0.02)) & (z > norm.isf(0.04))
        replicated = (first > 0) == (second > 0)
        assert row["expected"] == pytest.approx(replicated[inside].mean(), abs=0.003)
        assert row["expected_low"] < row["expected"] < row["expected_high"]
        assert row["difference"] == pytest.approx(row["share"] - row["expected"], nan_ok=True)

    def test_draws_are_compared_with_the_rate_expected_for_their_population(self):
        """On 400 segments an error of 1 is one of 2 on 100: a true gain of 3 is 1.5 standard errors."""
        whole = pairs([3.0], [0.001], dataset="x", n_segments=400, standard_error=1.0)
        draws = pairs(
            [3.0], [0.05], dataset="x", n_segments=100, standard_error=1.0, test_set="draw-1", derived="draw", number=1
        )
        found = rates(pd.concat([whole, draws]), sheet(("t", "iid", "x", "draw-*", "x", "whole")))
        for low, high in ((0.04, 0.06), (0.0, 0.00125), (0.32, 1.0)):
            z = norm.isf([min(high, 0.5), low])
            right, wrong = np.diff(norm.cdf(z - 1.5))[0], np.diff(norm.cdf(z + 1.5))[0]
            assert only(found, p_low=low, p_high=high)["expected"] == pytest.approx(right / (right + wrong))

    @pytest.mark.parametrize(
        ("on", "against", "known"),
        [
            (("half", 1), ("half", 2), True), (("half", 2), ("half", 1), True), (("half", 2), ("half", 3), False),
            (("draw", 1), ("whole", 0), True), (("whole", 0), ("draw", 1), False),
            (("initial", 0), ("whole", 0), False),
            (("domain", 0), ("domain", 0), True), (("domain", 0), ("whole", 0), False),
        ],
    )  # fmt: skip
    def test_nothing_is_expected_of_test_sets_that_overlap(self, on, against, known):
        table = [
            self.on.assign(test_set=f"{side}-{derived}", derived=derived, number=number)
            for side, (derived, number) in (("on", on), ("against", against))
        ]
        found = rates(pd.concat(table), sheet(("t", "near", "x", "on-*", "x", "against-*")))
        assert only(found, p_low=0.04, p_high=0.06)["n_pairs"] == 4
        assert found["expected"].notna().all() == known
        assert found["difference_low"].notna().any() == known

    def test_rows_of_one_name_are_added_up_and_a_star_stands_for_anything(self):
        draws = [self.on.assign(dataset="y", test_set=f"draw-{k}") for k in (1, 2, 3)]
        table = pd.concat([*draws, self.both])
        starred = rates(table, sheet(("t", "iid", "y", "draw-*", "y", "whole")))
        listed = rates(table, sheet(*(("t", "iid", "y", f"draw-{k}", "y", "whole") for k in (1, 2, 3))))
        pd.testing.assert_frame_equal(starred, listed)
        assert only(starred, p_low=0.04, p_high=0.06)["n_pairs"] == 6
        two = rates(table, sheet(("t", "iid", "y", "draw-1", "y", "whole"), ("t", "far", "x", "whole", "y", "whole")))
        assert two["distance"].unique().tolist() == ["iid", "far"]

    def test_every_ordered_pair_in_a_line_but_those_of_lines_before_it(self):
        names = ("de_a", "de_b", "fr_a", "zh_a")
        table = pd.concat([self.on.assign(dataset=name) for name in names])
        lines = [
            ("t", "near", "de_*", "whole", "de_*", "whole"),
            ("t", "middle", "de_* fr_*", "whole", "de_* fr_*", "whole"),
            ("t", "far", "*", "whole", "*", "whole"),
        ]
        found = rates(table, sheet(*lines))
        assert found.groupby("distance")["n_test_sets"].unique().map(list).to_dict() == {
            "near": [2], "middle": [4], "far": [6],
        }  # fmt: skip
        # The same for another calibration, which begins anew.
        again = rates(table, sheet(lines[0], ("u", *lines[2][1:])))
        assert only(again, calibration="u", p_low=0.0)["n_test_sets"] == 12

    def test_the_same_dataset_or_test_set_on_both_sides(self):
        table = pd.concat(
            [self.on.assign(dataset=name, test_set=part, derived="domain") for name, part in product("xy", "pqr")]
        )
        found = rates(table, sheet(("t", "near", "*", "*", "=", "*"), ("u", "near", "*", "*", "*", "=")))
        assert only(found, calibration="t", p_low=0.0)["n_test_sets"] == 12
        assert only(found, calibration="u", p_low=0.0)["n_test_sets"] == 6
        # Patterns that match too little, as where only some datasets are run, are passed over.
        assert rates(table, sheet(("t", "near", "x", "p", "=", "="))).empty
        line = ("t", "near", "x", "*", "x", "*")
        twice = rates(table, sheet(line, ("t", "far", *line[2:])))
        pd.testing.assert_frame_equal(twice, rates(table, sheet(line)))

    @pytest.mark.parametrize(
        ("row", "fragments"),
        [
            (("t", "d", "none", "whole", "y", "whole"), "no comparisons of dataset none on test set whole"),
            (("t", "d", "x", "whole", "y", "draw-*"), "no comparisons of dataset y on test set draw-*"),
        ],
    )
    def test_unknown_test_sets(self, row, fragments):
        with pytest.raises(InputError, match=message("my.tsv, line 3", fragments)):
            rates(self.both, named(sheet(NEAR, row), "my.tsv"))


def published(**columns) -> pd.DataFrame:
    row = {
        "item": "i", "page": "998", "what": "w", "published": 1.0, "unit": "BLEU", "n_segments": 400.0,
        "information": np.nan, "information_from": "", "n_systems": np.nan, "n_pairs": np.nan,
        "compared_with": "threshold:d:all", "why": "", "evidence": "other data", "comparison": "",
    }  # fmt: skip
    return pd.DataFrame([row | columns])


class TestCheck:
    thresholds = pd.DataFrame(
        {
            "dataset": ["d", "d", "task=mt", "few"], "test_set": ["whole", "first-100", "whole", "whole"],
            "test": "bootstrap", "subset": ["all", "all", "same group", "all"], "n_segments": [100, 100, 400, 100],
            "p_low": 0.04, "p_high": 0.06, "n_pairs": [40, 30, 20, 3],
            "threshold": [2.0, 3.0, 4.0, np.nan], "low": [1.8, 2.5, 3.5, np.nan],
            "high": [2.2, 3.5, 4.5, np.nan], "verdict": ["estimated"] * 3 + ["too few"],
        }
    )  # fmt: skip
    threshold_errors = pd.DataFrame(
        {
            "dataset": ["d", "d", "task=mt"], "test_set": ["whole", "first-100", "whole"],
            "subset": ["all", "all", "same group"], "n_segments": [100, 25, 400], "n_systems": 20,
            "n_windows": [1, 16, 1], "threshold": [2.1, 3.3, 4.0], "error_segments": [0.05, 0.4, 0.1],
            "printed_error_segments": [0.06, 0.2, 0.1], "printed_error": [0.1, 0.3, 0.2],
        }
    )  # fmt: skip
    calibration = pd.DataFrame(
        {
            "calibration": "parsing", "distance": ["near", "far", "middle"], "p_low": 0.04, "p_high": 0.06,
            "n_pairs": [50, 4, 10], "n_systems": [6, 6, 5], "share": [0.8, 0.5, 0.8], "share_low": [0.7, 0.1, 0.7],
            "share_high": [0.9, 0.9, 0.9], "n_test_sets": 9, "between": [0.06, 0.0, np.nan],
        }
    )  # fmt: skip

    relative_error = pd.DataFrame(
        {
            "metric": ["accuracy"] * 4 + ["f1"], "n_segments": [250, 250, 500, 500, 250], "n_simulated": 100,
            "p_mean": [0.05, 0.05, 0.02, 0.02, 0.07], "p_sd": 0.1, "n_resamples": [1000, 20000, 1000, 20000, 1000],
            "error": [0.3, 0.12, 0.2, 0.04, 0.3],
        }
    )  # fmt: skip
    run_time = pd.DataFrame(
        {
            "metric": "accuracy", "n_segments": [250, 250, 6000, 6000, 10000, 10000],
            "test": ["exact", "randomization"] * 3, "n_resamples": [np.nan, 20000] * 3,
            "seconds": [1.0, 2.0, 2.0, 3.0, 5.0, 4.0], "seconds_low": 0.5,
            "seconds_high": 9.0,
        }
    )  # fmt: skip

    systems = frame(SYSTEMS, [])

    TABLES = ("thresholds", "threshold_errors", "calibration", "systems", "relative_error", "run_time")

    def check(self, tables=None, **columns) -> pd.Series:
        """One line of the sheet; `tables` are instead of those above, or beside them."""
        known = {name: getattr(self, name) for name in self.TABLES}
        return only(check(named(published(**columns), "published.tsv"), **(known | (tables or {})))[0])

    def test_thresholds_are_scaled_by_the_square_root_of_size(self):
        row = self.check()
        assert (row["expected"], row["ours"], row["ratio"], row["verdict"]) == (2.0, 2.0, 1.0, "agrees")
        assert (row["ours_n_segments"], row["published"]) == (100, 1.0)
        # The interval over systems, widened by the error over segments.
        assert np.log(2.0 / row["low"]) == pytest.approx(np.hypot(np.log(2.0 / 1.8), 1.959964 * 0.05))
        assert np.log(row["high"] / 2.0) == pytest.approx(np.hypot(np.log(2.2 / 2.0), 1.959964 * 0.05))

    @pytest.mark.parametrize("n_systems", [np.nan, 5, 20, 80])
    @pytest.mark.parametrize("published_value", [1.0, 1.1, 1.15, 1.2, 1.5, 0.9, 0.8])
    def test_the_errors_of_both_sides_count(self, published_value, n_systems):
        """Theirs has four times our segments, so that a quarter of the squared error over segments is left."""
        row = self.check(published=published_value, n_systems=n_systems)
        error = np.hypot(np.log(2.2 / 1.8) / (2 * 1.959964), 0.05)
        of_systems = (0.1**2 - 0.06**2) * (20 / n_systems if n_systems > 0 else 1)
        theirs = np.sqrt(0.06**2 / 4 + of_systems)
        z = np.log(2.0 / (2.0 * published_value)) / np.hypot(error, theirs)
        found = row[["error", "published_error", "z"]].to_numpy(float)
        assert found == pytest.approx([error, theirs, z], abs=1e-6)
        assert row["verdict"] in (("agrees", "cannot tell") if abs(z) <= 1.96 else ("differs",))

    def test_one_of_many_windows_is_compared_by_their_mean(self):
        """Ours is the mean of 16 windows, whose error is a quarter of that of one; the paper has one window."""
        row = self.check(compared_with="threshold:d:all:first-100", published=1.65)
        assert row["ours"] == 3.3
        error = np.hypot(np.log(3.5 / 2.5) / (2 * 1.959964), 0.1)
        theirs = np.sqrt(0.2**2 / 4 + 0.3**2 - 0.2**2)
        assert row[["error", "published_error"]].to_numpy(float) == pytest.approx([error, theirs], abs=1e-6)
        assert row["z"] == pytest.approx(0.0, abs=1e-9)

    def test_what_is_not_of_the_same_thing_is_not_compared(self):
        row = self.check(why="another ROUGE")
        assert (row["ours"], row["verdict"], row["why"]) == (2.0, "not comparable", "another ROUGE")
        row = self.check(compared_with="", published=np.nan, why="no such systems")
        assert (row["verdict"], row["why"]) == ("not comparable", "no such systems")

    @pytest.mark.parametrize("distance", ["near", "iid"])
    @pytest.mark.parametrize("n_pairs", [np.nan, 58.0, 942.0])
    @pytest.mark.parametrize("value", [60, 70, 80, 85, 92, 100])
    def test_shares_are_compared_by_logits(self, value, n_pairs, distance):
        """A rate on one pair of test sets varies as ours do between pairs; one over nine draws, a third as much."""
        table = self.calibration.replace({"distance": {"near": distance}})
        columns = {"published": value, "n_pairs": n_pairs, "unit": "%"}
        row = self.check({"calibration": table}, compared_with=f"share:parsing:{distance}:0.04-0.06", **columns)
        assert (row["ours"], row["low"], row["high"]) == (80, 70, 90)
        n = n_pairs if n_pairs > 0 else 50
        theirs = min(max(value / 100, 0.5 / n), 1 - 0.5 / n)
        error, spread = (logit(0.9) - logit(0.7)) / (2 * 1.959964), theirs * (1 - theirs)
        between = 0.06 / 3 if distance == "iid" else 0.06
        pooled = (0.8 + theirs) / 2
        other = np.hypot(1 / np.sqrt(n * spread), between / (pooled * (1 - pooled))) if n_pairs > 0 else error
        z = (logit(0.8) - logit(theirs)) / np.hypot(error, other)
        assert row["z"] == pytest.approx(z, abs=1e-5)
        assert row["verdict"] in (("agrees", "cannot tell") if abs(z) <= 1.96 else ("differs",))

    def test_pairs_that_the_paper_does_not_count_follow_from_those_near_05(self):
        """We have 50 pairs in the window and 150 in another range; the paper has 58 in the window, so 174."""
        other = self.calibration.iloc[:1].assign(p_low=0.04, p_high=0.08, n_pairs=150)
        sheet = pd.concat([
            published(item=name, published=80.0, unit="%", compared_with=f"share:parsing:near:{p}", n_pairs=n_pairs)
            for name, p, n_pairs in (("wide", "0.04-0.08", np.nan), ("window", "0.04-0.06", 58))
        ])  # fmt: skip
        tables = {name: getattr(self, name) for name in self.TABLES}
        tables["calibration"] = pd.concat([self.calibration, other])
        row = only(check(named(sheet, "published.tsv"), **tables)[0], item="wide")
        assert row["published_error"] == pytest.approx(np.sqrt(0.16 / 174 + 0.06**2) / 0.16)
        assert row["why"] == "the paper's number of pairs is estimated: 174"

    @pytest.mark.parametrize(("value", "verdict"), [(0.05, "cannot tell"), (0.076, "cannot tell"), (0.08, "differs")])
    def test_mean_p_values(self, value, verdict):
        row = self.check(compared_with="p:250:accuracy", published=value)
        assert (row["ours"], row["ours_n_segments"], row["expected"], row["verdict"]) == (0.05, 250, value, verdict)
        assert (row["low"], row["high"]) == (0.05 - 0.0196, 0.05 + 0.0196)

        few = self.check({"relative_error": self.relative_error.assign(n_simulated=29)}, compared_with="p:250:accuracy")
        assert few["verdict"] == "too few"

    @pytest.mark.parametrize(("low", "high", "verdict"), [
        (45, 48, "agrees"), (38, 58, "agrees"), (26, 63, "cannot tell"), (48, 50, "differs"),
    ])  # fmt: skip
    def test_a_number_on_the_papers_outputs_agrees_if_a_quarter_would_be_seen(self, low, high, verdict):
        ours = pd.Series(
            {"p_low": 0.04, "p_high": 0.06, "n_pairs": 49, "n_pairs_low": low, "n_pairs_high": high, "n_segments": 48}
        )
        assert _recomputed({"published": 47.0}, ours, name="n_pairs")["verdict"] == verdict
        elsewhere = _recomputed({"published": 47.0}, ours.replace(0.06, 0.07), name="n_pairs")
        assert elsewhere == {
            "verdict": "not comparable",
            "why": "this run looks at pairs with p from 0.04 to 0.07, the paper with p from 0.04 to 0.06",
        }

    @pytest.mark.parametrize(("bent", "verdict"), [(False, "differs"), (True, "agrees")])
    def test_a_least_number_of_samples_is_a_bend(self, bent, verdict):
        samples = np.array([1000, 2000, 5000, 20000, 40000, 80000, 160000])
        error = 10 / np.sqrt(np.minimum(samples, 20000) if bent else samples)
        table = pd.DataFrame({"metric": "accuracy", "n_segments": 250, "n_resamples": samples, "error": error})
        row = self.check({"relative_error": table}, compared_with="samples:accuracy", published=20000.0)
        assert (row["verdict"], "without a bend" in row["why"]) == (verdict, not bent)
        assert "K^−0.50 up to this number" in row["why"]
        assert self.check(compared_with="samples:accuracy", published=20000.0)["verdict"] == "too few"

    @pytest.mark.parametrize(("value", "verdict"), [(6000, "agrees"), (250, "better"), (6001, "differs")])
    def test_faster_is_a_lower_bound(self, value, verdict):
        row = self.check(compared_with="faster:20000:accuracy", published=value)
        assert (row["ours"], row["verdict"]) == (6000, verdict)
        assert self.check(compared_with="faster:40000:accuracy")["verdict"] == "not comparable"

    @pytest.mark.parametrize(("value", "verdict"), [(5, "agrees"), (100, "better"), (4.9, "differs")])
    def test_seconds_are_an_upper_bound(self, value, verdict):
        row = self.check(compared_with="seconds:exact:10000:accuracy", published=value)
        assert (row["ours"], row["low"], row["high"], row["verdict"]) == (5, 0.5, 9, verdict)

    @pytest.mark.parametrize(
        "address",
        [
            "", "synthetic", "threshold:unknown:all", "threshold:d:unknown", "exponent:unknown:all",
            "share:parsing:nowhere:0.04-0.06", "share:parsing:near:0.01-0.02", "train:d",
            "p:251:accuracy", "samples:bleu", "faster:20000:f1", "seconds:exact:7:accuracy",
        ],
    )  # fmt: skip
    def test_what_has_not_been_run(self, address):
        row = self.check(compared_with=address)
        assert (row["verdict"], row["why"]) == ("not comparable", "this run did not compute our number")
        assert row[["ours", "low", "high", "ours_n_segments", "expected", "ratio"]].isna().all()


class TestDecisions:
    @given(st.floats(0.001, 0.2), st.integers(20, 400))
    def test_other_decision_against_scipy(self, p, n):
        """Significant is a share below 0.05; the other decision is the one that p itself would not give."""
        significant = sum(binom.pmf(count, n, p) for count in range(n + 1) if count / n < 0.05)
        expected = 1 - significant if p < 0.05 else significant
        assert other_decision(np.array([p]), n)[0] == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("n", [1000, 20000])
    def test_band_is_where_the_risk_is_one_percent(self, n):
        low, high = band(n)
        assert low < 0.05 < high
        assert other_decision(np.array([low, high]), n) == pytest.approx(0.01, abs=1e-6)
        normal = 2.326 * np.sqrt(0.05 * 0.95 / n)
        assert (0.05 - low, high - 0.05) == (pytest.approx(normal, rel=0.15), pytest.approx(normal, rel=0.15))


def study(dataset: str, error: float, *, n_systems: int = 30, spread: float = 1.0, seed: int = 1) -> pd.DataFrame:
    """All pairs of systems whose gains have this standard error, and their p-values from the normal distribution."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, spread, n_systems)
    rows = [(i, j) if quality[i] >= quality[j] else (j, i) for i in range(n_systems) for j in range(i)]
    a, b = np.array(rows).T
    gains = quality[a] - quality[b]
    names = [(f"s{i}", f"s{j}") for i, j in rows]
    same = (a + b) % 3 == 0
    return pairs(gains, norm.sf(gains / error), systems=names, dataset=dataset, same_group=same, standard_error=error)


OVERLAY = {"ours": "theirs"}


def compared(*tables: pd.DataFrame) -> pd.Series:
    """All pairs of `ours` compared with those of `theirs`."""
    return only(validate(pd.concat(tables), OVERLAY), subset="all")


class TestValidation:
    def test_the_gain_at_p_05_is_known(self):
        # With a standard error of 0.5 the gain at p = 0.05 is 0.5 times 1.645, whatever the pairs.
        table = pd.concat([study("ours", 0.5), study("theirs", 0.5, seed=2)])
        found = validate(table, OVERLAY)
        assert list(found["subset"]) == ["all", "same group", "different group"]
        row = only(found, subset="all")
        assert row["ratio"] == pytest.approx(1)
        z = table.query("dataset == 'ours'")["gain"] / 0.5 - norm.ppf(0.95)
        assert row["n_synthetic"] == (z.abs() < 0.8).sum()

    def test_another_height_differs_and_says_how_much(self):
        row = compared(study("ours", 0.6), study("theirs", 0.5, seed=2))
        assert row["ratio"] == pytest.approx(1.2)
        assert row["verdict"] == "differs"

    def alike(self, dataset: str, factor: float, low: float, high: float, seed: int) -> pd.DataFrame:
        """Systems of equal variance: SE = factor·sqrt(2(1 − ρ)), with ρ from low to high."""
        rng = np.random.default_rng(seed)
        table = study(dataset, 0.5, seed=seed)
        correlation = rng.uniform(low, high, len(table))
        error = factor * np.sqrt(2 * (1 - correlation)) * np.exp(rng.normal(0, 0.05, len(table)))
        return table.assign(correlation=correlation, standard_error=error)

    def test_at_equal_correlation_the_sign_may_change(self):
        """Ours correlate less and have larger critical differences, but smaller ones at equal correlation."""
        row = compared(self.alike("ours", 0.9, 0.3, 0.8, 1), self.alike("theirs", 1.0, 0.6, 0.9, 2))
        assert row["ratio_low"] > 1
        assert row["equal_correlation_ratio"] == pytest.approx(0.9, abs=0.03)
        assert row["equal_correlation_ratio_low"] < 0.9 < row["equal_correlation_ratio_high"] < 1
        assert (row["verdict"], row["equal_correlation_verdict"]) == ("differs", "differs")

    def test_few_pairs_and_other_sizes(self):
        few = study("ours", 0.5, n_systems=4)
        found = validate(pd.concat([few, study("theirs", 0.5)]), OVERLAY)
        assert set(found["verdict"]) == {"too few"}
        assert found["ratio"].isna().all()
        other = study("theirs", 0.5).assign(n_segments=999)
        assert validate(pd.concat([study("ours", 0.5), other]), OVERLAY).empty
        assert validate(study("ours", 0.5), {}).empty


class TestTable1:
    ours = pd.DataFrame(
        [
            ("parsing", "near", 0.04, 0.06, 1500, 0.85, 0.80, 0.9, 0.87, 0.86, 0.88),
            ("parsing", "far", 0.04, 0.06, 0, np.nan, np.nan, np.nan, 0.9, 0.9, 0.9),
            ("parsing", "near", 0.08, 0.16, 9, 0.5, 0.2, 0.8, 0.5, 0.4, 0.6),
            ("parsing", "iid", 0.04, 0.06, 9, 0.5, 0.2, 0.8, 0.5, 0.4, 0.6),
        ],
        columns=[
            "calibration", "distance", "p_low", "p_high", "n_pairs", "share", "share_low", "share_high", "expected",
            "expected_low", "expected_high",
        ],
    )  # fmt: skip
    paper = pd.concat(
        published(published=value, compared_with=address)
        for value, address in ((83, "share:p:near:0.04-0.06"), (48, "share:p:far:0.04-0.06"), (1, "pairs:d:all"))
    )

    def test_the_papers_first_each_beside_what_is_expected(self):
        found = table_1(self.ours, self.paper)
        near, far = (binomtest(n, 58).proportion_ci(0.95, "exact") for n in (48, 28))
        assert found[["calibration", "p_low", "p_high"]].to_numpy().tolist() == [
            ["the paper", 0.04, 0.06],
            ["parsing", 0.04, 0.06],
        ]
        # 48 and 28 of 58, rounded as the paper has them
        assert found.loc[0, ["near", "near_low", "near_high", "near_pairs"]].tolist() == pytest.approx(
            [0.83, near.low, near.high, 58]
        )
        assert found.loc[0, ["far", "far_low", "far_high", "far_pairs"]].tolist() == pytest.approx(
            [0.48, far.low, far.high, 58]
        )
        assert found.loc[1, ["near", "near_low", "near_high", "near_pairs"]].tolist() == [0.85, 0.8, 0.9, 1500]
        assert found.loc[1, ["near_expected", "near_expected_low", "near_expected_high"]].tolist() == [0.87, 0.86, 0.88]
        assert found[["middle", "far_expected"]].isna().all(axis=None)
        assert np.isnan(found.loc[1, "far"])

    def test_what_is_expected_of_the_papers_sizes(self):
        """Gains of 100 pairs, true on 600 sentences: drawn on 2,416 and on 1,700 of them, 40,000 times."""
        rng = np.random.default_rng(2)
        gains = np.abs(rng.normal(0, 3, 100))
        population = pairs(gains, np.ones(100), n_segments=600, standard_error=1.5)
        found = table_1(self.ours, self.paper, population)
        fragments = 100 * found.loc[0, "near_expected"]
        error = 1.5 * np.sqrt(600 / np.array([2416, 1700]))
        first, second = (gains + one * rng.standard_normal((40_000, 100)) for one in error)
        p = norm.sf(np.abs(first) / error[0])
        inside = (p >= 0.04) & (p <= 0.06)
        assert fragments == pytest.approx(100 * ((first > 0) == (second > 0))[inside].mean(), abs=0.8)


def test_systems_are_described_by_base_model():
    made = simulate.statistics("f1", n_systems=5, n_segments=50, n_groups=2, seed=1, dataset="d")
    systems = tuple(f"{group}-full-{k}" for k, group in enumerate(made.groups))
    scores = 100 * 2 * made.counts.sum(axis=1)[:, 0] / made.counts.sum(axis=1)[:, 1:].sum(axis=1)
    fragments = {
        "provenance": {"task": "constituency"},
        "omissions": (Omission("train", "no memory", f"{made.groups[0]}-half-9").to_dict(),),
    }
    natural = describe([(replace(made, **fragments), registry.metric("f1"))])
    assert list(natural["group"]) == ["all"]
    synthetic = replace(made, systems=systems, kinds=("synthetic",) * 5, **fragments)
    found = describe([(synthetic, registry.metric("f1"))])
    assert list(found["group"]) == ["all", *sorted(set(made.groups))]
    assert (found["n_systems"].iloc[0], found["n_systems"].iloc[1:].sum()) == (5, 5)
    assert found["score_high"].iloc[0] == pytest.approx(scores.max())
    own = only(found, group=made.groups[0])
    mine = scores[[group == made.groups[0] for group in made.groups]]
    assert (own["score_low"], own["score_high"]) == (pytest.approx(mine.min()), pytest.approx(mine.max()))
    assert own["left_out"] == f"{made.groups[0]}-half-9: train: no memory"
    assert set(found["left_out"]) == {own["left_out"], "none"}
