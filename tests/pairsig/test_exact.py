"""The exact tests against enumeration, dynamic programmes, closed forms, whole-number counting and Monte Carlo."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

import oracles
from pairsig import InputError, Metric, randomization_test
from pairsig.core.definitions import TESTS, find
from pairsig.metrics import registry
from pairsig.readers.counts import art
from pairsig.stats import exact
from pairsig.stats.exact import distributions, exact_bootstrap_test, exact_test
from pairsig.stats.paired import Pair


def ratios(a, b, metric):
    """The better system and the other as whole numbers."""
    pair = Pair.of(a, b, metric, None)
    assert pair.better is not None
    return exact.Ratios.of(exact.fractions(pair.scorer, find("exact"), pair.unit), *pair.order[0].tolist())


def swapped(a, b, metric):
    """The distribution under swaps, and the event."""
    return ratios(a, b, metric).swapped()[:2]


def random_pair(metric, n, seed, quality=(0.8, 0.7), size=12):
    """Two systems of the shape of real ones; `size` is about the gold count of a segment."""
    rng = np.random.default_rng(seed)
    gold = 1 + rng.poisson(size - 1, n)

    def system(q):
        matched = rng.binomial(gold, q)
        predicted = matched + rng.binomial(gold - matched, 0.9)
        return {
            "accuracy": np.stack([matched, gold], axis=1),
            "mean": matched,
            "f1": np.stack([matched, predicted, gold], axis=1),
        }[metric]

    return tuple(system(q) for q in quality)


# Enumeration


def few_large_units(metric, n, size, seed):
    """Documents with other denominators in every system; some units come twice, so that sums and gains tie."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(size // 2, size + 1, n)

    def system():
        matched = rng.binomial(gold, 0.7)
        matched[n // 2] = matched[0]
        predicted = matched + rng.integers(0, size // 2, n)
        return np.stack([matched, predicted, gold], axis=1)[:, : 2 if metric == "totals" else 3]

    a, b = system(), system()
    for own in (a, b):
        own[n // 2] = own[0]
    b[1] = a[1]
    a[2], b[2] = b[3], a[3]  # what swapping both of these changes nothing of
    return a, b


@pytest.mark.parametrize(("metric", "size"), [("f1", 10**9), ("precision", 10**14), ("totals", 300)])
def test_few_units_of_large_counts_are_enumerated(metric, size, monkeypatch):
    """A transform over the totals takes minutes or more, and there are only 2⁸ swaps."""
    name = "accuracy" if metric == "totals" else metric
    a, b = few_large_units(metric, 8, size, 5)
    monkeypatch.setattr(distributions, "_mass", None)
    monkeypatch.setattr(distributions, "_PIECE", 16)
    for alternative, sides in (("two-sided", 2), ("observed", 1)):
        p, tied = oracles.exact(name, a, b, find("exact", alternative=alternative))
        result = exact_test(a, b, metric=name, alternative=alternative)
        assert (result.pvalue, result.p_equal, result.error_bound) == (p, tied, 0)
        assert tied > sides * 2.0**-8


def test_few_units_of_large_counts_are_resampled(monkeypatch):
    """Of the 5⁵ resamples C(9, 5) differ, and in some of them the systems tie."""
    size = 10**9
    length = size * np.array([2, 1, 3, 1, 2]) + [1, 7, 0, 3, 0]
    ahead = size // 10 * np.array([3, -3, 1, -1, 2])
    a, b = (np.stack([length // 2 + more, length], axis=1) for more in (ahead, 0))
    monkeypatch.setattr(distributions, "_mass", None)
    monkeypatch.setattr(distributions, "_PIECE", 12)
    for test in [test for test in TESTS if test.name == "exact-bootstrap" and not test.directed]:
        p, tied = map(float, oracles.exact("accuracy", a, b, test))
        result = exact_bootstrap_test(a, b, metric="accuracy", **oracles.how(test))
        assert (result.pvalue, result.p_equal) == (pytest.approx(p, rel=1e-14), pytest.approx(tied, rel=1e-14))
        assert p > 0
        assert (tied > 0) == (test.alternative == "two-sided" or test.method == "percentile")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("metric", ["f1", "precision", "accuracy", "mean"])
def test_the_error_bound_bounds_the_error(metric, seed, monkeypatch):
    """Few large units, where the border bends most, before p is made the whole number of 2⁻ⁿ it is near."""
    monkeypatch.setattr(distributions, "MOST_SUMS", 0)
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(4, 12)), int(10 ** rng.uniform(0.7, 2.5))
    gold = rng.integers(1, size + 1, n)

    def system(q):
        predicted = rng.integers(1, size + 1, n)
        return np.stack([rng.binomial(np.minimum(predicted, gold), q), predicted, gold], axis=1)

    width = {"accuracy": 2, "mean": 1}.get(metric, 3)
    a, b = (system(q)[:, :width] for q in ((0.95, 0.2) if seed % 2 else (0.6, 0.5)))
    pair = ratios(a, b, metric)
    distribution, event, _ = pair.swapped()
    mass = distributions.mass(distribution, event)
    numerator, denominator = np.zeros(1, dtype=object), np.zeros(1, dtype=object)
    for (m_a, m_b), (d_a, d_b) in zip(pair.numerators.T.tolist(), pair.denominators.T.tolist(), strict=True):
        numerator = np.concatenate([numerator + m_a, numerator + m_b])
        denominator = np.concatenate([denominator + d_a, denominator + d_b])
    above, below = int(pair.numerators.sum()), int(pair.denominators.sum())
    left = (numerator * (below - denominator) - (above - numerator) * denominator) * pair.delta.denominator
    p = float((left >= pair.delta.numerator * denominator * (below - denominator)).mean())
    assert abs(math.exp(mass.log) / p - 1) <= mass.error < 1e-8


def overpredicting(rng, gold, quality, over):
    """Counts of F1 of a system that also predicts `over` wrong items for each that it does not find."""
    matched = rng.binomial(gold, quality)
    return np.stack([matched, matched + rng.poisson(over * (gold - matched + 0.5)), gold], axis=1)


@pytest.mark.parametrize("seed", [156, 374])
def test_a_border_that_bends(seed):
    """Few documents of very unequal sizes, a system that predicts far too much: a tilt is not enough for these."""
    rng = np.random.default_rng(seed)
    gold = np.maximum(1, (rng.pareto(1.2, 30) * 2).astype(int).clip(0, 20))
    a, b = overpredicting(rng, gold, 0.9, 3.0), overpredicting(rng, gold, 0.2, 1.0)
    distribution, event = swapped(a, b, "f1")
    assert distributions._mass(distribution, event, *distributions.aim(distribution, event)).error > 1e-9
    result = exact_test(a, b, metric="f1")
    assert result.pvalue == float(oracles.f1_tail(a, b))
    assert result.error_bound == 0.0


@pytest.mark.parametrize("metric", ["f1", "precision", "accuracy"])
def test_the_error_bound_holds_what_a_window_leaves_outside(monkeypatch, metric):
    """In a window cut far too close mass from outside falls inside: the bound must grow with it."""
    a, b = random_pair("accuracy" if metric == "accuracy" else "f1", 300, 1, (0.8, 0.78), size=4)
    distribution, event = swapped(a, b, metric)
    expected = distributions._programme(distribution, event).log
    monkeypatch.setattr(distributions._Window, "check", lambda *_: None)  # which would notice
    errors = []
    for outside in (1e-4, 1e-2):
        monkeypatch.setattr(distributions, "_OUTSIDE", outside)
        found = distributions._mass(distribution, event, *distributions.aim(distribution, event))
        errors.append(abs(math.expm1(found.log - expected)))
        assert errors[-1] <= found.error
    assert errors[-1] > 1e-9


def test_refused_where_the_bound_says_that_digits_are_wrong():
    """Fifty units of very unequal size beside a thousand of size one: a border that bends too much for any tilt."""
    rng = np.random.default_rng(128)
    n = int(rng.integers(20, 60))
    gold = np.maximum(1, (rng.pareto(rng.uniform(0.6, 1.5), n) * 2).astype(int).clip(0, int(rng.integers(10, 60))))
    a = overpredicting(rng, gold, 0.9, rng.uniform(1, 6))
    b = overpredicting(rng, gold, rng.uniform(0.1, 0.5), 1.0)
    odd = np.arange(1001)[:, None] % 2 == 1
    a, b = (np.r_[own, np.where(odd == turned, [0, 1, 1], [0, 0, 1])] for own, turned in ((a, False), (b, True)))
    distribution, event = swapped(a, b, "f1")
    assert distributions._mass(distribution, event, *distributions.aim(distribution, event)).error > 1e-3
    with pytest.raises(InputError, match="too many values for the exact test; use randomization_test"):
        exact_test(a, b, metric="f1")


def test_p_is_called_a_fraction_only_where_it_is_one():
    """50 to 90 units: the number of swaps comes to be too large for its last digits to be known."""
    known = set()
    for n in range(50, 90, 2):
        a, b = random_pair("accuracy", n, n, (0.8, 0.75), size=6)
        expected = oracles.far_tail(a[:, 0] - b[:, 0])
        result = exact_test(a, b, metric="accuracy")
        if result.better is None:
            continue
        known.add(result.error_bound == 0)
        if result.error_bound == 0:
            assert result.pvalue == float(expected)
        else:
            assert abs(Fraction(result.pvalue) / expected - 1) <= result.error_bound < 1e-10
    assert known == {True, False}


# Closed forms


@pytest.mark.parametrize(("n", "agreed"), [(28, 500), (5000, 0)])
def test_one_system_is_better_on_all(n, agreed):
    """p = 2·2⁻ⁿ: published code that drops small entries gives 0 for 28 segments; for 5,000 no float holds it."""
    same = [[3, 7]] * agreed
    result = exact_test([[5, 5]] * n + same, [[4, 5]] * n + same, metric="accuracy")
    assert (result.pvalue, result.n_segments, result.n_different) == (2.0 ** (1 - n), n + agreed, n)
    assert result.log10_pvalue == pytest.approx((1 - n) * math.log10(2), rel=1e-14)


@pytest.mark.parametrize(("n", "won"), [(10, 3), (2000, 40), (2000, 1500)])
def test_bootstrap_of_wins_is_binomial(n, won):
    """A wins some, the rest are drawn: D* is Binomial(n, won/n), and p = P(D* > 2·won); D* < 0 never happens."""
    a = np.repeat([1, 0], [won, n - won])
    result = exact_bootstrap_test(a, np.zeros(n), metric="mean", alternative="observed")
    expected = binom.sf(2 * won, n, won / n)
    assert result.pvalue == pytest.approx(expected, rel=1e-10, abs=0.0)
    assert result.p_equal == pytest.approx(binom.pmf(2 * won, n, won / n), rel=1e-10, abs=0.0)
    percentile = exact_bootstrap_test(a, np.zeros(n), metric="mean", method="percentile", alternative="observed")
    assert (percentile.pvalue, percentile.log10_pvalue) == (0.0, -math.inf)
    assert percentile.p_equal == pytest.approx((1 - won / n) ** n, rel=1e-12)


# Far tails, to nine digits and more


@pytest.mark.parametrize(("n", "quality", "exponent"), [(600, (0.9, 0.6), 40), (1100, (1.0, 0.1), 300)])
def test_far_tail_of_accuracy(n, quality, exponent):
    a, b = random_pair("accuracy", n, 3, quality, size=6)
    expected = oracles.far_tail(a[:, 0] - b[:, 0])
    assert expected < Fraction(1, 10**exponent)
    result = exact_test(a, b, metric="accuracy")
    relative = 10 ** (result.log10_pvalue - oracles.log10(expected)) - 1
    assert abs(relative) < 1e-10
    assert result.error_bound < 1e-10


def test_far_tail_of_f1():
    a, b = random_pair("f1", 250, 4, (0.97, 0.3), size=4)
    expected = oracles.f1_tail(a, b)
    assert expected < Fraction(1, 10**50)
    result = exact_test(a, b, metric="f1")
    assert result.pvalue == pytest.approx(float(expected), rel=1e-10, abs=0.0)
    assert result.error_bound < 1e-10


def test_far_tail_of_the_bootstrap():
    """0, 1, 2 or 3 words won: P(D* > 2D) from the coefficients of a polynomial to the power n."""
    values = [0] * 150 + [1] * 20 + [2] * 8 + [3] * 2
    sums = oracles.resampled_sums(values)
    beyond = Fraction(sum(ways for value, ways in sums.items() if value > 2 * sum(values)), 180**180)
    equal = Fraction(sums[2 * sum(values)], 180**180)
    assert beyond < Fraction(1, 10**5)
    result = exact_bootstrap_test(values, [0] * 180, metric="mean", alternative="observed")
    assert result.pvalue == pytest.approx(float(beyond), rel=1e-11, abs=0.0)
    assert result.p_equal == pytest.approx(float(equal), rel=1e-11, abs=0.0)

    # B one word better on 3 of the segments that were drawn: D* < 0 takes many of these.
    values = [v + 1 for v in [0] * 140 + [1] * 37 + [-1] * 3]
    sums = oracles.resampled_sums(values)
    below = Fraction(sum(ways for value, ways in sums.items() if value < 180), 180**180)
    assert below < Fraction(1, 10**6)
    result = exact_bootstrap_test(values, [1] * 180, metric="mean", method="percentile", alternative="observed")
    assert result.pvalue == pytest.approx(float(below), rel=1e-11, abs=0.0)


# The distribution


@pytest.mark.parametrize("tilt", [0.0, -0.8])
def test_the_distribution_has_the_counts_of_swaps(tilt):
    """Entry by entry, after tilting: 2⁻ⁿ · ways · exp(θu − K(θ)). It sums to 1."""
    differences = np.random.default_rng(6).integers(0, 6, 200)
    steps, times = np.unique(differences[differences > 0], return_counts=True)
    distribution = distributions.Swaps(np.stack([steps, np.zeros_like(steps)], axis=1), times)
    theta = np.array([tilt, 0.0])
    low, found = distributions.columns(distribution, theta)
    assert abs(found.sum() - 1) < 1e-12
    ways, n = oracles.swapped_sums(differences[differences > 0]), int(times.sum())
    for place, probability in enumerate(found):
        number = ways.get(2 * (low + place) - int(differences.sum()), 0)
        log = (
            math.log(number) - n * math.log(2) + tilt * (low + place) - distribution.log_mgf(theta)
            if number
            else -math.inf
        )
        assert probability == pytest.approx(math.exp(log), abs=1e-14)


def test_a_wrong_window_is_noticed():
    distribution = distributions.Swaps(np.array([[1, 0], [3, 0]]), np.array([400, 300]))
    window = distributions._Window.of(distribution, distribution.tilted(np.zeros(2)))
    spectrum = np.zeros(int(window.size[0]) // 2 + 1, dtype=np.complex128)
    for k, phi, _ in window.spectra():
        spectrum[k] = phi[:, 0]
    window.check(spectrum)
    turned = spectrum * np.exp(2j * np.pi * np.arange(len(spectrum)) * 200 / int(window.size[0]))
    for wrong in (spectrum * (1 + 1e-11), np.sqrt(np.abs(spectrum)) * spectrum, turned):
        with pytest.raises(ArithmeticError, match="internal error: the distribution is off"):
            window.check(wrong)


# Properties


def test_common_factors_and_lattices():
    a, b = random_pair("mean", 150, 9, (0.8, 0.75))
    expected = exact_test(a, b, metric="mean").pvalue
    assert exact_test(7 * a, 7 * b, metric="mean").pvalue == expected
    for step in (10, 100, 1e5, 2.0**20, 0.125):
        assert exact_test(a / step, b / step, metric="mean").pvalue == expected
    assert exact_test(a - 1000, b - 1000, metric="mean").pvalue == expected
    # Scores of documents, as a program prints them with five digits.
    assert exact_test(a / 1e5, b / 1e5, metric="rouge1_f").pvalue == expected


def test_the_finest_lattice():
    """52 bits behind the point, and no more of them than a total can hold."""
    assert exact_test([2.0**-52], [0.0], metric="mean").pvalue == 1.0
    assert exact_test([1 + 2.0**-50, 0.0], [0.0, 0.0], metric="mean").pvalue == 1.0
    # Four of these are no exact sum; that all are wins is clear all the same.
    assert exact_test([1 + 2.0**-52] * 4, [0.0] * 4, metric="mean").pvalue == 2 * 2.0**-4


def test_documents_are_sums():
    a, b = random_pair("f1", 120, 11)
    documents = np.arange(120) // 5
    sums = [counts.reshape(24, 5, 3).sum(axis=1) for counts in (a, b)]
    result = exact_test(a, b, metric="f1", document=documents)
    assert result.pvalue == exact_test(*sums, metric="f1").pvalue != exact_test(a, b, metric="f1").pvalue
    assert (result.n_segments, "unit:document" in result.signature) == (120, True)
    result = exact_bootstrap_test(a, b, metric="recall", document=documents, alternative="observed")
    assert result.pvalue == exact_bootstrap_test(*sums, metric="recall", alternative="observed").pvalue
    values = np.random.default_rng(1).integers(0, 100, (2, 120)) / 100
    assert (
        exact_test(*values, metric="mean", document=documents).pvalue
        == exact_test(*(value.reshape(24, 5).sum(axis=1).round(2) for value in values), metric="mean").pvalue
    )


# Something over nothing


def test_something_over_nothing():
    """Edits without a reference word: swaps never get rid of the words elsewhere, resamples do."""
    a, b = np.array([[2, 0], [1, 4], [0, 3]]), np.array([[0, 0], [2, 4], [2, 3]])
    assert exact_test(a, b, metric="ter").pvalue == oracles.exact("ter", a, b, find("exact"))[0]
    with pytest.raises(
        InputError,
        match=r"no exact bootstrap test for ter if a segment has a numerator above 0 and .*; use bootstrap_test",
    ):
        exact_bootstrap_test(a, b, metric="ter", alternative="observed")
    with pytest.raises(
        InputError, match=r"no exact test for ter if a segment has a numerator above 0 and .*; use randomization"
    ):
        exact_test(a[:1], b[:1], metric="ter")


def test_arts_f_of_sigfs_counts():
    """Four numbers a line, the two numerators the same: matched / gold and matched / predicted."""
    a, b = random_pair("f1", 40, 0)

    def four(counts):
        return counts[:, [0, 2, 0, 1]]

    result, three = exact_test(four(a), four(b), metric=art.F1_RATIO), exact_test(a, b, metric="f1")
    assert (result.pvalue, result.p_equal, result.better) == (three.pvalue, three.p_equal, three.better)
    assert (result.score_a, result.score_b) == (pytest.approx(three.score_a), pytest.approx(three.score_b))
    drawn, of_three = (
        randomization_test(*pair, metric=metric, n_resamples=3000)
        for pair, metric in (((four(a), four(b)), art.F1_RATIO), ((a, b), "f1"))
    )
    assert (drawn.n_greater, drawn.n_equal) == (of_three.n_greater, of_three.n_equal)


@pytest.mark.parametrize(
    ("row", "fragments"),
    [
        ([2, 3, 1, 3], "recall_numerator <= precision_numerator, and segment number 2 of system b has 2 and 1"),
        ([1, 3, 2, 3], "precision_numerator <= recall_numerator, and segment number 2 of system b has 2 and 1"),
        ([2, 1, 2, 3], "recall_numerator <= recall_denominator, and segment number 2 of system b has 2 and 1"),
        ([2, 3, 2, 1], "precision_numerator <= precision_denominator, and segment number 2 of system b has 2 and 1"),
    ],
)
def test_arts_f_of_other_counts(row, fragments):
    a, b = [[1, 2, 1, 3], [2, 3, 2, 3]], [[1, 2, 1, 3], row]
    message = f"^there is no exact test for f1_ratio unless {fragments}; use randomization_test$"
    with pytest.raises(InputError, match=message):
        exact_test(a, b, metric=art.F1_RATIO)
    assert 0 < randomization_test(a, b, metric=art.F1_RATIO, n_resamples=100).pvalue <= 1


# Bad input


def test_metrics_out_of_reach():
    for name in ("bleu", "chrf++"):
        width = len(registry.metric(name).columns)
        a = np.ones((3, width), dtype=int)
        fragments = re.escape(name)
        with pytest.raises(InputError, match=f"^there is no exact test for {fragments}, .*; use randomization_test$"):
            exact_test(a, a, metric=name)
        with pytest.raises(
            InputError, match=f"^there is no exact bootstrap test for {fragments}, .*; use bootstrap_test$"
        ):
            exact_bootstrap_test(a, a, metric=name, alternative="observed")
    own = Metric("own", ("value",), lambda totals: totals[..., 0], "Σ value")
    with pytest.raises(
        InputError, match=r"^there is no exact test for own, which is not a ratio of sums \(a pairsig\.Ratio"
    ):
        exact_test([1, 2], [2, 3], metric=own)


def test_a_single_unit():
    """All resamples are the test set itself; of two swaps both are as extreme."""
    for documents in (None, ["d", "d"]):
        a, b = ([1], [0]) if documents is None else ([1, 1], [0, 0])
        assert exact_test(a, b, metric="mean", document=documents).pvalue == 1.0
        unit = "segment" if documents is None else "document"
        with pytest.raises(InputError, match=f"the test set is a single {unit}, .*; the bootstrap needs at least two"):
            exact_bootstrap_test(a, b, metric="mean", document=documents, alternative="observed")


def test_values_on_no_lattice():
    """The bootstrap needs one, and so does a ratio whose denominators differ."""
    message = r"not multiples of a step 10⁻ᵏ or 2⁻ᵏ .*; use "
    with pytest.raises(InputError, match=f"{message}bootstrap_test, or round the values"):
        exact_bootstrap_test([1 / 3, 0.5], [0.2, 0.1], metric="mean", alternative="observed")
    with pytest.raises(InputError, match=f"for f1 with these values, which are {message}randomization_test"):
        exact_test([[1 / 3, 1, 1], [0.5, 1, 1]], [[0.2, 0.5, 1], [0.1, 1, 1]], metric="f1")
    for huge in (1e300, 2.0**53, 2**53):
        with pytest.raises(
            InputError,
            match=r"not multiples of a step .* exact sums of 2|counts are as large as .* their sums cannot be exact",
        ):
            exact_test([huge, 0], [1, 1], metric="mean")


def test_distributions_that_are_too_large_are_refused():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 10**9, (2, 300))
    with pytest.raises(InputError, match="too many values for the exact bootstrap test; use bootstrap_test"):
        exact_bootstrap_test(a, b, metric="mean", alternative="observed")


@pytest.mark.parametrize("n", [30, 1500])
def test_the_product_of_points_rows_and_steps_is_bounded(n, monkeypatch):
    """Few units take a multiplication for each point and step, many take waves: both are counted as they are done."""
    a, b = random_pair("f1", n, 1, (0.8, 0.79), size=20)
    expected = exact_test(a, b, metric="f1").pvalue
    most, taken = [], []
    for power in range(10, 32):
        monkeypatch.setattr(distributions, "MOST", 2**power)
        try:
            taken.append(exact_test(a, b, metric="f1").pvalue)
            most.append(power)
        except InputError:
            assert not taken
        if len(taken) > 1:
            break
    assert taken == [expected] * 2
    distribution, event = swapped(a, b, "f1")
    window = distributions._Window.of(distribution, distribution.tilted(distributions.aim(distribution, event)[0]))
    assert 2 ** most[0] > distributions._TRANSFORM * window.size.prod() / 8


@pytest.mark.parametrize(
    ("a", "b", "largest", "is_refused"),
    [
        # 300 or 101 rows, which are gone through one by one: a 32nd of the limit are allowed.
        ([[1, 300], [1, 2]], [[0, 1], [0, 1]], 2**12, True),
        ([[1, 101], [1, 2]], [[0, 1], [0, 1]], 2**12, False),
        # 2,102 columns, for each of two classes of rows.
        ([[2000, 2001], [101, 2001]], [[0, 2001], [0, 2000]], 2**12, True),
        ([[2000, 2001], [101, 2001]], [[0, 2001], [0, 2000]], 2**13, False),
        # 2,002 columns and one row.
        ([[2000, 2001], [1, 2001]], [[0, 2001], [0, 2001]], 2**10, True),
        ([[2000, 2001], [1, 2001]], [[0, 2001], [0, 2001]], 2**11, False),
    ],
)
def test_the_limits_of_a_window(monkeypatch, a, b, largest, is_refused):
    monkeypatch.setattr(distributions, "MOST_SUMS", 0)
    monkeypatch.setattr(distributions, "LARGEST", largest)
    if is_refused:
        distribution, event = swapped(a, b, "accuracy")
        with pytest.raises(distributions.TooLargeError):
            distributions.mass(distribution, event)
    else:
        assert exact_test(a, b, metric="accuracy").pvalue == oracles.exact("accuracy", a, b, find("exact"))[0]


def test_bootstrap_needs_common_denominators():
    a, b = random_pair("f1", 20, 15)
    for metric in ("f1", "precision"):
        with pytest.raises(
            InputError,
            match=f"no exact bootstrap test for {metric} if the systems have different denominators, as a and b",
        ):
            exact_bootstrap_test(a, b, metric=metric, alternative="observed")
    with pytest.raises(
        InputError, match="no exact bootstrap test for accuracy if the systems have different denominators"
    ):
        exact_bootstrap_test([[1, 2], [1, 1]], [[0, 1], [1, 2]], metric="accuracy", alternative="observed")


@pytest.mark.parametrize(("digits", "n"), [(8, 200), (6, 60), (6, 200)])
def test_scores_with_many_digits_are_bounded_before_a_transform_is_made(digits, n, monkeypatch):
    """Hardly a frequency would be negligible, so the transform would take seconds, and then not be used."""
    monkeypatch.setattr(distributions._Window, "_all_phi", None)  # cannot be called
    monkeypatch.setattr(np.fft, "rfft", None)
    a, b = np.random.default_rng(n).normal([[0.80], [0.75]], 0.2, (2, n)).round(digits)
    assert 0 < exact_test(a, b).error_bound < 1e-3


@pytest.mark.parametrize("n", [54, 1000, 1001])
def test_pass_fail_items_have_the_binomial_p_value(n):
    """All items differ; the last number of them is more than is summed one by one."""
    for won in (n // 2 + 1, 3 * n // 5, 9 * n // 10, n):
        a, b = np.arange(n) < won, np.arange(n) >= won
        result = exact_test(a, b)
        assert result.log10_pvalue == pytest.approx(
            (math.log(2) + binom.logsf(won - 1, n, 0.5)) / math.log(10), rel=1e-11
        )
        assert result.p_equal == pytest.approx(2 * binom.pmf(won, n, 0.5), rel=1e-10)
        assert exact_test(a, b, alternative="less").pvalue == pytest.approx(binom.cdf(won, n, 0.5), rel=1e-12)


def test_a_transform_has_the_nearest_fast_length():
    """The lengths are those that scipy takes for transforms of real numbers."""
    from scipy.fft import next_fast_len

    lengths = [*range(1, 700), 10**5 + 1, 2**24 - 1, 2**24, 2**26 + 1]
    assert [*map(distributions._fast_length, lengths)] == [next_fast_len(length, real=True) for length in lengths]
