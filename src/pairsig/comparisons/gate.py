"""A gate for releases: whether a candidate is not worse than a baseline by a margin, is worse, or neither is shown.

With Δ by how much the candidate is better on the population that the test set was drawn from (negative if it is worse)
and M the margin, each score is checked at the level α:

* **passed**: Δ > −M is shown (non-inferiority), or even Δ > 0;
* **worse**: otherwise, and Δ < 0 is shown, with Holm's adjustment for the number of scores;
* **undecided**: neither is shown.

The gate passes if all scores pass. If the candidate is worse by M or more in some score, that happens with a
probability of at most α, without an adjustment (an intersection–union test: Berger 1982). It reports a worse candidate
if any score is worse. If the candidate is not worse in any score, that happens with a probability of at most α, too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

import numpy as np

from pairsig.comparisons.compare import Data, compare, prepared
from pairsig.core.definitions import find
from pairsig.core.statistics import Statistics, unused_documents
from pairsig.core.totals import Resampling
from pairsig.io import rendering
from pairsig.io.choices import check_level
from pairsig.io.columns import GATE
from pairsig.io.errors import InputError, listed, named, plain
from pairsig.io.packages import pd
from pairsig.io.results import TableResult
from pairsig.io.tables import Row, frame, records
from pairsig.metrics import Metric
from pairsig.stats import margins
from pairsig.stats.adjust import holm
from pairsig.stats.intervals import Intervals
from pairsig.stats.margins import Amount
from pairsig.stats.paired import Pair, Unit
from pairsig.stats.pass_fail import tango

Verdict = Literal["passed", "worse", "undecided"]

STATUS: Mapping[Verdict, int] = {"passed": 0, "worse": 1, "undecided": 3}
"""Exit status of each verdict; status 2 is reserved for invalid input."""

ALPHA = 0.05
"""Default significance level."""

_STEP = 1e-5
"""The smallest margin that is tried for pass/fail units, as a share, and the distance of the largest one from 1."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Gate(TableResult):
    """The verdict on a candidate: what `gate` returns.

    `print` shows the verdict as `pairsig gate` prints it.

    Attributes
    ----------
    verdict, status
        Overall verdict, the worst of any score, and the exit status.
    baseline, candidate
        Names of the systems.
    alpha
        Level of each of the two claims.
    table
        One row per score, with its `verdict`, `margin`, `change`, `largest_loss` and the p-value of a loss.
    notes
        Caveats.
    """

    verdict: Verdict
    status: int
    baseline: str
    candidate: str
    alpha: float

    def __str__(self) -> str:
        """The verdict in one line; with several scores, a line for each of them follows."""
        lines = [f"{row.verdict}: {row.sentence}" for row in self.table.itertuples()]
        if len(lines) == 1:
            return lines[0]
        times = Counter(self.table["verdict"])
        counted = (f"{times[verdict]} of {len(lines)} scores {verdict}" for verdict in STATUS if times[verdict])
        return "\n".join([f"{self.verdict}: {', '.join(counted)}", *(f"  {line}" for line in lines)])

    def to_markdown(self) -> str:
        """Return the verdict as a table in Markdown, for the summary of a job."""
        a, b = (rendering.escaped(name, "markdown") for name in (self.baseline, self.candidate))
        return f"**{self.verdict}** ({b} against {a})\n\n{self._rendered('markdown')}"

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers with all digits; numbers that do not exist are None."""
        names = ("verdict", "status", "baseline", "candidate", "alpha")
        return super().to_dict() | {name: getattr(self, name) for name in names}


def gate(
    data: Data | Sequence[Statistics],
    margin: Amount,
    *,
    metric: str | Metric | None = None,
    alpha: float = ALPHA,
    unit: Unit = "segment",
    n_resamples: int = 100_000,
    rng: int = 2012,
    threads: int | None = None,
) -> Gate:
    """Check every score of a candidate against a baseline before a release.

    Parameters
    ----------
    data
        Two systems, the baseline first, as for `compare`; or a list of such statistics.
    margin
        Tolerated loss of each score, in its unit or as a percentage such as "1%".
    metric
        As for `compare`. Default: every metric of the data.
    alpha
        Level of each of the two claims.
    unit
        "document" to take whole documents as units.
    n_resamples, rng, threads
        Of the test whether the candidate is worse, for metrics without an exact test; see `compare`.

    Returns
    -------
    Gate
        `.verdict` is "passed", "worse" or "undecided", and `.status` the exit status of `pairsig gate`.

    Raises
    ------
    InputError
        If there are not two systems, if the margin is impossible, or if nobody said whether higher is better.

    Notes
    -----
    The largest loss is the end of the one-sided interval that belongs to `margin_test`: Tango's for pass/fail units,
    Student's for others. If Δ > 0 is shown nevertheless, the candidate passes without a loss. Otherwise the largest
    loss is at least S (1 − α^(1/n)), which units lose that are so rare that none may be among n. S is the largest
    possible score or, for means without one, the observed range of the values, which is no bound. docs/gate.md has the
    formulas.

    Examples
    --------
    >>> import pairsig
    >>> pairsig.gate({"old": [1, 1, 1, 0] * 50, "new": [0, 0, 1, 0] * 50}, "2%").verdict
    'worse'
    """
    check_level(alpha, "significance level")
    scored = [(statistics, each) for statistics in _statistics(data, metric) for each in statistics.metrics]
    if assumed := [each.name for _, each in scored if each.assumed]:
        raise InputError(
            f"found {listed(assumed)} without a direction, expected to know which scores are better before a release "
            "is checked: --lower-is-better or --higher-is-better"
        )
    resampling = Resampling(n_resamples, rng, threads)
    rows: list[Row] = []
    for statistics, each in scored:
        if len(statistics.systems) != 2 or any(statistics.runs):
            raise InputError(
                f"found the systems {listed(statistics.systems)}, expected two with one run each: the baseline and the "
                "candidate"
            )
        pair = Pair(each, statistics.of(each), statistics.documents_if(unit))
        best = margins.best_score(pair)
        points = margins.in_unit(margin, "margin", best)
        margins.check_margin(points, each, best)
        rows.append(_checked(statistics, pair, points, alpha, resampling))
    baseline, candidate = statistics.systems
    for row, p in zip(rows, holm(np.array([row["pvalue_worse"] for row in rows])).tolist(), strict=True):
        row["verdict"] = "passed" if row["largest_loss"] < row["margin"] else "worse" if p < alpha else "undecided"
        row["pvalue_holm"] = p
        row["sentence"] = plain(_sentence(row, baseline, candidate, alpha))
        row["largest_loss"] = row["largest_loss"] if math.isfinite(row["largest_loss"]) else None
    verdicts = {row["verdict"] for row in rows}
    verdict: Verdict = "worse" if "worse" in verdicts else "undecided" if "undecided" in verdicts else "passed"
    table = frame(GATE, rows)
    notes = dict.fromkeys(note for note in chain.from_iterable(row["notes"] for row in rows) if note)
    return Gate(
        table=table, notes=tuple(notes), verdict=verdict, status=STATUS[verdict],
        baseline=baseline, candidate=candidate, alpha=alpha, _render=_render,
    )  # fmt: skip


def _render(table: pd.DataFrame, format: str) -> str:  # noqa: A002
    """The scores with their verdicts in a format of `rendering`."""
    numbers = ("score_baseline", "score_candidate", "change", "largest_loss")
    rows = [
        row
        | {name: _points(row, row[name], "+" * (name == "change")) for name in numbers}
        | {"margin": f"{row['margin']:g}"}
        for row in records(table)
    ]
    columns = GATE.view(
        score="", verdict="", score_baseline="baseline", score_candidate="candidate", change="", margin="",
        largest_loss="loses at most",
    )  # fmt: skip
    return rendering.render(rows, columns, format)


def _points(row: Row, value: float | None, sign: str = "") -> str:
    """Format a number with two significant digits of the margin."""
    if value is None or not math.isfinite(value):
        return "unknown"
    return f"{value:{sign}.{max(2, 2 - math.floor(math.log10(row['margin'])))}f}".replace("-", "−")


def _sentence(row: Row, baseline: str, candidate: str, alpha: float) -> str:
    """The verdict on a score with its numbers."""
    a, b, by = named(baseline), named(candidate), f"{row['margin']:g} or more"
    units = f"{row['n_segments']:,} segments"
    verdict = {
        "passed": f"{b} is not worse than {a} by {by}",
        "worse": f"{b} is worse than {a} (p = {max(row['pvalue_holm'], 1e-300):.2g})",
        "undecided": f"{units} do not show whether {b} is worse than {a} by {by}",
    }[row["verdict"]]
    lower = "; lower is better" * row["lower_is_better"]
    scores = f"{_points(row, row['score_candidate'])} against {_points(row, row['score_baseline'])}"
    most = f"at most {_points(row, row['largest_loss'])}" if row["largest_loss"] else "nothing"
    n = "" if row["verdict"] == "undecided" else f", n = {units}"
    return (
        f"{row['score']}: {verdict}: {scores} ({_points(row, row['change'], '+')}{lower}); it loses {most} "
        f"({100 * (1 - alpha):g} % confidence){n}"
    )


def _statistics(data: Any, metric: str | Metric | None) -> Sequence[Statistics]:
    """The statistics of all metrics, from what `gate` takes."""
    if isinstance(data, list | tuple):
        return data
    if isinstance(data, Statistics) and metric is None and data.metrics:
        return [data]
    statistics, chosen = prepared(data, metric)
    return [replace(statistics, metrics=(chosen,))]


def _rare(pair: Pair, alpha: float) -> float:
    """Largest loss from units so rare that none may occur among n: S (1 − α^(1/n)).

    S is the largest possible score; for means without one, the range of the values; 0 if it is unknown.
    """
    metric, largest = pair.metric, margins.best_score(pair) or 0.0
    if not largest and metric.averaged and len(metric.columns) == 1:
        values = pair.segments[..., 0]
        largest = float(np.ptp(metric.score([[values.min(), 1.0], [values.max(), 1.0]])))
    return largest * float(1 - alpha ** (1 / pair.units.shape[1]))


def _checked(statistics: Statistics, pair: Pair, margin: float, alpha: float, resampling: Resampling) -> Row:
    """The numbers of a score; system A is the baseline."""
    up, down = ("greater", "less") if pair.metric.higher_is_better else ("less", "greater")
    (worse,), (better,) = (
        compare(statistics, [pair.metric], find("exact", None, side), unit=pair.unit, resampling=resampling)
        for side in (up, down)
    )
    intervals = Intervals(pair.units, pair.metric, pair.unit)
    loss = max(_rare(pair, alpha), (_students if intervals.items is None else _tangos)(intervals, alpha))
    # A candidate that is significantly better is not worse by the margin, either.
    if loss >= margin and better["pvalue"] < alpha:
        loss = 0.0
    notes = [unused_documents(statistics.documents)] if pair.unit == "segment" else []
    if not (pair.units[0] != pair.units[1]).any():
        notes.append("both systems have the same counts on every item, so these items cannot tell them apart")
    return {
        "score": pair.metric.name, "margin": margin, "score_baseline": worse["score_a"],
        "score_candidate": worse["score_b"], "change": 0.0 - worse["difference"],
        "lower_is_better": not pair.metric.higher_is_better, "largest_loss": loss, "pvalue_worse": worse["pvalue"],
        "n_segments": pair.n_segments, "unit": pair.unit, "signature": worse["signature"], "notes": notes,
    }  # fmt: skip


def _students(intervals: Intervals, alpha: float) -> float:
    """The largest loss, by Student's interval."""
    from scipy.special import stdtrit

    if intervals.units.shape[1] < 2:
        return math.inf
    gain, error, degrees = intervals.estimate(0, 1)
    return (float(stdtrit(degrees, 1 - alpha)) * error if error else 0.0) + gain


def _tangos(intervals: Intervals, alpha: float) -> float:
    """The same for pass/fail units: the margin at which Tango's score is the critical value."""
    from scipy.optimize import brentq
    from scipy.special import ndtri

    items = intervals.items
    assert items is not None
    won, lost = (float(number) for number in items.better(1, 0))

    def short(margin: float) -> float:
        return float(tango(won, lost, items.n_units, margin)) + float(ndtri(alpha))

    if short(_STEP) > 0:
        return 0.0
    return items.passed * (1.0 if short(1 - _STEP) <= 0 else float(brentq(short, _STEP, 1 - _STEP)))
