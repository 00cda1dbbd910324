"""Intervals over systems against brute force, and how often they hold a truth that is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import t as student

from conftest import repetitions
from pairsig.core import exceedances
from pairsig.core.influence import degrees_of_freedom
from study.analysis import expected, over_systems
from study.analysis.pairs import quantile_interval


@st.composite
def rows(draw):
    n = draw(st.integers(4, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n_systems, n_test_sets, ordered = draw(st.integers(3, 8)), draw(st.integers(2, 5)), draw(st.booleans())
    systems = np.array([rng.choice(n_systems, 2, replace=False) for _ in range(n)])
    test_sets = np.array([rng.choice(n_test_sets, 2, replace=False) for _ in range(n)])
    if ordered:
        test_sets[:, 1] = -1
    residuals = rng.standard_normal(n)
    return residuals - residuals.mean(), systems, test_sets


def sharing(codes):
    members = [set(row) - {-1} for row in codes.tolist()]
    return np.array([[bool(one & other) for other in members] for one in members])


def one_way(y, weights, codes):
    """Every member left out in turn from a weighted mean; the sum over rows of the same two members, half with either.

    At least that sum for what it is itself; members of all rows are given.
    """
    e = weights * (y - np.average(y, weights=weights)) / weights.sum()
    total, pairs = 0.0, 0.0
    names = [name for name in np.unique(codes[codes >= 0]) if (codes != name).all(axis=1).any()]
    left = {name: (codes != name).all(axis=1) for name in names}
    for kept in left.values():
        total += (np.average(y[kept], weights=weights[kept]) - np.average(y, weights=weights)) ** 2
    for a, b in {tuple(sorted(row)) for row in codes.tolist() if -1 not in row}:
        together = e[(np.sort(codes, axis=1) == (a, b)).all(axis=1)].sum() ** 2
        pairs += together
        if a in left and b in left:
            total -= together * sum((weights.sum() / weights[left[one]].sum()) ** 2 for one in (a, b)) / 2
    return max(total, pairs)


@given(rows(), st.booleans())
def test_variance_is_the_jackknife_over_systems_and_test_sets(made, weighted):
    y, systems, test_sets = made
    weights = 0.5 + np.abs(y) if weighted else np.ones(len(y))
    given = {} if not weighted else {"weights": weights}
    e = weights * (y - np.average(y, weights=weights)) / weights.sum()
    one, other = one_way(y, weights, systems), one_way(y, weights, test_sets)
    assert over_systems.variance(e, systems, **given)[0] == pytest.approx(max(one, e @ e), abs=1e-9)
    both = e @ (sharing(systems) & sharing(test_sets)) @ e
    expected = max(one + other - max(both, 0), one, other, e @ e)
    assert over_systems.variance(e, systems, test_sets, **given)[0] == pytest.approx(expected, abs=1e-9)


def test_the_two_halves_of_a_test_set_are_one_draw():
    """Each is with the other alone: two test sets in halves tell a variance with one degree of freedom, not three."""
    pairs = np.stack(np.triu_indices(8, k=1), axis=1)
    systems = np.concatenate([pairs, 8 + pairs])
    halves = np.repeat([[0, 1], [2, 3]], 28, axis=0)
    e = np.repeat([1.0, -1.0], 28) / 56
    value, degrees = over_systems.variance(e, systems, halves)
    by_name = over_systems.variance(e, systems, np.repeat([[0, -1], [2, -1]], 28, axis=0))
    assert (value, degrees) == pytest.approx(by_name)
    # Two numbers, 1 and −1, of which either may be left out: 1² + 1²; one degree of freedom.
    alone, one = over_systems.variance(e, np.arange(112).reshape(-1, 2), halves)
    assert (alone, one) == (pytest.approx(2.0, rel=0.001), pytest.approx(1.0, abs=0.05))


def korn_and_graubard(replicated, weights, systems):
    """The interval of a share for the number of independent rows with the same variance."""
    share, rows = np.average(replicated, weights=weights), len(replicated)
    e = weights * (replicated - share) / weights.sum()
    _, degrees = over_systems.variance(e, systems, weights=weights)
    n = min(share * (1 - share) / max(one_way(replicated.astype(float), weights, systems), e @ e), rows)
    n *= (student.ppf(0.975, rows - 1) / student.ppf(0.975, min(degrees, rows - 1))) ** 2
    return tuple(map(float, exceedances.clopper_pearson(share * n, n)))


def test_effective_sample_size_of_a_weighted_share_follows_its_variance():
    rng = np.random.default_rng(4)
    systems = np.stack(np.triu_indices(9, k=1), axis=1)
    replicated, weights = rng.random(36) < 0.7, np.r_[np.full(30, 0.2), np.full(6, 3.0)]
    expected = korn_and_graubard(replicated, weights, systems)
    assert over_systems.share(replicated, systems, weights=weights)[1:] == pytest.approx(expected)


@pytest.mark.parametrize(("share", "weighted"), [(0.5, False), (0.72, False), (0.72, True)])
def test_a_quantile_lies_where_the_interval_of_its_share_ends(share, weighted):
    rng = np.random.default_rng(8)
    systems = np.stack(np.triu_indices(10, k=1), axis=1)
    values = rng.standard_exponential(45)
    weights = rng.uniform(0.5, 2, 45) if weighted else np.ones(45)
    order = np.argsort(values)
    middles = (weights[order].cumsum() - weights[order] / 2) / weights.sum()

    found = np.interp(share, middles, values[order])
    ends = (
        korn_and_graubard(values < found, weights, systems)[0],
        korn_and_graubard(values <= found, weights, systems)[1],
    )
    expected = (found, *np.interp(ends, middles, values[order]))
    assert expected[1] < found < expected[2]
    given = {"weights": weights} if weighted else {}
    assert quantile_interval(values, systems, share, **given) == pytest.approx(expected)


def test_jackknife_of_a_mean_is_its_variance():
    values = np.array([1.0, 4.0, 2.0, 8.0, 5.0])
    found, degrees = over_systems.jackknife((values.sum() - values) / 4)
    assert found == pytest.approx(values.var(ddof=1) / 5)
    low, high = over_systems.interval(4.0, found, degrees)
    assert high - 4 == pytest.approx(student.ppf(0.975, degrees) * np.sqrt(found))
    assert 4 - low == pytest.approx(high - 4)
    weights = over_systems.replicates(np.array([[0, 1], [1, 2]]), [2, 3])
    assert weights.tolist() == [[2, 3], [0, 3], [0, 0], [2, 0]]


@pytest.mark.parametrize("over_levels", [False, True])
def test_a_slope_is_least_squares_with_dummies_and_its_interval_leaves_out_each_member(over_levels):
    rng = np.random.default_rng(3)
    level, systems = np.repeat([0, 1, 2, 3], 10), np.tile(np.stack(np.triu_indices(5, 1), axis=1), (4, 1))
    x = rng.standard_normal(40)
    y = 0.4 * x + level**2 + rng.standard_normal(40)
    members = np.stack([level, np.full(40, -1)], axis=1) if over_levels else systems

    def fitted(rows):
        dummies = np.eye(4)[level[rows]]
        return np.linalg.lstsq(np.column_stack([x[rows], dummies]), y[rows], rcond=None)[0][0]

    left = [fitted((members != member).all(axis=1)) for member in range(4 if over_levels else 5)]
    slope = fitted(np.ones(40, dtype=bool))
    expected = slope, *over_systems.interval(slope, *over_systems.jackknife(left))
    assert over_systems.slope(y, x, level, members) == pytest.approx(expected)


def test_a_row_with_one_member_counts_it_once():
    codes = np.array([[0, -1], [0, 1], [2, 1]])
    assert over_systems.n_members(codes) == 3
    assert over_systems.replicates(codes).tolist() == [[1, 1, 1], [0, 0, 1], [1, 0, 0], [1, 1, 0]]
    y = np.array([1.0, 2.0, 6.0]) - 3
    # Members 0, 1 and 2 have the rows {0, 1}, {1, 2} and {2}; two rows have two members.
    changes = np.array([(y[0] + y[1]) / 3 / (1 - 2 / 3), (y[1] + y[2]) / 3 / (1 - 2 / 3), y[2] / 3 / (1 - 1 / 3)])
    twice = (9 + 9) / 2 * (y[1] / 3) ** 2 + (9 + 2.25) / 2 * (y[2] / 3) ** 2
    found, _ = over_systems.variance(y / 3, codes)
    assert found == pytest.approx(max((changes**2).sum() - twice, (y**2).sum() / 9))


def test_scales():
    assert over_systems.interval(2.0, 0.0, 5, scale="log") == (2.0, 2.0)
    low, high = over_systems.interval(2.0, 0.09, 5, scale="log")
    assert low * high == pytest.approx(4.0)
    assert over_systems.interval(1e-6, 1.0, 5, scale="log") == (0.0, np.inf)
    low, high = over_systems.interval(0.9, 0.01, 5, scale="logit")
    assert 0 < low < 0.9 < high < 1
    assert np.isnan(over_systems.interval(1.0, 0.01, 5, scale="logit")).all()


def test_no_rows_and_one_row():
    none = np.empty((0, 2), dtype=int)
    assert np.isnan(over_systems.share([], none)).all()
    assert over_systems.share([1.0], np.array([[0, 1]])) == (1.0, pytest.approx(0.025), 1.0)
    assert over_systems.variance([], none) == (0.0, 1.0)
    assert over_systems.variance([0.0, 0.0], np.array([[0, 1], [0, 2]])) == (0.0, 1.0)


WINDOW = (0.04, 0.06)


def rows_of(rng, quality, errors, n_systems, *, domains):
    """All pairs of systems of some base models: systems, true gains, gains on test sets, and the standard error.

    `quality` are the true scores of the base models, and `errors` theirs on each test set; shape (test sets, models).
    """
    model, own = rng.integers(0, len(quality), n_systems), 0.5 * np.exp(0.3 * rng.standard_normal(n_systems))
    true = 3.5 * rng.standard_normal(n_systems) + quality[model]
    scores = true + errors[:, model] + np.sqrt(own + domains) * rng.standard_normal((len(errors), n_systems))
    a, b = np.triu_indices(n_systems, 1)
    error = np.sqrt(own[a] + own[b] + (model[a] != model[b]))
    return np.stack([a, b], axis=1), true[a] - true[b], scores[:, a] - scores[:, b], error


def counted(gain, gains, error, against):
    """Which pairs are in the window and which of all replicate, and the expected chances of all pairs."""
    p = ndtr(-np.abs(gains[0]) / error)
    inside = (p >= WINDOW[0]) & (p <= WINDOW[1])
    if against == "population":
        return inside, (gains[0] > 0) == (gain > 0), expected.on_population(gain, error, *WINDOW)
    return inside, (gains[0] > 0) == (gains[1] > 0), expected.on_another(gains[0], error, gains[1], error, *WINDOW)


def held(truth, mean, inside, replicated, chances, systems, test_sets=None):
    """Whether the intervals of the share, the expected one and their difference hold the truth; nan without."""
    _, low, high = over_systems.share(
        replicated[inside], systems[inside], None if test_sets is None else test_sets[inside]
    )
    centre, least, most = expected.share(*chances, systems, test_sets)
    _, *difference = expected.difference((replicated[inside].mean(), low, high), (centre, least, most))
    truths = ((truth, low, high), (mean, least, most), (truth - mean, *difference))
    return [float(low <= true <= high) if low <= high else np.nan for true, low, high in truths]


DESIGNS = {
    # systems per dataset, test sets of each, the second test sets, whether domains differ
    "12 systems, 20 draws of a population": ([12], 20, "population", False),
    "12 systems, 4 test sets of as many domains": ([12], 4, "another", True),
    "12 systems, 12 test sets": ([12], 12, "another", False),
    "40 systems on one, 10 on 5, halves": ([40, *[10] * 5], 2, "another", False),
}


def on_test_sets(rng, quality, design):
    """Which rows are in the window and which of them replicate; chances, systems and test sets of all rows."""
    sizes, n_test_sets, against, domains = design
    found, start, place = [], 0, 0
    for n_systems in sizes:
        errors = np.sqrt(0.5) * rng.standard_normal((n_test_sets, len(quality)))
        pairs, gain, gains, error = rows_of(rng, quality, errors, n_systems, domains=domains)
        for on in range(n_test_sets):
            for other in range(n_test_sets) if against == "another" else [-1]:
                if other != on:
                    inside, same, chances = counted(gain, gains[[on, other]], error, against)
                    label = [place + on, place + other if other >= 0 else -1]
                    found.append((inside, same, *chances, start + pairs, np.tile(label, (len(pairs), 1))))
        start, place = start + n_systems, place + n_test_sets
    return [np.concatenate(part) for part in zip(*found, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_coverage_of_the_truth_where_test_sets_are_drawn(design):
    """The truth is that of infinitely many systems and test sets."""
    rng, found, n_runs = np.random.default_rng(1), [], repetitions(100)
    for _ in range(n_runs):
        quality = 1.75 * rng.standard_normal(5)
        inside, same, right, wrong, *_ = on_test_sets(rng, quality, ([25] * 150, min(design[1], 2), *design[2:]))
        truth, mean = same[inside].mean(), right.sum() / (right + wrong).sum()
        inside, same, right, wrong, systems, test_sets = on_test_sets(rng, quality, design)
        found.append(held(truth, mean, inside, same, (right, wrong), systems, over_systems.drawn(test_sets)))
    assert (np.nanmean(found, axis=0) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / n_runs)).all()


@pytest.mark.parametrize("size", [1e-70, 1e-80, 1e-100, 1e-200, 0.0])
def test_what_hardly_varies_has_degrees_of_freedom(size):
    """Pairs that are expected nowhere near the window weigh next to nothing: 1e-85 squared twice is 0."""
    values = size * np.array([1.0, -1.0, 2.0, 0.0, 0.5])
    with np.errstate(all="raise", under="ignore"):
        assert 1 <= over_systems.degrees(values) <= 4
    systems = np.array([[0, 1], [0, 2], [1, 2]])
    value, found = over_systems.variance(size * np.array([1.0, -0.4, -0.6]), systems)
    assert value >= 0
    assert found >= 1
    squares = np.square(size * np.array([[1.0, 2.0, 0.5, 0.1]]))
    with np.errstate(all="raise", under="ignore"):
        assert 0 < degrees_of_freedom(squares)[0] <= 3
