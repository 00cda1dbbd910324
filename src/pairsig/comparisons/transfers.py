"""`transfer`: which of two systems wins on the next test set, from their scores on several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from pairsig.comparisons import inputs, methods
from pairsig.core import engine
from pairsig.core.influence import errors_and_correlations
from pairsig.core.statistics import Statistics
from pairsig.io.errors import InputError, named
from pairsig.io.packages import pd
from pairsig.io.results import TableResult
from pairsig.metrics import Metric
from pairsig.planning.heterogeneity import notes, render, transfers
from pairsig.stats.paired import Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True, repr=False)
class Transfer(TableResult):
    """Pairs of systems on several test sets, and who wins on the next one: what `transfer` returns.

    `print` shows the table that `pairsig transfer` prints, and a notebook shows the same as HTML.

    Attributes
    ----------
    table
        One row per pair, in the kind of data frame that was passed; `system_a` has the higher mean. The columns are
        those of `pairsig transfer`: mean gain, heterogeneity, prediction interval and probability to win.
    statistics
        Every test set, by its name.
    metric
        What was compared.
    notes
        Sentences about what the numbers do not cover.

    See Also
    --------
    transfer : Returns this.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> sets = {name: {"old": rng.random(80) < 0.4, "new": rng.random(80) < 0.7} for name in ("news", "talks", "chats")}
    >>> transfer(sets).table["system_a"].item()
    'new'
    """

    statistics: Mapping[str, Statistics]
    metric: Metric

    def _rendered(self, format: str) -> str:  # noqa: A002
        return render(self._rows, self.notes, format)

    def _figure(self) -> Figure:
        """Mean gains with their prediction intervals for the next test set."""
        from pairsig.io import pictures

        columns = ["system_a", "system_b", "gain", "prediction_low", "prediction_high"]
        rows = [(f"{a} − {b}", *ends) for a, b, *ends in self._rows[columns].itertuples(index=False)]
        return pictures.intervals(rows, f"gain on the next test set, points of {self.metric.name}")


def transfer(
    data: inputs.Data | Sequence[inputs.Data] | Mapping[str, inputs.Data],
    *,
    metric: str | Metric | None = None,
    systems: Sequence[str] = (),
    heterogeneity: float | None = None,
    family: str = "",
    unit: Unit = "segment",
    confidence_level: float = 0.95,
    threads: int | None = None,
) -> Transfer:
    """Predict which of two systems wins on the next test set, from their scores on several.

    A p-value refers to other samples from the source of one test set. This function refers to other test sets of the
    same sort: other domains, languages or years. It estimates how much the true gain of one system over another
    differs between test sets (the heterogeneity τ), and from it the probability that the other system wins next time.

    Parameters
    ----------
    data
        Several test sets: a list, or a mapping from names of test sets, of what `compare` accepts. Or one `Statistics`
        whose domains are the test sets. Systems with several runs are compared by their means over runs.
    metric
        As for `compare`.
    systems
        Names of the systems to compare, at least two. Default: all.
    heterogeneity
        τ in points, if it is known from other test sets. One test set is enough then.
    family
        Name of a family of test sets, such as "wmt-domains", whose heterogeneity is used instead.
    unit
        "document" for standard errors over whole documents instead of segments.
    confidence_level
        Of the intervals.
    threads
        Number of threads; default: all cores. It changes nothing but time.

    Returns
    -------
    Transfer
        `print` it for a table with explanations; `.table` has one row per pair.

    Raises
    ------
    InputError
        If there are fewer than two test sets and the heterogeneity is not specified, if a system is missing on one of
        them, or if the data cannot be read.

    See Also
    --------
    compare : Compares systems on one test set.
    pairsig.planning.heterogeneity.random_effects : The model, for gains and standard errors that are known already.

    Notes
    -----
    The model is that of a random-effects meta-analysis: on test set t the gain is dₜ ~ N(δ, sₜ² + τ²), with sₜ its
    standard error. The page on the next test set explains how to read the result; formulas and simulations are on the
    page on heterogeneity in the documentation.

    Examples
    --------
    >>> import numpy as np
    >>> import pairsig
    >>> rng = np.random.default_rng(1)
    >>> news, talks, chats = (
    ...     {"old": rng.random(400) < rate, "new": rng.random(400) < rate + gain}
    ...     for rate, gain in ((0.5, 0.12), (0.6, 0.04), (0.4, 0.10))
    ... )
    >>> result = pairsig.transfer({"news": news, "talks": talks, "chats": chats})
    >>> result.table[["system_a", "system_b", "n_test_sets", "n_won"]]
      system_a system_b  n_test_sets  n_won
    0      new      old            3      3
    """
    if family and unit == "document":
        raise InputError(
            f"found unit='document' and family={family!r}, whose heterogeneity is defined by segments: leave one of "
            "them out, or specify heterogeneity="
        )
    test_sets = _test_sets(data, metric)
    chosen = inputs.chosen_metric(next(iter(test_sets.values())), metric)
    comparisons = pd.concat(
        [_measured(name, statistics, chosen, unit, threads) for name, statistics in test_sets.items()],
        ignore_index=True,
    )
    rows = transfers(
        comparisons, systems=systems, confidence_level=confidence_level, heterogeneity=heterogeneity, family=family
    )
    smallest = int(comparisons["n_segments"].min())
    read_as = list(chain.from_iterable(statistics.notes for statistics in test_sets.values()))
    return Transfer(
        table=next(iter(test_sets.values())).as_read(rows),
        statistics=test_sets,
        metric=chosen,
        notes=tuple(dict.fromkeys([*notes(rows, smallest), *read_as])),
        _rows=rows,
    )


def _test_sets(
    data: inputs.Data | Sequence[inputs.Data] | Mapping[str, inputs.Data], metric: str | Metric | None
) -> dict[str, Statistics]:
    """The test sets by their names."""
    if isinstance(data, Mapping) and data and all(isinstance(part, Statistics | Mapping) for part in data.values()):
        return {str(name): inputs.prepared(part, metric)[0] for name, part in data.items()}
    if isinstance(data, list | tuple):
        listed = [inputs.prepared(part, metric)[0] for part in data]
        names = [statistics.dataset for statistics in listed]
        if "" in names or len(set(names)) < len(names):
            names = [f"test set {number}" for number in range(1, len(listed) + 1)]
        return dict(zip(names, listed, strict=True))
    return _by_domain(inputs.prepared(data, metric)[0])


def _by_domain(statistics: Statistics) -> dict[str, Statistics]:
    """One test set per domain; a single one where there is no more than one domain."""
    names = list(dict.fromkeys(statistics.domains.tolist()))
    if len(names) < 2:
        return {statistics.dataset or "test set 1": statistics}
    if "" in names:
        segment = statistics.segments[int(np.argmax(statistics.domains == ""))]
        raise InputError(
            f"segment {named(str(segment))} has no domain, expected one for every segment, since domains are the test "
            "sets"
        )
    return {name: statistics.select(segments=np.flatnonzero(statistics.domains == name)) for name in names}


def _measured(name: str, statistics: Statistics, metric: Metric, unit: Unit, threads: int | None) -> pd.DataFrame:
    """Gains and standard errors of all pairs on a test set, with the columns that `heterogeneity.transfers` reads."""
    if len(set(statistics.methods)) < 2:
        raise InputError(f"{name} has one system, {named(statistics.methods[0])}, expected at least two to compare")
    if any(statistics.runs):
        rows = methods.compare_methods(statistics, metric=metric, unit=unit, threads=threads)._rows
        first, second = rows["method_a"], rows["method_b"]
        gains = rows["gain"].where(rows["better"] != second, -rows["gain"])
        errors = rows["standard_error"]
    else:
        counts = statistics.of_units(metric, unit)
        if counts.shape[1] < 2:
            raise InputError(f"{name} has a single {unit}, expected at least two, without which no error is known")
        scorer = engine.Scorer(counts, metric, statistics.systems)
        pairs = np.column_stack(np.triu_indices(len(statistics.systems), k=1))
        first, second = (np.array(statistics.systems, dtype=object)[side] for side in pairs.T)
        gains = scorer.gains(pairs)
        errors, _ = errors_and_correlations(scorer.counts, metric, pairs, threads=threads)
    return pd.DataFrame(
        {
            "dataset": name,
            "test_set": "whole",
            "derived": "whole",
            "metric": metric.name,
            "test": "",
            "system_a": first,
            "system_b": second,
            "gain": gains,
            "standard_error": errors,
            "n_segments": statistics.counts.shape[1],
        }
    )
