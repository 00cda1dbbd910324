"""`compare`: systems compared in pairs, or with a baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairsig import report
from pairsig.comparisons import compare as pairwise
from pairsig.comparisons import runs as several_runs
from pairsig.comparisons.compare import Data, Pairs, prepared
from pairsig.comparisons.wording import most_important, shown_adjusted, shown_p
from pairsig.core.definitions import DEFAULT_TEST, find
from pairsig.core.statistics import Statistics
from pairsig.core.totals import Resampling
from pairsig.io.choices import choose
from pairsig.io.columns import BASELINE
from pairsig.io.errors import InputError, named
from pairsig.io.packages import pd
from pairsig.io.rendering import render
from pairsig.io.results import TableResult
from pairsig.io.tables import records
from pairsig.metrics import Metric
from pairsig.report import sentences
from pairsig.stats.paired import Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = (
    "metric", "system_a", "system_b", "score_a", "score_b", "difference", "ci_low", "ci_high", "better", "test",
    "pvalue", "pvalue_low", "pvalue_high", "pvalue_holm", "n_compared", "n_segments", "n_units", "only_a", "only_b",
    "signature",
)  # fmt: skip
"""Columns of `Comparison.table`."""

_SHOWN = 12
"""Number of pairs that are printed."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(TableResult):
    """Pairs of systems with scores, differences, intervals and p-values: what `compare` returns.

    `print` shows one sentence per pair; a notebook shows a table. `difference`, `pvalue`, `better` and `signature` are
    defined for two systems; with more, read `table`.

    Attributes
    ----------
    table
        One row per pair. `difference` is score(a) − score(b), with its 95 % interval from `ci_low` to
        `ci_high`. `better` is "" where the scores are equal. `pvalue_low` and `pvalue_high` bound the Monte
        Carlo error of `pvalue` (95 %), and `pvalue_holm` is adjusted for the number of pairs, `n_compared`. If
        each segment is right or wrong, only system A is right on `only_a` of them, and only B on `only_b`.
    statistics, metric
        What was compared. Every other function of pairsig accepts them.
    unit
        "segment" or "document".
    notes
        Sentences about what the p-values and intervals do not cover.

    See Also
    --------
    compare : Returns this.

    Examples
    --------
    >>> result = compare({"old": [0, 1, 0, 0, 1, 0, 0], "new": [1, 1, 1, 1, 1, 1, 1]})
    >>> result.better, result.pvalue
    ('new', 0.0625)
    """

    statistics: Statistics
    metric: Metric
    unit: Unit
    _all: pd.DataFrame

    @property
    def _rows(self) -> pd.DataFrame:
        return self._all

    def _one(self, name: str) -> Any:
        if len(self._rows) > 1:
            raise InputError(
                f"found {len(self._rows)} pairs, expected one: each has its own {name}, in the rows of .table"
            )
        return self._rows.iloc[0][name]

    @property
    def difference(self) -> float:
        """Score of the first of two systems minus score of the second, in points."""
        return float(self._one("difference"))

    @property
    def pvalue(self) -> float:
        """P-value of two systems."""
        return float(self._one("pvalue"))

    @property
    def better(self) -> str | None:
        """Name of the better of two systems; None where their scores are equal."""
        return str(self._one("better")) or None

    @property
    def signature(self) -> str:
        """Everything that is needed to compute the p-value again, in one line."""
        return str(self._one("signature"))

    def __str__(self) -> str:
        rows = [sentences.as_gains(row) for row in records(self._rows)]
        if any(self.statistics.runs):
            n_documents = len(set(self.statistics.documents)) if self.unit == "document" else 0
            lines = sentences.of_methods(pd.DataFrame(rows[:_SHOWN]), n_documents).split("\n")
        else:
            shown = zip(rows, shown_adjusted(rows), strict=True)
            lines = [sentences.of_pair(row, holm, row["pvalue_holm"]) for row, holm in islice(shown, _SHOWN)]
        lines = [f"{line} {sentences.of_scores(row)}" for line, row in zip(lines, rows, strict=False)]
        if len(rows) > _SHOWN:
            lines.append(f"and {len(rows) - _SHOWN:,} more pairs")
        notes = [note.replace("--details", ".notes") for note in most_important(self.notes)]
        return "\n".join([*lines, *(f"- {note}" for note in notes)])

    def _repr_html_(self) -> str:
        rows = [row | {"pvalue": shown_p(row)} for row in records(self._rows)]
        return render(rows, [BASELINE[name] for name in COLUMNS if name != "signature"], "html", notes=self.notes)

    def to_frame(self) -> pd.DataFrame:
        """Return `table` as a pandas data frame."""
        return self._rows[list(COLUMNS)].copy()

    def plot(self, path: str | Path | None = None) -> Figure:
        """Plot each difference with its interval: the figure of `pairsig compare --plot`.

        Parameters
        ----------
        path
            File to write as well: .svg, .pdf or .png.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it.
        """
        from pairsig.io import pictures

        figure = pictures.styled(report.drawn)(self._evidence())
        if path is not None:
            pictures.save(figure, path)
        return figure

    def to_html(self, path: str | Path) -> None:
        """Write the report that `pairsig compare --html` writes: the first system and every other, or the baseline.

        Parameters
        ----------
        path
            File to write, such as "report.html".
        """
        report.write(self._evidence(), path, self.notes)

    def _evidence(self) -> list[report.Evidence]:
        """What a report shows."""
        rows = records(self._rows)
        if any(self.statistics.runs):
            return list(report.of_methods(self.statistics, self.metric, rows, unit=self.unit))
        return list(report.of_systems(self.statistics, self.metric, rows, unit=self.unit))


