"""The variance model: compared with a fit by loops, and recovered from simulations with known parameters."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pairsig import InputError
from pairsig.io.columns import COMPARISONS
from study.beyond.variance_model import _interval_of_share, variance_model

BETWEEN, WITHIN = 0.25, 0.1
PHI = {"bleu": 0.9, "uas": 0.7}


def simulated(seed=1, *, n_bleu=12, n_uas=6, n_pairs=30):
    """Comparisons whose standard errors follow the model, with random effects of test sets and pairs."""
    rng = np.random.default_rng(seed)
    rows, systems = [], []
    for metric, n_datasets in (("bleu", n_bleu), ("uas", n_uas)):
        for number in range(n_datasets):
            dataset, n = f"{metric}-{number}", int(rng.integers(400, 4000))
            length, own = rng.uniform(8, 60), rng.normal(0, BETWEEN)
            systems.append({"dataset": dataset, "group": "all", "length_per_segment": length})
            for pair in range(n_pairs):
                p, rho = rng.uniform(0.2, 0.9), rng.uniform(0.3, 0.9)
                log = math.log(PHI[metric] * 2e4 * (1 - rho) * p * (1 - p) / math.sqrt(length)) + own
                rows.append(
                    {
                        "dataset": dataset, "test_set": "whole", "derived": "whole", "metric": metric,
                        "test": "bootstrap", "system_a": f"a{pair}", "system_b": f"b{pair}", "n_segments": n,
                        "score_a": 100 * p + 1, "score_b": 100 * p - 1, "correlation": rho,
                        "standard_error": math.sqrt(math.exp(log + rng.normal(0, WITHIN)) / n),
                    }
                )  # fmt: skip
    return pd.DataFrame(rows).reindex(columns=list(COMPARISONS.names)), pd.DataFrame(systems)


def test_it_is_found_again():
    tables = [variance_model(*simulated(seed)).set_index(["metric", "given"]) for seed in range(8)]
    for metric, phi in PHI.items():
        logs = [math.log(table.loc[metric, "correlation"]["overdispersion"] / phi) for table in tables]
        expected = BETWEEN / math.sqrt(12 if metric == "bleu" else 6)
        assert abs(np.mean(logs)) < 4 * expected / math.sqrt(8)
    assert np.mean([table.loc["bleu", "correlation"]["between"] ** 2 for table in tables]) == pytest.approx(
        0.0625, rel=0.4
    )
    assert np.mean([table.loc["bleu", "correlation"]["within"] for table in tables]) == pytest.approx(WITHIN, rel=0.1)
    assert tables[0].loc["bleu", "correlation"]["degrees"] == 11 + 5


def test_left_out_by_loops():
    """φ, error and coverage of every test set from the others, with means and Student's quantile alone."""
    comparisons, systems = simulated(3, n_bleu=4, n_uas=3, n_pairs=5)
    table = variance_model(comparisons, systems)
    length = systems.set_index("dataset")["length_per_segment"]
    y = {}
    for row in comparisons.to_dict("records"):
        p = (row["score_a"] + row["score_b"]) / 200
        message = 2e4 * (1 - row["correlation"]) * p * (1 - p) / math.sqrt(length[row["dataset"]])
        y.setdefault(row["dataset"], []).append(math.log(row["standard_error"] ** 2 * row["n_segments"] / message))
    squares, inside = {}, {}
    for left in y:
        others = {name: values for name, values in y.items() if name != left}
        means = {
            metric: np.mean([np.mean(values) for name, values in others.items() if name.startswith(metric)])
            for metric in PHI
        }
        apart = [np.mean(values) - means[name.split("-")[0]] for name, values in others.items()]
        degrees = len(others) - 2
        between = sum(value**2 for value in apart) / degrees
        within = np.mean([np.mean((np.array(values) - np.mean(values)) ** 2) for values in others.values()])
        metric = left.split("-")[0]
        n = sum(name.startswith(metric) for name in others)
        reach = stats.t.ppf(0.975, degrees) * math.sqrt(between * (1 + 1 / n) + within)
        off = np.array(y[left]) - means[metric]
        squares[left], inside[left] = np.mean(off**2), np.mean(np.abs(off) <= reach)
    rows = table[table["given"] == "correlation"].set_index("metric")
    assert rows.loc["all", "error"] == pytest.approx(math.sqrt(np.mean(list(squares.values()))), abs=1e-4)
    assert rows.loc["all", "coverage"] == pytest.approx(np.mean(list(inside.values())), abs=1e-6)
    bleu = [value for name, value in squares.items() if name.startswith("bleu")]
    assert rows.loc["bleu", "error"] == pytest.approx(math.sqrt(np.mean(bleu)), abs=1e-4)
    assert rows.loc["bleu", "overdispersion"] == pytest.approx(
        math.exp(np.mean([np.mean(values) for name, values in y.items() if name.startswith("bleu")])), abs=1e-4
    )
    mean, spread = np.mean(list(squares.values())), np.std(list(squares.values()), ddof=1) / math.sqrt(len(squares))
    low, high = mean * np.exp(np.array([-1, 1]) * stats.t.ppf(0.975, len(squares) - 1) * spread / mean)
    ends = rows.loc["all", ["error_low", "error_high"]].tolist()
    assert ends == pytest.approx([low**0.5, high**0.5], abs=1e-4)


def test_datasets_on_the_same_segments_are_left_out_together():
    comparisons, systems = simulated(2, n_bleu=4, n_uas=2)
    again = comparisons[comparisons["dataset"] == "bleu-0"].assign(dataset="bleu-0-again")
    more = systems[systems["dataset"] == "bleu-0"].assign(dataset="bleu-0-again")
    both = variance_model(pd.concat([comparisons, again]), pd.concat([systems, more]))
    once = variance_model(comparisons, systems)
    both, once = (table.set_index(["metric", "given"]) for table in (both, once))
    columns = ["overdispersion", "n_datasets", "between", "within", "error", "coverage"]
    pd.testing.assert_frame_equal(both[columns], once[columns])


def test_coverage_of_the_interval_of_shares_of_test_sets():
    """Test sets whose shares vary more, or less, than single pairs' would; the truth is 94 %."""
    rng = np.random.default_rng(6)
    for concentration in (0.5, 5.0, 100.0):
        covered = 0
        for _ in range(200):
            low, high = _interval_of_share(rng.beta(0.94 * concentration, 0.06 * concentration, 50))
            covered += low <= 0.94 <= high
        assert covered >= 0.9 * 200


def test_bad_input():
    comparisons, systems = simulated(7, n_bleu=2, n_uas=2)
    with pytest.raises(InputError, match="no comparisons on whole test sets"):
        variance_model(comparisons.assign(derived="initial"), systems)
