"""Errors of thresholds over segments and systems: by hand, by repeated pairs, and by drawing whole studies anew.

docs/coverage.md has the numbers of disagreements of more studies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from pairsig import Statistics
from pairsig.io.tables import frame
from pairsig.metrics import registry
from study.analysis.first_order import Scored
from study.analysis.pairs import PAPER_WINDOW
from study.reproduction import threshold_errors, thresholds
from study.reproduction.check import check
from study.tables.columns import PUBLISHED
from study.tables.declared import declared
from study.test_sets.all_pairs import compare

MEAN = registry.metric("mean")
ROOT = Path(__file__).parents[2]


def sheet(*addresses: str, **columns) -> pd.DataFrame:
    """The published sheet with these addresses."""
    row = {"published": 1.0, "n_segments": np.nan, "n_systems": np.nan, "why": ""} | columns
    table = pd.DataFrame([{"item": f"i{k}", "compared_with": one, **row} for k, one in enumerate(addresses)])
    return table.reindex(columns=PUBLISHED.names)


def study_of(values: np.ndarray, groups: np.ndarray | None = None, kind: str = "synthetic") -> Statistics:
    """Systems (rows) with these scores of segments."""
    groups = np.zeros(len(values), int) if groups is None else groups
    names = [f"m{group}-full-{k}" for k, group in enumerate(groups)]
    data = Statistics.from_arrays(dict(zip(names, values[..., None], strict=True)), ["value"], dataset="d")
    return replace(data, groups=tuple(f"m{group}" for group in groups), kinds=(kind,) * len(values))


def gains_of(data: Statistics) -> pd.DataFrame:
    """Gains and standard errors of all pairs."""
    positions = np.stack(np.triu_indices(len(data.systems), 1), axis=1)
    return threshold_errors._gains(Scored.of(data.of(MEAN), MEAN), positions)


def errors(values: np.ndarray, *addresses: str, **settings) -> pd.DataFrame:
    return threshold_errors.threshold_errors([(study_of(values), MEAN)], sheet(*addresses), **settings)


def test_weights_are_repeated_pairs():
    rng = np.random.default_rng(1)
    gains = pd.DataFrame({"gain": rng.uniform(0.5, 3, 200), "standard_error": rng.uniform(0.5, 1.5, 200)})
    weights = rng.integers(0, 4, 200)
    ours, printed = threshold_errors._thresholds(gains, weights, 90)
    repeated = gains.loc[np.repeat(np.arange(200), weights)]
    assert threshold_errors._thresholds(repeated, np.ones(len(repeated)), 90)[1] == printed
    z = repeated["gain"] / repeated["standard_error"]
    inside = repeated["gain"][(z >= norm.isf(0.06)) & (z <= norm.isf(0.04))]
    assert np.exp(printed) == pytest.approx(np.percentile(inside, 90, method="inverted_cdf"))
    near = (weights > 0) & (thresholds.near(gains) > 0)
    assert gains["standard_error"][near].min() < np.exp(ours) / 1.6448536 < gains["standard_error"][near].max()


def test_windows_and_blocks_of_a_periodic_test_set_do_not_vary():
    """Every window of 100 segments has the same segments, and so has every block of a test set of 2,000."""
    rng = np.random.default_rng(2)
    values = np.tile(rng.normal(np.linspace(0, 0.4, 24)[:, None], 1, (24, 50)), 40)
    found = errors(values, "threshold:d:all", "threshold:d:all:first-100", n_studies=8).set_index("test_set")
    assert found["n_segments"].to_dict() == {"whole": 2000, "first-100": 100}
    assert found["n_windows"].to_dict() == {"whole": 1, "first-100": 20}
    assert found["block"].tolist() == [100, 100]
    assert (found["error_segments"] < 1e-6).all()
    few = errors(values[:, :900], "threshold:d:all", n_studies=8).iloc[0]
    assert (few["block"], few["error_segments"] > 0.001) == (1, True)


def test_the_threshold_on_the_given_test_set_is_that_of_thresholds():
    rng = np.random.default_rng(2)
    data = study_of(rng.normal(np.linspace(0, 0.4, 40)[:, None], 1, (40, 300)))
    compared = compare(data, metric=MEAN, n_resamples=2000, rng=1)
    given = thresholds.thresholds(compared)
    ours, _ = threshold_errors._thresholds(gains_of(data), np.ones(780), 95)
    assert np.exp(ours) == pytest.approx(given[given["subset"] == "all"]["threshold"].iloc[0], rel=1e-4)


def test_only_what_the_sheet_compares_is_computed():
    values = np.random.default_rng(3).normal(0, 1, (12, 60))
    addresses = ("threshold:other:all", "threshold:d:all:first-70", "threshold:d:all:half-1", "share:c:near:0.04-0.06")
    assert len(errors(values, *addresses, n_studies=2)) == 0
    twice = errors(values, "threshold:d:all", "threshold:d:all", "threshold:d:none", n_studies=2)
    assert twice["subset"].tolist() == ["all"]


def test_systems_are_drawn_within_base_models_and_sizes_of_training_sets():
    data = study_of(np.zeros((9, 4)), np.repeat([0, 1, 2], [2, 3, 4]))
    strata = threshold_errors._strata(data)
    copies = threshold_errors._copies(strata, np.random.default_rng(1))
    assert [copies[strata == one].sum() for one in np.unique(strata)] == [2, 3, 4]
    published = study_of(np.zeros((9, 4)), np.arange(9), kind="submission")
    assert len(np.unique(threshold_errors._strata(published))) == 1


# Whole studies: the published number of one study is compared with our number from another study of the same world.

World = Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray]]


def world(
    rng: np.random.Generator, n_systems: int, n_segments: int, *, models: int = 3, tails: float = np.inf
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of segments (systems × segments), and base models.

    A base model has a skill, a standard deviation, and tendencies that depend on four hidden properties of a segment.
    `tails` are the degrees of freedom of skills, deviations and errors.
    """
    fixed = np.random.default_rng([0, models])
    skill, spread = fixed.normal(0, 0.03, models), fixed.normal(0, 0.3, models)
    taste, model = fixed.normal(0, 0.4, (models, 4)), np.arange(n_systems) % models

    def drawn(*size: int) -> np.ndarray:
        if np.isinf(tails):
            return rng.standard_normal(size)
        return rng.standard_t(tails, size) / np.sqrt(tails / (tails - 2))

    hidden = rng.standard_normal((n_segments, 4))
    own = np.exp(spread[model] + 0.2 * drawn(n_systems))
    taste_of = taste[model] + 0.2 * drawn(n_systems, 4)
    scores = (skill[model] + 0.06 * drawn(n_systems))[:, None] + taste_of @ hidden.T
    return scores + own[:, None] * drawn(n_systems, n_segments), model


