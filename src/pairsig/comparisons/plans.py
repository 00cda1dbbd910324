"""`plan`: how many segments a gain needs, or which gain they detect, from a pilot or from assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pairsig.comparisons import inputs
from pairsig.core.definitions import find
from pairsig.io.choices import once, spelled
from pairsig.io.errors import InputError, listed
from pairsig.io.results import TableResult
from pairsig.metrics import Metric, registry
from pairsig.planning import sample_size
from pairsig.planning.sample_size import LENGTHS, OUTCOMES, Spread, render
from pairsig.stats.margins import Amount
from pairsig.stats.paired import Pair, Unit


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan(TableResult):
    """Sizes of test sets for gains and margins, or gains and margins for sizes: what `plan` returns.

    `print` shows the table that `pairsig plan` prints, and a notebook shows the same as HTML.

    Attributes
    ----------
    table
        One row per gain, margin or size; the columns are those of `pairsig plan`.
    notes
        Sentences about where the standard deviation comes from, and how far it may be off.
    """

    def _rendered(self, format: str) -> str:  # noqa: A002
        return render(self._rows, format)


def plan(
    data: inputs.Data | None = None,
    *,
    metric: str | Metric | None = None,
    gain: Amount | Sequence[Amount] = (),
    margin: Amount | Sequence[Amount] = (),
    segments: int | Sequence[int] = (),
    systems: Sequence[str] = (),
    score: Amount | None = None,
    length: float | None = None,
    correlation: float | None = None,
    design_effect: float = 1.0,
    test: str = "randomization",
    method: str | None = None,
    alternative: str = "two-sided",
    alpha: float = 0.05,
    power: float = 0.8,
    unit: Unit = "segment",
) -> Plan:
    """Plan an experiment: the number of segments that detects a gain, or the gain that so many segments detect.

    Parameters
    ----------
    data
        A pilot: two systems on a test set from the same source, as for `compare`. Without a pilot, `score`, and for
        some metrics `length`, say what to expect.
    metric
        As for `compare`; needed without a pilot.
    gain, margin
        Gains that the test should detect, and margins up to which it should show equivalence; in the unit of the score
        or as a percentage, such as "2%".
    segments
        Sizes whose detectable gain and margin are sought. Default, if nothing is asked: 100, 300, …, 10,000.
    systems
        Names of two systems of the pilot, if it has more.
    score
        Without a pilot: mean score of both systems.
    length
        Without a pilot: mean length of a segment, in reference words (BLEU), words (UAS), gold brackets (PARSEVAL),
        sure links (AER), or gold items (F1).
    correlation
        Without a pilot: correlation of the two systems' segments. For accuracy, the default is that of leaderboards
        whose pairs
        correlate least, so the plan is cautious.
    design_effect
        Without a pilot: how much documents increase the variance.
    test, method, alternative, alpha
        The test that will be run, and its level.
    power
        Probability with which it should detect the gain.
    unit
        Unit of the pilot.

    Returns
    -------
    Plan
        `print` it for a table with explanations; `.table` has one row per question.

    Raises
    ------
    InputError
        If something is missing, out of range, or impossible for this score.

    Notes
    -----
    With S the standard deviation of the difference of two systems on a unit, the gain on n units has the standard error
    S/√n, and the power is that of Student's noncentral distribution. docs/planning.md has where S comes
    from, and how accurate plans are.

    Examples
    --------
    >>> import pairsig
    >>> plan = pairsig.plan(metric="bleu", score=35, length=25, correlation=0.75, gain=[0.5, 1])
    >>> plan.table[["gain", "n_segments", "n_low", "n_high"]].astype(float)
       gain  n_segments   n_low  n_high
    0   0.5      5982.0  3713.0  9640.0
    1   1.0      1497.0   930.0  2412.0
    """
    if data is None:
        name, spread = _assumed(metric, score, length, correlation, design_effect)
    else:
        assumed = {"score": score, "length": length, "correlation": correlation}
        for option, value in assumed.items():
            if value is not None:
                raise InputError(f"--{option} is for planning without a pilot; leave it out, or the files")
        name, spread = _pilot(data, metric, systems, unit)
    design = sample_size.Design(test=find(test, method, alternative), alpha=alpha, power=power)
    rows = sample_size.plan(
        name, spread, design, gains=_several(gain), margins=_several(margin), sizes=_several(segments)
    )
    notes = dict.fromkeys(chain.from_iterable(rows["notes"]))
    return Plan(table=rows, notes=tuple(notes), _rows=rows)


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _assumed(
    metric: str | Metric | None,
    score: Amount | None,
    length: float | None,
    correlation: float | None,
    design_effect: float,
) -> tuple[str, Spread]:
    """The metric, and the variance without a pilot; one message about all that is missing."""
    name = metric.name if isinstance(metric, Metric) else spelled(metric or "", registry.METRICS)
    unit = "gold items" if name.endswith("f1") else LENGTHS.get(sample_size.model_of(name), "")
    noun = f"--length, the mean length of a segment in {unit or 'words (for metrics of texts and trees)'}"
    lacks = {
        "--metric": not name,
        "--score, the mean score of both systems": score in (None, ""),
        noun: length is None and (bool(unit) or not name),
    }
    if any(lacks.values()):
        missing = ", and ".join(option for option, lacking in lacks.items() if lacking)
        raise InputError(f"planning without a pilot needs {missing}; or specify files of two systems as a pilot")
    assert score is not None
    how: dict[str, Any] = {"score": score, "correlation": correlation, "design_effect": design_effect}
    if name != OUTCOMES:
        return name, sample_size.from_variance_model(name, length=length, **how)
    if length is not None:
        raise InputError(f"found --length {length:g}, but planning for {OUTCOMES} only takes --score and --correlation")
    return name, sample_size.from_outcomes(**how)


def _pilot(data: inputs.Data, metric: str | Metric | None, systems: Sequence[str], unit: Unit) -> tuple[str, Spread]:
    """The metric, and the variance of the difference of two systems of a pilot."""
    statistics, chosen = inputs.prepared(data, metric)
    once(systems, "system")
    if systems:
        statistics = statistics.select(systems=list(systems))
    if len(statistics.systems) != 2 or any(statistics.runs):
        raise InputError(
            f"the pilot has the systems {listed(statistics.systems)}, expected two with one run each; choose two with "
            "--between A B"
        )
    return chosen.name, sample_size.from_pilot(Pair(chosen, statistics.of(chosen), statistics.documents_if(unit)))
