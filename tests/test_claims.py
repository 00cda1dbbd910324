"""Claims of the papers, once more without the code that counts them: sums over pairs, and medians of lists."""

import csv
from itertools import combinations
from statistics import NormalDist, median

import numpy as np
import pyarrow.parquet as pq
import pytest

import simulate
from pairsig.comparisons.all_pairs import compare
from running import ROOT
from study.analysis import claims

SURE, POSSIBLE, PREDICTED, GOLD = range(4)


def rows_of(claim, **cells):
    with (ROOT / "results/reference/claims.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["claim"] == claim]
    return {row["measured"]: row for row in rows if all(row[key] == value for key, value in cells.items())}


def test_aligners_that_share_posteriors_once_more():
    """AER of the first 100 sentences, errors by the delta method, pair by pair."""
    columns = ["sure_hits", "possible_hits", "predicted", "sure"]
    table = pq.read_table(ROOT / "resources/statistics/hansards-110.parquet", columns=["system", *columns])
    systems = list(dict.fromkeys(table["system"].to_pylist()))
    flat = np.stack([table[column].to_numpy() for column in columns], axis=1).astype(float)
    counts = flat.reshape(len(systems), -1, 4)[:, :100]
    hits = counts[:, :, SURE] + counts[:, :, POSSIBLE]
    links = counts[:, :, PREDICTED] + counts[:, :, GOLD]
    aer = hits.sum(1) / links.sum(1)
    influence = 100 * (hits - aer[:, None] * links) / links.sum(1, keepdims=True)
    needed = {True: [], False: []}
    for a, b in combinations(range(len(systems)), 2):
        models = {systems[one].rsplit("-", 2)[0] for one in (a, b)}
        error = np.sqrt(np.sum((influence[a] - influence[b]) ** 2))
        if len(models) == 2 and error > 0:
            needed[models == {"itg", "joint-hmm"}].append(1.6449 * error)
    found = rows_of("figure-7", dataset="hansards-110")
    for shared, name in ((True, "base models that share posteriors"), (False, "other different base models")):
        row = found[f"critical difference for 100 sentences, {name}"]
        assert (int(row["n"]), float(row["value"])) == (
            len(needed[shared]),
            pytest.approx(median(needed[shared]), 1e-3),
        )
    ratio = median(needed[True]) / median(needed[False])
    assert float(found[claims.SHARED]["value"]) == pytest.approx(ratio, rel=1e-3)


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
