"""What gains on several test sets say of the next: printed values of another program, closed forms, brute force."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.stats import norm
from scipy.stats import t as student

import pairsig
import simulate
from against import compare_with_one
from pairsig import InputError, cli
from pairsig.comparisons import all_pairs
from pairsig.io import tables
from pairsig.metrics import registry
from pairsig.planning import heterogeneity
from pairsig.planning.heterogeneity import random_effects

# Thirteen trials of a vaccine (Colditz et al. 1994): ill and well with it, ill and well without.
TRIALS = np.array([
    [4, 119, 11, 128], [6, 300, 29, 274], [3, 228, 11, 209], [62, 13536, 248, 12619], [33, 5036, 47, 5761],
    [180, 1361, 372, 1079], [8, 2537, 10, 619], [505, 87886, 499, 87892], [29, 7470, 45, 7232], [17, 1699, 65, 1600],
    [186, 50448, 141, 27197], [5, 2493, 3, 2338], [27, 16886, 29, 17825],
])  # fmt: skip


def test_metafors_printed_values():
    """Of R's metafor on these trials: τ² by Paule and Mandel 0.3181, its interval by Q 0.1197 to 1.1115."""
    a, b, c, d = TRIALS.T
    effect = np.log(a / (a + b)) - np.log(c / (c + d))
    variance = 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)
    found = random_effects(effect, np.sqrt(variance))
    assert found.heterogeneity[0] ** 2 == pytest.approx(0.3181, abs=5e-5)
    assert found.heterogeneity_low[0] ** 2 == pytest.approx(0.1197, abs=5e-5)
    assert found.heterogeneity_high[0] ** 2 == pytest.approx(1.1115, abs=5e-5)
    assert found.gain[0] == pytest.approx(-0.7150, abs=5e-4)


def brute(d, v, target):
    def q(tau2):
        w = 1 / (v + tau2)
        return (w * (d - (w * d).sum() / w.sum()) ** 2).sum() - target

    return brentq(q, 0, 1e6, xtol=1e-14) if q(0) > 0 else 0.0


def test_heterogeneity_is_the_root():
    rng = np.random.default_rng(3)
    gains, errors = rng.normal(1, 2, (20, 6)), rng.uniform(0.3, 2, (20, 6))
    found = random_effects(gains, errors)
    for row in range(20):
        assert found.heterogeneity[row] ** 2 == pytest.approx(brute(gains[row], errors[row] ** 2, 5), abs=1e-9)
    assert (found.heterogeneity == 0).any()
    assert (found.heterogeneity > 0).any()


@pytest.mark.parametrize("n", [2, 3, 8])
def test_large_test_sets_leave_a_normal_sample(n):
    """Without errors of measurement the next gain is Student's, as that of the next of n normal values is."""
    gains = np.random.default_rng(n).normal(1, 2, n)
    found = random_effects(gains, np.full(n, 1e-4))
    mean, sd = gains.mean(), gains.std(ddof=1)
    reach = student.ppf(0.975, n - 1) * sd
    assert found.gain[0] == pytest.approx(mean, rel=1e-6)
    assert found.heterogeneity[0] == pytest.approx(sd, rel=1e-6)
    for low, high, times in (
        (found.ci_low, found.ci_high, np.sqrt(1 / n)),
        (found.prediction_low, found.prediction_high, np.sqrt(1 + 1 / n)),
    ):
        assert low[0] == pytest.approx(mean - reach * times, rel=2e-3)
        assert high[0] == pytest.approx(mean + reach * times, rel=2e-3)
    # The chance is that with one more test set, on which the two are equal.
    more = np.append(gains, 0.0)
    expected = student.cdf(-abs(more.mean()) / (more.std(ddof=1) * np.sqrt(1 + 1 / (n + 1))), n)
    assert found.p_next[0] == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize(("n", "least"), [(2, 0.2113), (3, 0.1361), (4, 0.0889), (6, 0.0391), (10, 0.0081)])
def test_the_least_chance_that_so_few_test_sets_leave(n, least):
    """Gains as alike as can be on large test sets; on small ones they say less."""
    assert student.cdf(-np.sqrt(n**2 / (n + 2)), n) == pytest.approx(least, abs=1e-4)
    varied = np.random.default_rng(n).normal(3, 1, (50, n))
    gains = np.concatenate([np.full((2, n), -3.0), varied])
    errors = np.repeat([1e-4, 1.0, 0.2], [1, 1, 50])[:, None] * np.ones(n)
    found = random_effects(gains, errors).p_next
    assert found[0] == pytest.approx(least, abs=2e-4)
    assert found[1:].min() > least