def compare(
    data: Data,
    test: str | None = None,
    *,
    metric: str | Metric | None = None,
    pairs: Pairs = "first",
    baseline: str | None = None,
    method: str | None = None,
    alternative: str = "two-sided",
    n_resamples: int = 100_000,
    rng: int = 2012,
    unit: Unit = "segment",
    threads: int | None = None,
) -> Comparison:
    """Compare systems in pairs: differences with confidence intervals and p-values.

    The first system is compared with every other, and the p-values are adjusted for the number of pairs (Holm), as
    `pairsig compare` does on the command line.

    Parameters
    ----------
    data
        What `pairsig.read` returns for files, data frames, evaluation logs and arrays; or a mapping from names of
        systems to arrays: scores (segments,), with `metric` counts (segments × columns), or several runs of a system,
        (runs × segments × columns).
    test
        "exact", "randomization" or "bootstrap". Default: the exact permutation test, or randomization where the
        metric has no exact test. Systems with several runs are compared by the method-level test of
        `compare_runs`, and take no `test`.
    metric
        Which metric of the data, by name, if there are several; or a `Metric`. For arrays, the metric whose counts they
        have; default: the mean of the scores.
    pairs
        "first" (the default): the first system and every other; "all": every pair.
    baseline
        Name of the system that every other is compared to; it is system B of each pair.
    method, alternative
        Of the test, see `bootstrap_test`. "two-sided", or "greater" or "less": whether the score of A is expected to
        be greater or less than that of B, which must be decided before looking at the scores.
    n_resamples
        Number of resamples or shuffles, where the test draws any.
    rng
        Seed of the random numbers.
    unit
        "document" to swap or draw whole documents instead of segments.
    threads
        Number of threads; default: all cores. It changes nothing but time.

    Returns
    -------
    Comparison
        `print` it for sentences; `.table` has one row per pair.

    Raises
    ------
    InputError
        If there is one system, if a score is not a number, or if the test does not exist for the metric.

    See Also
    --------
    rank : Ranks many systems, with intervals of their ranks.
    compare_runs : Separates the variance of training from that of the test set.
    exact_test, randomization_test, bootstrap_test : The tests of two systems.

    Examples
    --------
    >>> import pairsig
    >>> result = pairsig.compare({"old": [1] * 4 + [0] * 8, "new": [1] * 11 + [0]})
    >>> result.better, result.pvalue
    ('new', 0.015625)

    A data frame is read first, which says what its columns are:

    >>> import pandas as pd
    >>> rows = pd.DataFrame(
    ...     {
    ...         "model": ["old"] * 12 + ["new"] * 12,
    ...         "question": [*range(12)] * 2,
    ...         "correct": [True] * 4 + [False] * 8 + [True] * 11 + [False],
    ...     }
    ... )
    >>> result = pairsig.compare(pairsig.read(rows, item="question"))
    >>> print(str(result).split(" (")[0])
    new is better than old by 0.58 in correct
    """
    statistics, chosen = prepared(data, metric)
    if len(set(statistics.methods)) < 2:
        raise InputError(
            f"found one system, {named(statistics.methods[0])}, expected at least two to compare\n"
            "pairsig.score_interval has the interval of the score of one system"
        )
    if baseline is not None:
        choose(baseline, list(dict.fromkeys(statistics.methods)), "baseline")
    resampling = Resampling(n_resamples, rng, threads)
    if any(statistics.runs):
        for name, value in (("test", test), ("method", method), ("alternative", alternative)):
            if value not in (None, "two-sided"):
                raise InputError(
                    f"found {name}={value!r} for systems with several runs, expected none: only one test knows of runs "
                    "(pairsig.compare_runs)"
                )
        compared = several_runs.compare_runs(statistics, metric=chosen, pairs=pairs, baseline=baseline, unit=unit).table
        p = compared["pvalue"]
        n_units = len(set(statistics.documents)) if unit == "document" else len(statistics.segments)
        rows = compared.assign(
            test="runs", method="", alternative="two-sided", estimator="", pvalue_low=p, pvalue_high=p,
            n_resamples=None, n_units=n_units, only_a=None, only_b=None, log10_pvalue=-math.inf,
        )  # fmt: skip
    else:
        chosen_test = find(test or DEFAULT_TEST, method, alternative)
        rows = pd.DataFrame(
            pairwise.compare(
                statistics, [chosen], chosen_test, pairs=pairs, baseline=baseline, unit=unit, resampling=resampling
            )
        )
    notes: list[str] = []
    for row in rows[["system_a", "system_b", "notes"]].to_dict("records"):
        about = f"{row['system_a']} and {row['system_b']}: " if len(rows) > 1 else ""
        notes += [f"{about}{note}" for note in row["notes"]]
    return Comparison(
        table=rows[list(COLUMNS)],
        statistics=statistics,
        metric=chosen,
        unit=unit,
        notes=tuple(dict.fromkeys([*statistics.notes[:1], *notes, *statistics.notes[1:]])),
        _all=rows,
    )
