"""Systems that were trained several times: whether a system would be better again if it were trained again.

A run is a training with another seed or training set. It is the same for all units (segments or documents), that is
crossed with them. Two systems share their units, but not their runs. See docs/runs.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairsig.comparisons.compare import Data, Pairs, named_pairs, prepared
from pairsig.core.definitions import Named
from pairsig.core.influence import ACCURACY, degrees_of_freedom, influence_values
from pairsig.core.scores import Scorer
from pairsig.core.statistics import Statistics
from pairsig.io import rendering
from pairsig.io.choices import check_level
from pairsig.io.columns import DIFFERENCE, RUNS
from pairsig.io.errors import InputError, named
from pairsig.io.packages import pd
from pairsig.io.results import TableResult
from pairsig.io.tables import frame
from pairsig.metrics import Metric
from pairsig.metrics.names import metric_name
from pairsig.stats.adjust import holm
from pairsig.stats.paired import Unit, signature
from pairsig.stats.pass_fail import score_of_a_pass

Floats = NDArray[np.float64]

LEAST = 2
"""Fewest runs from which their variance can be estimated."""

_LEAST_FREEDOM = 1.999
"""With fewer degrees of freedom, an interval of 95 % reaches further than four standard errors: it says nothing."""

FEW_RUNS, FEW_UNITS, SMALL_P = 3, 50, 1e-4
"""Below these numbers, a note warns about the p-value over runs."""

_MANY_RUNS = 20
"""With fewer runs, a failure of one in ten of them often does not show."""

_RARE = (
    "a failure that befalls one run in ten is often not among so few runs, and then neither the p-value nor the "
    "interval covers it"
)

_BAND = 1e-12
"""Scores that are closer than this, relative to them, are equal."""


def compare_runs(
    data: Data,
    *,
    metric: str | Metric | None = None,
    pairs: Pairs = "all",
    baseline: str | None = None,
    unit: Unit = "segment",
    confidence_level: float = 0.95,
) -> TableResult:
    """Compare systems that were trained several times, over their runs and the test set together.

    Two p-values answer two questions. `pvalue_outputs`: would these outputs differ on other test sets? `pvalue`: would
    the systems differ there if they were trained again?

    Parameters
    ----------
    data, metric
        The scores of all runs, as for `compare`: `Statistics` with runs, or one array (runs × segments × columns) per
        system.
    pairs, baseline
        "all" pairs (the default), or the "first" system and every other; with the name of a `baseline`, every other
        system and that one, which is system B.
    unit
        "document" to take whole documents as units.
    confidence_level
        Of the intervals.

    Returns
    -------
    TableResult
        `print` it for the table of `pairsig runs`. `.table` has one row per pair. `difference` is score(A) −
        score(B), of mean scores over runs; `standard_error` is √V, and `ci_low` and `ci_high` are the ends of the
        difference ± t √V. `pvalue_holm` adjusts `pvalue` for the number of pairs. The three standard deviations refer
        to a gain between *one* run of each system: `sd_test_set` is the part of the test set (S² minus g²/k of both),
        `sd_training` that of training (Σ s² − g²), and `sd_rest` the differences between runs on single units (Σ g²).
        `notes` has sentences about the limits of the row.

    Raises
    ------
    InputError
        If a system has a single run, if there are fewer than two systems or units, or if a number is out of range.

    Notes
    -----
    D is the difference between the mean scores of two systems over their k runs. S² is its variance over test sets for
    these runs, s² the variance between the scores of a system's runs, and g² the part of s² that another test set would
    change. With T Student's distribution, `pvalue_outputs` is 2 T(−|D| / S), and `pvalue` is 2 T(−|D| / √V) with V = S²
    + Σ max(0, s² − g²)/k (degrees of freedom: Satterthwaite 1946). Below p = 1e-4, and with fewer than 50 units, it
    shows the order of magnitude only. Where S² or V is 0, the data do not show how much the difference varies: then p
    is 1, and for V = 0 the interval is nan. Rare failures of a run that did not occur are not covered. docs/runs.md has
    all formulas, and simulated error rates.

    Examples
    --------
    >>> import numpy as np
    >>> import pairsig
    >>> rate = np.array([[0.60, 0.66, 0.63], [0.66, 0.72, 0.69]])  # of three trainings of two systems
    >>> passed = np.random.default_rng(3).random((2, 3, 500)) < rate[:, :, None]
    >>> result = pairsig.compare_runs({"old": passed[0][..., None], "new": passed[1][..., None]})
    >>> result.table[["better", "difference", "pvalue_outputs", "pvalue"]].round(4)
      better  difference  pvalue_outputs  pvalue
    0    new       -0.06          0.0003  0.1485
    """
    statistics, chosen = prepared(data, metric)
    check_level(confidence_level, "confidence level")
    counts = statistics.of_units(chosen, unit)
    if counts.shape[1] < 2:
        raise InputError(f"found a test set of one {unit}, expected at least two to estimate how much scores vary")
    systems = _systems(statistics, counts, chosen)
    missing = statistics.provenance.get("missing")
    left = f"--missing {missing.replace(':', ' was applied to ')} items without a score" if missing else ""
    largest = score_of_a_pass(counts, chosen) or chosen.scale or math.inf
    rows = []
    for a, b in named_pairs(list(systems), pairs, baseline):
        cells = _pair(systems[a], systems[b], confidence_level, largest, unit)
        if not chosen.higher_is_better:
            cells["ci_low"], cells["ci_high"] = 0.0 - cells["ci_high"], 0.0 - cells["ci_low"]
        cells["notes"] += [left] * bool(left)
        rows.append(cells)
    adjusted = holm(np.array([row["pvalue"] for row in rows]))
    signed = signature(chosen, Named("", "two-sided", name="runs"), unit, "", statistics)
    same: dict[str, Any] = {"metric": chosen.name, "n_segments": statistics.counts.shape[1], "signature": signed}
    table = frame(RUNS, pd.DataFrame(rows).assign(pvalue_holm=adjusted, n_compared=len(rows), **same))
    notes = dict.fromkeys([*chain.from_iterable(row["notes"] for row in rows), *statistics.notes])
    return TableResult(table=table, notes=tuple(notes), _render=render)


def render(table: pd.DataFrame, format: str) -> str:  # noqa: A002
    """The table of `compare_runs` as "table" (for a terminal), "markdown", "latex" or "html".

    Lines below the table explain the p-values and the components of the variance. In LaTeX they are comments.
    """
    rows = table.assign(
        metric=table["metric"].map(metric_name),
        runs=[f"{a} and {b}" for a, b in table[["n_runs_a", "n_runs_b"]].itertuples(index=False)],
    )
    columns = [
        *RUNS.view(metric="", system_a="A", system_b="B", runs="", score_a="", score_b=""),
        replace(DIFFERENCE, heading="A − B [95 %]"),
        *RUNS.view(better="", pvalue_outputs="", pvalue=""),
    ]
    lines = [
        "p (outputs): would these outputs, averaged over runs, differ on other test sets from the same source?",
        "p: would they differ there if the systems were trained again? The interval answers the same question",
    ]
    if table["n_compared"].max() > 1:
        columns.append(RUNS["pvalue_holm"])
        lines.append("p (Holm): p, adjusted for the number of pairs")
    for row in table.itertuples(index=False):
        lines += [f"{_about(row)}: {sentence}" for sentence in made_of(row)]
    return rendering.render(rows, columns, format, notes=[*lines, *caveats(table)])


def _about(row: Any) -> str:
    return f"{metric_name(row.metric)}, {row.system_a} and {row.system_b}"


def caveats(table: pd.DataFrame) -> list[str]:
    """What the p-values and intervals of each row do not cover."""
    return [f"{_about(row)}: {note}" for row in table.itertuples(index=False) for note in row.notes]


def variance_shares(row: Any) -> list[tuple[str, float]]:
    """The sources of the variance of a gain between single runs, with their shares; none if that is unknown."""
    parts = {"the test set": row.sd_test_set, "training": row.sd_training, "single segments": row.sd_rest}
    whole = math.fsum(sd**2 for sd in parts.values())
    return [(name, sd**2 / whole) for name, sd in parts.items()] if whole > 0 else []


def made_of(row: Any) -> list[str]:
    """A sentence about the components of a gain's variance; none if they are unknown."""
    shares = [f"{100 * share:.0f} % from {name}" for name, share in variance_shares(row)]
    if not shares:
        return []
    low, high = row.sd_training_low, row.sd_training_high
    shares[1] += f" (standard deviation {row.sd_training:.2g}, 95 % CI {low:.2g} to {high:.2g})"
    return [f"variance of a gain between single runs: {', '.join(shares)}"]