def reliability(n, spread, *, unequal, n_pairs, seed=1):
    """Chances of losing that were predicted, and whether it lost; gains of pairs vary by so many times τ = 1."""
    rng = np.random.default_rng(seed)
    gain = rng.normal(0, spread, n_pairs)
    errors = 0.5 * (rng.uniform(0.4, 1.6, (n_pairs, n)) if unequal else np.ones((n_pairs, n)))
    found = random_effects(
        gain[:, None] + rng.normal(size=(n_pairs, n)) + errors * rng.normal(size=(n_pairs, n)), errors
    )
    return found.p_next, np.where(found.gain > 0, 1, -1) * (gain + rng.normal(size=n_pairs)) < 0


@pytest.mark.parametrize(
    ("spread", "predicted", "lost"),
    [
        (1, 2.5, 18),
        pytest.param(1.5, 2.1, 9, marks=pytest.mark.slow),
        pytest.param(3, 1.2, 2.3, marks=pytest.mark.slow),
    ],
)
def test_a_known_heterogeneity_ignores_how_large_gains_usually_are(spread, predicted, lost):
    """The rows of docs/next-test-set.md, in per cent of the pairs with p < 0.05."""
    rng = np.random.default_rng(7)
    p, wrong = [], []
    for error in (0.05, 0.5, 2):
        true = rng.normal(0, spread, 40_000)
        gain = true + rng.normal(0, np.hypot(1, error), len(true))
        found = random_effects(gain[:, None], np.full((len(gain), 1), error), heterogeneity=1)
        small = found.p_next < 0.05
        p.append(found.p_next[small])
        wrong.append(((true + rng.normal(size=len(true)) > 0) != (gain > 0))[small])
    assert 100 * np.concatenate(p).mean() == pytest.approx(predicted, abs=0.1)
    assert 100 * np.concatenate(wrong).mean() == pytest.approx(lost, abs=1)


@pytest.mark.parametrize(("n", "spread"), [(2, 1.5), pytest.param(10, 1, marks=pytest.mark.slow)])
def test_predicted_chances_come_true(n, spread):
    """None is smaller than how often it lost, among the pairs for which it was predicted."""
    p, lost = reliability(n, spread, unequal=True, n_pairs=300)
    for low, high in ((0, 0.05), (0.05, 0.2), (0.2, 0.3)):
        own = (p >= low) & (p < high)
        assert lost[own].sum() <= p[own].sum() + 3 * np.sqrt((p[own] * (1 - p[own])).sum())


def test_test_sets_that_do_not_differ():
    """Gains as near as their errors allow: τ = 0, and the mean is that of one source."""
    found = random_effects([1.0, 1.1, 0.9], [0.5, 0.5, 0.5])
    assert (found.heterogeneity[0], found.heterogeneity_low[0]) == (0, 0)
    assert found.gain[0] == pytest.approx(1)
    assert found.pvalue_iid[0] == pytest.approx(norm.sf(1 / (0.5 / np.sqrt(3))))
    assert found.p_next[0] > found.pvalue_iid[0]


def test_a_specified_heterogeneity():
    one = random_effects([2.0], [0.6], heterogeneity=0.8)
    spread = np.sqrt(0.6**2 + 2 * 0.8**2)
    assert one.p_next[0] == pytest.approx(norm.sf(2 / spread))
    assert one.prediction_low[0] == pytest.approx(2 - 1.959964 * spread, rel=1e-6)
    assert one.pvalue_iid[0] == pytest.approx(norm.sf(2 / 0.6))
    assert np.isnan(one.heterogeneity_low[0])
    several = random_effects([2.0, 1.0, 0.3], [0.6, 0.2, 1.0], heterogeneity=0.8)
    weights = 1 / (np.array([0.6, 0.2, 1.0]) ** 2 + 0.64)
    assert several.gain[0] == pytest.approx(np.average([2, 1, 0.3], weights=weights))
    assert several.ci_high[0] - several.gain[0] == pytest.approx(1.959964 / np.sqrt(weights.sum()), rel=1e-6)


