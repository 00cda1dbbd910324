"""Claims of the papers, once more without the code that counts them: sums over pairs, and medians of lists."""

from functools import partial
from itertools import combinations
from statistics import NormalDist, median

import numpy as np
import pytest

import simulate
from pairsig.comparisons.all_pairs import compare
from study.analysis import claims
from test_recomputed import counts, reference


def test_aligners_that_share_posteriors_once_more():
    """AER of the first 100 sentences, errors by the delta method, pair by pair."""
    systems, links, *_ = counts("hansards-110", ["sure_hits", "possible_hits", "predicted", "sure"])
    hits, links = links[:, :100, :2].sum(axis=2), links[:, :100, 2:].sum(axis=2)
    aer = hits.sum(1) / links.sum(1)
    influence = 100 * (hits - aer[:, None] * links) / links.sum(1, keepdims=True)
    needed = {True: [], False: []}
    for a, b in combinations(range(len(systems)), 2):
        models = {systems[one].rsplit("-", 2)[0] for one in (a, b)}
        error = np.sqrt(np.sum((influence[a] - influence[b]) ** 2))
        if len(models) == 2 and error > 0:
            needed[models == {"itg", "joint-hmm"}].append(1.6449 * error)
    found = partial(reference, "claims", claim="figure-7", dataset="hansards-110")
    for shared, name in ((True, "base models that share posteriors"), (False, "other different base models")):
        row = found(measured=f"critical difference for 100 sentences, {name}")
        assert (int(row["n"]), float(row["value"])) == (
            len(needed[shared]),
            pytest.approx(median(needed[shared]), 1e-3),
        )
    ratio = median(needed[True]) / median(needed[False])
    assert float(found(measured=claims.SHARED)["value"]) == pytest.approx(ratio, rel=1e-3)


def test_the_bias_of_the_bootstrap(monkeypatch):
    """Pair by pair, against the normal distribution of the standard library."""
    given = simulate.statistics("bleu", n_systems=14, n_segments=120, n_groups=2, seed=5, dataset="d")
    table = compare(given, "bootstrap", metric="bleu", alternative="observed", n_resamples=2000, rng=1)
    monkeypatch.setattr(claims, "CLAIMED", ("d",))
    expected = {"same": [], "different": []}
    for row in table.to_dict("records"):
        z = row["gain"] / row["standard_error"]
        if abs(z - 1.6449) < 0.8:
            expected["same" if row["same_group"] else "different"].append(row["pvalue"] - NormalDist().cdf(-z))
    found = {row["measured"].split(", ")[-1]: row for row in claims._bias(table)}
    assert {f"{kind} group" for kind in expected} == set(found)
    for kind, values in expected.items():
        row = found[f"{kind} group"]
        assert (row["n"], row["value"]) == (len(values), pytest.approx(np.mean(values), abs=1e-12))
        assert row["low"] < row["value"] < row["high"]