@dataclass(frozen=True)
class _System:
    """Estimates from the k runs of one system."""

    name: str
    k: int
    score: float  # mean of the runs
    quality: float  # the same, its sign changed where lower is better
    mean: Floats  # ū, (units,)
    total: float  # s²
    rest: float  # g²


def _systems(statistics: Statistics, counts: NDArray[Any], metric: Metric) -> dict[str, _System]:
    """The systems by name, whose runs are the systems of `statistics`."""
    scorer, influence = Scorer(counts, metric, statistics.systems), influence_values(counts, metric)
    methods = np.array(statistics.methods)
    names = list(dict.fromkeys(statistics.methods))
    if len(names) < 2:
        raise InputError(f"found runs of one system only, {named(names[0])}, expected at least two systems to compare")
    systems = {}
    for name in names:
        rows = np.flatnonzero(methods == name)
        if len(rows) < LEAST:
            raise InputError(
                f"system {named(name)} has one run, expected at least {LEAST} to estimate how much runs differ\n"
                "--runs FILE … for each system, or --run COL, says which runs there are"
            )
        systems[name] = _system(name, float(scorer.scores[rows].mean()), scorer.quality[rows], influence[rows])
    return systems


def _system(name: str, score: float, quality: Floats, influence: Floats) -> _System:
    """Estimates from the scores (runs,) and influence values (runs × units) of one system."""
    k, n = influence.shape
    centred = influence - influence.mean(axis=1, keepdims=True)
    mean = centred.mean(axis=0)
    apart = centred - mean
    apart[np.abs(apart) <= ACCURACY * np.abs(centred).max()] = 0.0
    rest = n / (n - 1) * float((np.square(apart).sum(axis=0) / (k - 1)).sum())
    equal = np.ptp(quality) <= _BAND * np.abs(quality).max()
    return _System(name, k, score, float(quality.mean()), mean, 0.0 if equal else float(quality.var(ddof=1)), rest)