def test_p_is_about_the_system_with_the_higher_mean():
    """If all signs turn, p stays; the large test set, on which the other system wins, decides pvalue_iid alone."""
    gains, errors = np.array([3.0, 2.5, 3.2, -0.2]), np.array([0.5, 0.5, 0.5, 0.01])
    found = random_effects([gains, -gains], [errors, errors])
    assert found.gain[0] == pytest.approx(-found.gain[1])
    assert found.gain[0] > 0
    assert found.pvalue_iid[0] > 0.5
    assert found.pvalue_iid[0] == pytest.approx(found.pvalue_iid[1])
    assert found.p_next[0] == pytest.approx(found.p_next[1])
    assert found.prediction_low[0] == pytest.approx(-found.prediction_high[1])
    # Where the mean is next to 0, the other system may even be the likelier one.
    near = random_effects([[-0.5, 1.8, 0.2], [0.5, -1.8, -0.2]], [[0.3, 2, 0.05]] * 2)
    assert near.p_next[0] > 0.5
    assert near.p_next[0] == pytest.approx(near.p_next[1])


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 5, 20])
@pytest.mark.parametrize("ratio", [0.5, 2])
def test_coverage(n, ratio):
    rng = np.random.default_rng(n)
    errors = rng.uniform(0.4, 1.6, (1500, n))
    found = random_effects(1 + ratio * rng.normal(size=(1500, n)) + errors * rng.normal(size=(1500, n)), errors)
    following = 1 + ratio * rng.normal(size=1500)
    margin = 3 * np.sqrt(0.05 * 0.95 / 1500)
    for low, high, truth in (
        (found.ci_low, found.ci_high, 1),
        (found.prediction_low, found.prediction_high, following),
        (found.heterogeneity_low, found.heterogeneity_high, ratio),
    ):
        assert ((low <= truth) & (truth <= high)).mean() > 0.945 - margin


@pytest.mark.parametrize(
    ("gains", "errors", "options", "message"),
    [
        ([1.0], [0.5], {}, "found 1 test set, expected at least 2 to estimate how much gains differ between them"),
        ([1.0, 2.0], [0.5], {}, r"found gains of shape \(1, 2\) and standard errors of shape \(1, 1\)"),
        ([1.0, np.nan], [0.5, 0.5], {}, "not finite"),
        ([1.0, 1.0], [0.5, -0.5], {}, "negative"),
        ([1.0, 1.0], [0.5, 0.5], {"confidence_level": 1.0}, "the confidence level is 1.0"),
        ([1.0], [0.5], {"heterogeneity": -1.0}, "found heterogeneity=-1.0, expected a number of points, 0 or more"),
        (
            [1.0],
            [0.5],
            {"heterogeneity": [1.0, 2.0]},
            "found 2 heterogeneities for 1 pairs, expected one, or one per pair",
        ),
    ],
)
def test_what_is_refused(gains, errors, options, message):
    with pytest.raises(InputError, match=message):
        random_effects(gains, errors, **options)


@pytest.fixture(scope="module")
def comparisons():
    parts = []
    for seed in range(4):
        data = simulate.statistics("f1", n_systems=5, n_segments=60, seed=seed, dataset=f"d{seed}")
        parts.append(all_pairs.compare(data, metric="f1", n_resamples=20))
    return parts


@pytest.fixture
def compared(comparisons, monkeypatch):
    """Tables of four test sets; what is computed from them needs few digits."""
    monkeypatch.setattr(heterogeneity, "_QUANTILES", np.linspace(-6, 6, 13))
    return comparisons


def test_all_pairs(compared):
    table = heterogeneity.transfers(pd.concat(compared))
    assert len(table) == 10
    gains, errors = [], []
    for row in table.itertuples():
        own = []
        for part in compared:
            names = part["system_a"] + " " + part["system_b"]
            own += part[names.isin([f"{row.system_a} {row.system_b}", f"{row.system_b} {row.system_a}"])].itertuples()
        gains.append([one.gain if one.system_a == row.system_a else -one.gain for one in own])
        errors.append([one.standard_error for one in own])
    alone = random_effects(gains, errors)
    assert (table["gain"] >= 0).all()
    assert table["n_won"].tolist() == [sum(gain > 0 for gain in own) for own in gains]
    names = "gain", "prediction_low", "prediction_high", "pvalue_iid", "p_next", "ci_low", "ci_high", "heterogeneity"
    for name in names:
        np.testing.assert_allclose(table[name], getattr(alone, name), rtol=1e-6)
    reliable = heterogeneity.SMALLEST_RELIABLE_GAIN * table["heterogeneity"]
    np.testing.assert_allclose(table["smallest_reliable_gain"], reliable)