WORLDS: dict[str, World] = {
    "three base models, normal": world,
    "two base models, heavy tails": partial(world, models=2, tails=3.0),
}


def disagreements(world: World, n_runs: int, n_systems: int = 45, n_segments: int = 400, seed: int = 1) -> np.ndarray:
    """z of our number from one study and the published one from another study of the same world."""
    rng, found = np.random.default_rng([seed, n_systems, n_segments]), []
    while len(found) < n_runs:
        ours, theirs = (study_of(*world(rng, n_systems, n_segments)) for _ in range(2))
        positions = np.stack(np.triu_indices(n_systems, 1), axis=1)
        compared = [gains_of(one) for one in (ours, theirs)]
        _, printed = threshold_errors._thresholds(compared[1], np.ones(len(positions)), 95)
        table = compared[0].assign(system_a=positions[:, 0], system_b=positions[:, 1])
        p = norm.sf(table["gain"] / table["standard_error"])
        table = table.assign(pvalue_one_sided=p, pvalue_low=p, pvalue_high=p)
        row = thresholds._critical_differences(table, PAPER_WINDOW, 95)
        if row["verdict"] != "estimated" or np.isnan(printed):
            continue
        key = {"dataset": "d", "test_set": "whole", "subset": "all"}
        address = sheet("threshold:d:all", published=float(np.exp(printed)), n_segments=n_segments, n_systems=n_systems)
        tables = {
            "thresholds": pd.DataFrame([row | key | {"test": "bootstrap", "n_segments": n_segments}]),
            "threshold_errors": threshold_errors.threshold_errors([(ours, MEAN)], address, n_studies=40),
        }
        others = ("calibration", "systems", "relative_error", "run_time")
        empty = {name: frame(declared(name), []) for name in others}
        judged = check(address, **tables, **empty)[0].iloc[0]
        found.append(judged["z"])
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_two_studies_of_one_world_seldom_differ(name):
    """At 5 %, apart from what 60 pairs of studies leave open."""
    z = disagreements(WORLDS[name], 60)
    assert (np.abs(z) > 1.96).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


def test_the_error_over_segments_is_that_of_new_segments():
    """Against the standard deviation of the threshold of the same systems on 60 new sets of segments."""
    rng = np.random.default_rng(5)
    skill, own = rng.normal(0, 0.08, (24, 1)), np.exp(rng.normal(0, 0.4, (24, 1)))

    def values() -> np.ndarray:
        return skill + own * rng.standard_normal((24, 200))

    fresh = [threshold_errors._thresholds(gains_of(study_of(values())), np.ones(276), 95)[0] for _ in range(60)]
    found = [errors(values(), "threshold:d:all", n_studies=30)["error_segments"].iloc[0] for _ in range(5)]
    assert np.mean(found) == pytest.approx(np.std(fresh), rel=0.35)
