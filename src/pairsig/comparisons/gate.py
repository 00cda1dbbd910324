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
from dataclasses import asdict, dataclass, replace
from html import escape
from itertools import chain
from typing import Any, Literal

import numpy as np

from pairsig.comparisons.compare import Data, compare, planned, prepared
from pairsig.core.statistics import Statistics
from pairsig.core.totals import Progress, Resampling, Seed, seed_of
from pairsig.io.choices import check_level, near, spelled
from pairsig.io.errors import InputError, listed, named, plain, quoted
from pairsig.io.packages import pd
from pairsig.io.rendering import escaped
from pairsig.io.results import Shown
from pairsig.io.tables import SCHEMA, plain_cells, records
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


@dataclass(frozen=True, kw_only=True)
class Check:
    """One score of the candidate against the baseline; scores, changes and margins are in points."""

    name: str  # METRIC, or TASK/METRIC for logs with several tasks
    verdict: Verdict = "undecided"
    margin: float
    score_baseline: float
    score_candidate: float
    change: float  # score of the candidate − score of the baseline
    lower_is_better: bool
    # Upper confidence limit (level 1 − α, one-sided) of what the candidate loses, at least 0: the smallest margin with
    # which it would pass. inf if there is none.
    largest_loss: float
    pvalue_worse: float  # of Δ < 0, one-sided
    pvalue_holm: float = math.nan  # the same, adjusted for the number of scores
    n_segments: int
    unit: Unit  # what was drawn or swapped as a whole
    notes: tuple[str, ...] = ()
    signature: str

    def points(self, value: float, sign: str = "") -> str:
        """Format a number with two significant digits of the margin."""
        digits = max(2, 2 - math.floor(math.log10(self.margin)))
        return f"{value:{sign}.{digits}f}".replace("-", "−") if math.isfinite(value) else "unknown"


@dataclass(frozen=True, kw_only=True, repr=False)
class Gate(Shown):
    """The verdict on a candidate: what `gate` returns.

    `print` shows the verdict as `pairsig gate` prints it.

    Attributes
    ----------
    baseline, candidate
        Names of the systems.
    alpha
        Level of each of the two claims.
    checks
        One per score, with `verdict`, `change`, `margin`, `largest_loss` and the p-value of a loss.
    """

    baseline: str
    candidate: str
    alpha: float
    checks: tuple[Check, ...]

    @property
    def verdict(self) -> Verdict:
        """Overall verdict: the worst verdict of any score."""
        verdicts = {check.verdict for check in self.checks}
        return "worse" if "worse" in verdicts else "undecided" if "undecided" in verdicts else "passed"

    @property
    def status(self) -> int:
        """Exit status."""
        return STATUS[self.verdict]

    def says(self, check: Check) -> str:
        """A sentence with the verdict of a score."""
        a, b, by = named(self.baseline), named(self.candidate), f"{check.margin:g} or more"
        units = f"{check.n_segments:,} segments"
        sentence = {
            "passed": f"{b} is not worse than {a} by {by}",
            "worse": f"{b} is worse than {a} (p = {max(check.pvalue_holm, 1e-300):.2g})",
            "undecided": f"{units} do not show whether {b} is worse than {a} by {by}",
        }[check.verdict]
        lower = "; lower is better" * check.lower_is_better
        scores = (
            f"{check.points(check.score_candidate)} against {check.points(check.score_baseline)} "
            f"({check.points(check.change, '+')}{lower})"
        )
        most = f"at most {check.points(check.largest_loss)}" if check.largest_loss else "nothing"
        loss = f"it loses {most} ({100 * (1 - self.alpha):g} % confidence)"
        n = "" if check.verdict == "undecided" else f", n = {units}"
        return f"{check.name}: {sentence}: {scores}; {loss}{n}"

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """The verdict in one line; with several scores, a line for each of them follows."""
        lines = [f"{check.verdict}: {plain(self.says(check))}" for check in self.checks]
        if len(lines) == 1:
            return lines[0]
        times = Counter(check.verdict for check in self.checks)
        counted = (f"{times[verdict]} of {len(lines)} scores {verdict}" for verdict in STATUS if times[verdict])
        return "\n".join([f"{self.verdict}: {', '.join(counted)}", *(f"  {line}" for line in lines)])

    def to_markdown(self) -> str:
        """Return the verdict as a table in Markdown, for the summary of a job."""
        lines = [
            f"**{self.verdict}** ({escaped(self.candidate, 'markdown')} against {escaped(self.baseline, 'markdown')})",
            "",
        ]
        lines += [
            "| score | verdict | baseline | candidate | change | margin | loses at most |",
            "|---|---|--:|--:|--:|--:|--:|",
        ]
        for check in self.checks:
            scores = map(check.points, (check.score_baseline, check.score_candidate))
            cells = [escaped(check.name, "markdown"), check.verdict, *scores, check.points(check.change, "+"),
                     f"{check.margin:g}", check.points(check.largest_loss)]  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines)

    def notes(self) -> list[str]:
        """All caveats, once each."""
        return list(dict.fromkeys(chain.from_iterable(check.notes for check in self.checks)))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers with all digits, and the sentence of each score; numbers that do not exist are None."""
        about = {name: getattr(self, name) for name in ("verdict", "status", "baseline", "candidate", "alpha")}
        return {"schema_version": SCHEMA} | about | {"checks": records(self.to_frame())}

    @property
    def _rows(self) -> pd.DataFrame:
        rows = [asdict(check) | {"sentence": plain(self.says(check))} for check in self.checks]
        return pd.DataFrame([plain_cells(row) for row in rows], dtype=object)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def gate(
    data: Data | Sequence[Statistics],
    margin: Amount | Sequence[Amount] | Mapping[str, Amount],
    *,
    metric: str | Metric | None = None,
    alpha: float = ALPHA,
    unit: Unit = "segment",
    n_resamples: int = 100_000,
    rng: Seed = 2012,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Gate:
    """Check every score of a candidate against a baseline before a release.

    Parameters
    ----------
    data
        Two systems, the baseline first, as for `compare`; or a list of such statistics.
    margin
        Tolerated loss, in the unit of the scores or as a percentage such as "1%": of all scores, or by name of a score.
    metric
        As for `compare`. Default: every metric of the data.
    alpha
        Level of each of the two claims.
    unit
        "document" to take whole documents as units.
    n_resamples, rng, threads, progress
        Of the test whether the candidate is worse, for metrics without an exact test; see `compare`.

    Returns
    -------
    Gate
        `.verdict` is "passed", "worse" or "undecided", and `.status` the exit status of `pairsig gate`.

    Raises
    ------
    InputError
        If there are not two systems, if a margin is missing or impossible, or if nobody said whether higher is better.

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
    wanted = _margins(margin, [each.name for _, each in scored])
    resampling = Resampling(n_resamples, seed_of(rng), threads, progress=progress)
    checks = []
    for statistics, each in scored:
        systems = statistics.systems
        if len(systems) != 2:
            raise InputError(
                f"found the systems {listed(systems)}, expected two with one run each: the baseline and the candidate"
            )
        pair = Pair(each, statistics.of(each), statistics.documents_if(unit))
        best = margins.best_score(pair)
        points = margins.in_unit(wanted[each.name], "margin", best)
        margins.check_margin(points, each, best)
        cells = _cells(statistics, pair, points, alpha, resampling)
        checks.append(
            Check(
                name=each.name, margin=points, lower_is_better=not each.higher_is_better, n_segments=pair.n_segments,
                unit=unit, **cells,
            )
        )  # fmt: skip
    for place, p in enumerate(holm(np.array([check.pvalue_worse for check in checks])).tolist()):
        check = checks[place]
        verdict: Verdict = "passed" if check.largest_loss < check.margin else "worse" if p < alpha else "undecided"
        checks[place] = replace(check, verdict=verdict, pvalue_holm=p)
    return Gate(baseline=systems[0], candidate=systems[1], alpha=alpha, checks=tuple(checks))