def test_of_several_tests_the_first_is_taken(compared):
    first, second, *_ = compared
    both = [first, second, first.assign(test="other", gain=0.0), second.assign(test="other", gain=1.0)]
    pd.testing.assert_frame_equal(
        heterogeneity.transfers(pd.concat(both)), heterogeneity.transfers(pd.concat(both[:2]))
    )


def test_no_gain_is_not_won_and_equal_outputs_are_no_copy(compared):
    pair = [
        part.head(1).assign(system_a="a", system_b="b", gain=gain)
        for part, gain in zip(compared, (2, 0, 1), strict=False)
    ]
    (row,) = heterogeneity.transfers(pd.concat(pair)).itertuples()
    assert (row.n_won, row.n_test_sets) == (2, 3)
    (row,) = heterogeneity.transfers(pd.concat([one.assign(gain=0.0, standard_error=0.0) for one in pair])).itertuples()
    assert (row.n_won, row.p_next) == (0, pytest.approx(0.5))


def test_a_family_by_the_metric_that_it_was_measured_by(monkeypatch):
    (first, *_) = heterogeneity.families()
    by_other = replace(first, metric="chrf", kappa_squared=0.5)
    monkeypatch.setattr(heterogeneity, "families", lambda: (first, by_other))
    assert heterogeneity.known_family(first.family, "chrf") is by_other
    assert heterogeneity.known_family(first.family, first.metric) is first
    assert heterogeneity.known_family(first.family, "f1") is first


def test_tables_that_do_not_fit(compared):
    first, second, *_ = compared
    name = first["system_a"].iloc[0]
    lacking = second[(second["system_a"] != name) & (second["system_b"] != name)]
    halves = first.assign(test_set="half-1", derived="half")
    for tables_given, message in (
        ([first, first], "are compared more than once on d0:whole, expected once"),
        ([first, lacking], f"system {name} is on d0:whole but not on d1:whole, expected it on every test set"),
        ([lacking, first], f"system {name} is on d0:whole but not on d1:whole, expected it on every test set"),
        ([first, second.iloc[1:]], "d1:whole has 9 pairs of 5 systems, expected all 10"),
        ([first, second.assign(metric="bleu")], "found comparisons by f1 and by bleu, expected one metric"),
        ([first, halves, second], "found dataset d0 as whole, half, expected the whole, or its domains"),
        ([first.iloc[:0]], "found no comparisons"),
        ([first, first.assign(dataset="copy")], "d0:whole and copy:whole have the same gains for all pairs"),
        ([first], "1 test set, expected at least 2"),
    ):
        with pytest.raises(InputError, match=message):
            heterogeneity.transfers(pd.concat(tables_given))


def test_some_systems(compared):
    first, second, *_ = compared
    a, b, *_ = sorted(set(first["system_a"]) | set(first["system_b"]))
    both = pd.concat([first, second])
    table = heterogeneity.transfers(both, systems=[b, a])
    whole = heterogeneity.transfers(both)
    of = whole[(whole["system_a"] + whole["system_b"]).isin([a + b, b + a])]
    pd.testing.assert_frame_equal(table, of.reset_index(drop=True))
    lacking = second[(second["system_a"] != a) & (second["system_b"] != a)]
    for given, systems, message in (
        ([first, lacking], [a, b], f"system {a} is missing on d1:whole, expected it on every test set"),
        ([lacking, first], [a, b], f"system {a} is missing on d1:whole, expected it on every test set"),
        ([first, second], [a, a], f"system {a} is named 2 times, expected once"),
        ([first, second], [a], f"found one system, {a}, expected at least two"),
        ([first, second], [a, "x"], "unknown system 'x', expected one of"),
    ):
        with pytest.raises(InputError, match=message):
            heterogeneity.transfers(pd.concat(given), systems=systems)