def _pair(a: _System, b: _System, confidence_level: float, largest: float, unit: Unit) -> dict[str, Any]:
    """Cells of the comparison of two systems, of which the interval is that of the gain; higher is better.

    `largest` is the largest possible gain: no end of an interval and no standard deviation is larger.
    """
    from scipy.special import stdtr, stdtrit  # scipy.stats would cost a second to import

    gain, difference = a.quality - b.quality, a.mean - b.mean
    size = max(np.abs(a.mean).max(), np.abs(b.mean).max())
    difference[np.abs(difference) <= ACCURACY * size] = 0.0
    squares, n = np.square(difference), len(difference)
    outputs, degrees = n / (n - 1) * float(squares.sum()), float(degrees_of_freedom(squares))  # S²
    of_training = [max(0.0, system.total - system.rest) for system in (a, b)]  # s² − g²
    variance = outputs + (of_training[0] / a.k + of_training[1] / b.k)  # V
    # An estimate of s² counts in the degrees of freedom of V even where it is below g².
    parts = zip(of_training, (a, b), strict=True)
    doubt = outputs**2 / degrees
    doubt += sum(((training + system.rest) / system.k) ** 2 / (system.k - 1) for training, system in parts)
    freedom = variance**2 / doubt if doubt > 0 else n - 1.0

    def p(of: float, degrees: float) -> float:
        """1 where the gain or the variance is 0, since such data do not show what may vary."""
        return 1.0 if gain == 0 or of == 0 else float(2 * stdtr(degrees, -abs(gain) / math.sqrt(of)))

    has_interval = variance > 0 and freedom >= _LEAST_FREEDOM
    reach = float(stdtrit(freedom, (1 + confidence_level) / 2)) * math.sqrt(variance) if has_interval else math.nan
    rest = a.rest + b.rest
    totals, degrees_of_runs = np.array([[a.total, b.total]]), np.array([[a.k - 1.0, b.k - 1.0]])
    low, high = sum_of_variances(totals, degrees_of_runs, (1 - confidence_level) / 2)
    variances = {
        "sd_test_set": outputs - (a.rest / a.k + b.rest / b.k),
        "sd_training": sum(of_training),
        "sd_training_low": float(low[0]) - rest,
        "sd_training_high": float(high[0]) - rest,
        "sd_rest": rest,
    }
    return {
        "system_a": a.name,
        "system_b": b.name,
        "n_runs_a": a.k,
        "n_runs_b": b.k,
        "score_a": a.score,
        "score_b": b.score,
        "difference": a.score - b.score,
        "ci_low": float(np.maximum(gain - reach, -largest)),
        "ci_high": float(np.minimum(gain + reach, largest)),
        "better": a.name if gain > 0 else b.name if gain < 0 else "",
        "standard_error": math.sqrt(variance),
        "pvalue_outputs": p(outputs, degrees),
        "pvalue": p(variance, freedom),
        **{name: float(np.minimum(np.sqrt(np.maximum(0.0, part)), largest)) for name, part in variances.items()},
        "notes": _notes(a, b, p(variance, freedom), (outputs, variance), has_interval, unit),
    }