def _statistics(data: Any, metric: str | Metric | None) -> Sequence[Statistics]:
    """The statistics of all metrics, from what `gate` takes."""
    if isinstance(data, list | tuple):
        return data
    if isinstance(data, Statistics) and metric is None and data.metrics:
        return [data]
    statistics, chosen = prepared(data, metric)
    return [replace(statistics, metrics=(chosen,))]


def _margins(margin: Amount | Sequence[Amount] | Mapping[str, Amount], names: Sequence[str]) -> dict[str, str]:
    """The margin of each score: that for its name, else that for all scores."""
    if isinstance(margin, Mapping):
        texts = [f"{name}={value}" for name, value in margin.items()]
    else:
        texts = list(map(str, [margin] if isinstance(margin, float | int | str) else margin))
    by_name: dict[str, str] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        name = spelled(name, names)
        if name and name not in names:
            raise InputError(f"found a margin for {quoted(name)}, expected one of {listed(names)}{near(name, names)}")
        if name in by_name:
            raise InputError(f"found two margins for {named(name) or 'all scores'}, expected one")
        by_name[name] = value
    for name in names:
        if name not in by_name and "" not in by_name:
            raise InputError(f"found no margin for {named(name)}, expected one: add --margin {name}=M, or --margin M")
    return {name: by_name.get(name, by_name.get("", "")) for name in names}


def _rare(pair: Pair, alpha: float) -> float:
    """Largest loss from units so rare that none may occur among n: S (1 − α^(1/n)).

    S is the largest possible score; for means without one, the range of the values; 0 if it is unknown.
    """
    metric, largest = pair.metric, margins.best_score(pair) or 0.0
    if not largest and metric.averaged and len(metric.columns) == 1:
        values = pair.segments[..., 0]
        largest = float(np.ptp(metric.score([[values.min(), 1.0], [values.max(), 1.0]])))
    return largest * float(1 - alpha ** (1 / pair.units.shape[1]))


def _cells(statistics: Statistics, pair: Pair, margin: float, alpha: float, resampling: Resampling) -> dict[str, Any]:
    """The numbers of a check; system A is the baseline."""
    up, down = ("greater", "less") if pair.metric.higher_is_better else ("less", "greater")
    worse, better = compare(
        statistics, [pair.metric], planned(alternatives=[up, down]), unit=pair.unit, resampling=resampling
    )
    intervals = Intervals(pair.units, pair.metric, pair.unit)
    loss = max(_rare(pair, alpha), (_students if intervals.items is None else _tangos)(intervals, alpha))
    # A candidate that is significantly better is not worse by the margin, either.
    if loss >= margin and better["pvalue"] < alpha:
        loss = 0.0
    notes = [note for note in worse["notes"] if "documents" in note]
    if not (pair.units[0] != pair.units[1]).any():
        notes.append("both systems have the same counts on every item, so these items cannot tell them apart")
    return {
        "score_baseline": worse["score_a"], "score_candidate": worse["score_b"], "change": 0.0 - worse["difference"],
        "largest_loss": loss, "pvalue_worse": worse["pvalue"],
        "signature": worse["signature"], "notes": tuple(notes),
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


_STEP = 1e-5
"""The smallest margin that is tried for pass/fail units, as a share, and the distance of the largest one from 1."""