def test_the_command(compared, tmp_path, capsys):
    paths = []
    for number, table in enumerate(compared):
        paths.append(str(tmp_path / f"{number}.tsv"))
        tables.write(table, paths[-1])
    output = tmp_path / "t.tsv"
    assert cli.main(["transfer", *paths, "--output", str(output)]) == 0
    assert len(tables.read(output)) == 10
    assert cli.main(["transfer", paths[0], "--heterogeneity", "0.5", "--output", str(output)]) == 0
    assert tables.read(output)["heterogeneity_specified"].all()
    capsys.readouterr()
    assert cli.main(["transfer", *paths, "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 10
    assert cli.main(["transfer", paths[0], "--output", str(output)]) == 2
    assert "expected at least 2" in capsys.readouterr().err


def test_a_family_gives_each_pair_its_own_heterogeneity(compared):
    (first, *_) = compared
    like = heterogeneity.known_family("wmt-domains")
    table = heterogeneity.transfers(first, family="wmt-domains")
    own = first.set_index(["system_a", "system_b"])
    for row in table.itertuples():
        of = own.loc[(row.system_a, row.system_b)]
        # A test set of n segments says as much of another as n' of that one do: p on so many.
        n = 1 / (1 / of["n_segments"] + 2 * like.kappa_squared)
        assert row.p_next == pytest.approx(norm.sf(of["gain"] / (of["standard_error"] * np.sqrt(60 / n))))
        assert row.pvalue_iid == pytest.approx(norm.sf(of["gain"] / of["standard_error"]))
        assert row.heterogeneity == pytest.approx(np.sqrt(like.kappa_squared * 60) * of["standard_error"])
        assert (row.family, row.heterogeneity_specified) == ("wmt-domains", True)
    twice = heterogeneity.transfers(pd.concat(compared[:2]), family="wmt-domains")
    assert (twice["p_next"] > twice["pvalue_iid"]).all()


def test_a_family_takes_each_test_set_with_its_own_size_and_error():
    """τ² = κ² times the mean over the test sets of n s², not with the first one's n, nor the largest."""
    like = heterogeneity.known_family("wmt-domains")
    errors, sizes = [[0.5, 2.0, 1.0], [3.0, 0.1, 0.2]], [400, 100, 900]
    spread = [(400 * 0.25 + 100 * 4 + 900) / 3, (400 * 9 + 100 * 0.01 + 900 * 0.04) / 3]
    assert like.heterogeneity(errors, sizes) == pytest.approx(np.sqrt(like.kappa_squared * np.array(spread)))

    sizes = (60, 25, 200)
    parts = [
        all_pairs.compare(
            simulate.statistics("f1", n_systems=3, n_segments=n, seed=n, dataset=f"d{n}"), metric="f1", n_resamples=20
        )
        for n in sizes
    ]
    for order in (parts, parts[::-1]):
        for row in heterogeneity.transfers(pd.concat(order), family="wmt-domains").itertuples():
            pair = {row.system_a, row.system_b}
            own = [
                part[[{a, b} == pair for a, b in part[["system_a", "system_b"]].to_numpy()]].iloc[0] for part in parts
            ]
            spread = np.mean([n * one["standard_error"] ** 2 for n, one in zip(sizes, own, strict=True)])
            assert row.heterogeneity == pytest.approx(np.sqrt(like.kappa_squared * spread))


def test_the_smallest_reliable_gain_is_that_of_a_test_set_of_any_size():
    for tau in (0.3, 4.0):
        gain = heterogeneity.SMALLEST_RELIABLE_GAIN * tau
        assert random_effects([gain], [1e-9], heterogeneity=tau).p_next[0] == pytest.approx(0.05)
        assert random_effects([gain], [0.1], heterogeneity=tau).p_next[0] > 0.05
    for one in heterogeneity.families():
        assert one.kappa_squared_low <= one.kappa_squared <= one.kappa_squared_high
        # The gain that is at p = 0.05 on 1/(2κ²) segments.
        assert heterogeneity.SMALLEST_RELIABLE_GAIN * float(one.heterogeneity([1.0], [1])) == pytest.approx(
            1.6448536 / np.sqrt(one.effective_sample_size)
        )


def test_what_is_printed_says_what_it_means(compared, tmp_path, capsys):
    path = str(tmp_path / "one.tsv")
    tables.write(compared[0].query("system_a == system_a.iloc[0]").head(1).assign(n_segments=49), path)
    assert cli.main(["transfer", path, "--family", "wmt-domains"]) == 0
    printed = capsys.readouterr().out
    assert "not estimated from your data but from the family wmt-domains" in printed
    assert "your metric is f1, for which it was not validated" in printed
    assert "p (next) is rough: 49 segments are too few for the normal approximation of gains" in printed
    assert cli.main(["transfer", path, "--family", "wmt-domain"]) == 2
    refused = capsys.readouterr().err
    assert all(one.family in refused for one in heterogeneity.families())
    assert "did you mean wmt-domains?" in refused
    assert cli.main(["transfer", path, "--family", "wmt-domains", "--heterogeneity", "1"]) == 2
    assert "expected one of them" in capsys.readouterr().err
    assert cli.main(["transfer", path, "--family", "ewt-genres", "--output", str(tmp_path / "t.tsv")]) == 0
    assert "from the family ewt-genres" in capsys.readouterr().err


def test_a_chance_below_what_normal_tails_can_tell(compared):
    table = heterogeneity.transfers(pd.concat(compared)).assign(p_next=1e-9, pvalue_iid=1e-30)
    printed = heterogeneity.render(table, [])
    assert "< 0.0001" in printed
    assert "< 0.01" in printed
    printed = heterogeneity.render(table.assign(p_next=heterogeneity.LEAST_CHANCE, pvalue_iid=1e-4), [])
    assert "<" not in printed
    assert "rough" in heterogeneity.notes(table, heterogeneity.ROUGH - 1)[0]
    assert not heterogeneity.notes(table, heterogeneity.ROUGH)


@pytest.mark.parametrize("unit", ["segment", "document"])
def test_two_systems_on_the_next_test_set(unit):
    data = simulate.statistics("f1", n_systems=2, n_segments=100, seed=1)
    documents = np.repeat(np.arange(25), 4).astype(str)
    data = pairsig.Statistics(**{**vars(data), "documents": documents})
    metric = registry.metric("f1")
    table, _ = compare_with_one(data, [metric], ["exact"], unit=unit, family="wmt-domains")
    (notes,) = table["notes"]
    (fragments,) = [note for note in notes if "of the family wmt-domains is" in note]
    # Errors by the score without each unit, brute force.
    counts = data.of(metric).astype(float)
    whole = metric.score(counts.sum(axis=1))
    errors = {}
    for name, labels in (("segment", np.arange(100)), ("document", np.repeat(np.arange(25), 4))):
        changes = [metric.score(counts.sum(axis=1) - counts[:, labels == k].sum(axis=1)) for k in np.unique(labels)]
        change = np.subtract(*np.array(changes).T)
        errors[name] = np.sqrt(((change - change.mean()) ** 2).sum())
    kappa = heterogeneity.known_family("wmt-domains").kappa_squared
    spread = np.sqrt(errors[unit] ** 2 + 2 * kappa * 100 * errors["segment"] ** 2)
    chance = norm.sf(abs(whole[0] - whole[1]) / spread)
    assert float(fragments.split("of the family wmt-domains is ")[1].split(",")[0]) == pytest.approx(chance, rel=0.02)
    with pytest.raises(InputError, match="unknown family of test sets: 'wmt'"):
        compare_with_one(data, [metric], ["exact"], family="wmt")
    same = pairsig.Statistics(**{**vars(data), "counts": data.counts[[0, 0]]})
    table, _ = compare_with_one(same, [metric], ["exact"], family="wmt-domains")
    assert not any("wmt-domains" in note for note in table["notes"].iloc[0])


if __name__ == "__main__":  # the table of probabilities in docs/next-test-set.md
    for times in (0.5, 1, 1.5, 3):
        cells = []
        for count in (2, 3, 4, 6, 10):
            halves = [reliability(count, times, unequal=unequal, n_pairs=1500) for unequal in (False, True)]
            p, lost = (np.concatenate(values) for values in zip(*halves, strict=True))
            for low, high in ((0.01, 0.05), (0.05, 0.2)):
                own = (p >= low) & (p < high)
                cells.append(f"{100 * lost[own].mean():.1f} ({own.sum()})" if own.any() else "none")
        print(times, *cells, sep=" | ", flush=True)


def test_what_transfer_cannot_know():
    """The heterogeneity of a family is by segments, and a single unit does not show how much a gain varies."""
    rng = np.random.default_rng(3)
    sets = {name: {"a": rng.random(20), "b": rng.random(20)} for name in ("news", "talks")}
    documents = [f"d{n // 5}" for n in range(20)]

    def labelled(labels):
        return {name: pairsig.Statistics.from_arrays(own, ["value"], documents=labels) for name, own in sets.items()}

    options = {"metric": "mean", "unit": "document"}
    assert len(pairsig.transfer(labelled(documents), **options).table) == 1
    with pytest.raises(InputError, match="defined by segments"):
        pairsig.transfer(labelled(documents), family="wmt-domains", **options)
    with pytest.raises(InputError, match="news has a single document, expected at least two"):
        pairsig.transfer(labelled(["d"] * 20), **options)
    with pytest.raises(InputError, match="news has a single segment, expected at least two"):
        pairsig.transfer({name: {"a": [1.0], "b": [0.5]} for name in sets}, metric="mean")