def sum_of_variances(variances: Floats, degrees: Floats, below: float) -> tuple[Floats, Floats]:
    """Intervals of sums of variances (sums × variances), with two tails of `below` (Graybill and Wang 1980)."""
    from scipy.special import chdtri

    down = variances * (1 - degrees / chdtri(degrees, below))
    up = variances * (degrees / chdtri(degrees, 1 - below) - 1)
    total = variances.sum(axis=1)
    return total - np.sqrt(np.square(down).sum(axis=1)), total + np.sqrt(np.square(up).sum(axis=1))


def _notes(
    a: _System, b: _System, p: float, variances: tuple[float, float], has_interval: bool, unit: Unit
) -> list[str]:
    """Warnings about the p-value over runs; `variances` are S² and V."""
    outputs, variance = variances
    flat = f"the difference is the same on every {unit}, which does not show how much it varies, so p (outputs) is 1"
    flat += ", p is 1, and there is no interval" * (variance == 0)
    few_runs = (
        f"{system.name} has {system.k} runs, too few to estimate the training variance well: the false-positive rate "
        "of p < 0.05 is 3 to 12 %"
        for system in (a, b)
        if system.k < FEW_RUNS
    )
    n_units = len(a.mean)
    notes = [
        "there are too few runs for a confidence interval (fewer than two degrees of freedom)"
        * (variance > 0 and not has_interval),
        f"{n_units} {unit}s are too few for the normal approximation of p-values and intervals" * (n_units < FEW_UNITS),
        *few_runs,
        f"p below {SMALL_P:g} shows the order of magnitude only, since the normal approximation fails there"
        * (0 < p < SMALL_P),
        flat * (outputs == 0),
        _RARE * (min(a.k, b.k) < _MANY_RUNS),
    ]
    return list(filter(None, notes))
