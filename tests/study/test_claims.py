"""Claims of the papers, once more without the code that counts them: sums over pairs, and medians of lists."""

from itertools import combinations
from statistics import median

import numpy as np
import pytest

import simulate
from pairsig.metrics import registry
from study.analysis.pairs import Window
from study.reproduction import claims
from study.test_sets.all_pairs import compare
from test_recomputed import counts, errors_of_gains, influence, reference


def test_pairs_near_005_are_those_in_the_window():
    given = simulate.statistics("f1", n_systems=12, n_segments=60, n_groups=2, spread=0.05, seed=5, dataset="d")
    table = compare(given, metric="f1", n_resamples=1000, rng=1)
    window = Window(0.01, 0.3)
    p = table["pvalue_one_sided"]
    rows = {row["measured"]: row["n"] for row in claims.claims(table, window=window).to_dict("records")}
    described = "bootstrap and Student's t from influence values"
    assert rows[f"share of pairs on which they disagree at 0.05: {described}"] == len(table)
    inside = ((p >= 0.01) & (p <= 0.3)).sum()
    assert 0 < inside < len(table)
    assert rows[f"share of pairs on which they disagree at 0.05: {described}, p from 0.01 to 0.3"] == inside


def test_aligners_that_share_posteriors_once_more():
    """AER of the first 100 sentences, full training sets, errors by the delta method, pair by pair."""
    systems, links, *_ = counts("hansards-110", ["sure_hits", "possible_hits", "predicted", "sure"])
    full = [place for place, name in enumerate(systems) if "-full-" in name]
    systems, links = [systems[place] for place in full], links[full]
    hits, links = links[:, :100, :2].sum(axis=2), links[:, :100, 2:].sum(axis=2)
    needed = {True: [], False: []}
    for pair, error in zip(combinations(systems, 2), errors_of_gains(influence(hits, links)), strict=True):
        models = {name.rsplit("-", 2)[0] for name in pair}
        if len(models) == 2 and error > 0:
            needed[models == {"itg", "joint-hmm"}].append(1.6449 * error)
    row = reference("claims", claim="figure-7", dataset="hansards-110", measured=claims.SHARED)
    assert int(row["n"]) == sum(map(len, needed.values()))
    assert float(row["value"]) == pytest.approx(median(needed[True]) / median(needed[False]), rel=1e-3)


@pytest.mark.parametrize("metric", [pytest.param("bleu", marks=pytest.mark.slow), "f1"])
def test_the_bias_of_the_mean_bootstrap_gain(metric, monkeypatch):
    """Against all gains of 40,000 resamples, pair by pair."""
    monkeypatch.setattr(claims, "N_DRAWS", 20_000)
    given = simulate.statistics(metric, n_systems=12, n_segments=60, n_groups=2, spread=0.05, seed=5, dataset="d")
    table = compare(given, metric=metric, n_resamples=100, rng=1)
    close = table[np.abs(table["gain"] / table["standard_error"] - 1.6449) < 0.8]
    chosen, values = registry.metric(metric), given.of(registry.metric(metric)).astype(float)
    drawn = np.random.default_rng(3).multinomial(60, np.full(60, 1 / 60), size=40_000)
    scores = chosen.score(np.einsum("bn,snc->bsc", drawn, values))
    place = {name: number for number, name in enumerate(given.systems)}
    mean = scores.mean(axis=0) - chosen.score(values.sum(axis=1))
    bias = np.array(
        [mean[place[a]] - mean[place[b]] for a, b in zip(close["system_a"], close["system_b"], strict=True)]
    )
    errors, smallest, largest = claims._bias(given, chosen, 1)
    assert errors["n"] == len(close) >= 10
    assert errors["value"] == pytest.approx((bias / close["standard_error"]).mean(), abs=5 / 200)
    assert smallest["value"] <= errors["value"] <= largest["value"]
