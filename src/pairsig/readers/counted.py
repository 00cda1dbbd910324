"""Files of counts: what other programs have counted of one system, and the pairing of two of them.

The readers of texts and trees need a reference and a metric to count; those here read counts that are there
already, and with them come the metrics that the program behind the file reports. `COUNTED_READERS` names them,
`read` imports the one asked for, `pair` puts two systems side by side.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pairsig.choices import choose, options_of
from pairsig.errors import InputError, listed, named, quoted
from pairsig.files import AnyPath
from pairsig.metrics import Metric, Ratio, Totals, ratio
from pairsig.metrics.counts import mean
from pairsig.readers import text
from pairsig.statistics import Statistics, label_array

NUMBER = r"[-+]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][-+]?\d{1,4})?"
"""A decimal number; Python's own `float` takes `nan`, `inf` and `1_000` too. No float has more than 400 digits that
count, and a pattern without bounds takes minutes to see that a megabyte of digits is none."""

_SHOWN = 5  # ids a note lists before it says how many more
_NAMED = 3  # ids an error lists

Missing = Literal["wrong", "drop"]
"""What is made of an item that a system has no score for."""


@dataclass(frozen=True)
class Counted:
    """Counts of one system, or of one run of it, on all segments of its test set.

    Attributes
    ----------
    segments, documents
        One id a segment; the document is "" where the file does not say.
    counts
        Columns by name, each of shape (segments,).
    metrics
        Those that can be computed from the columns, the headline first.
    notes
        Sentences for the user about what was left out or changed in reading.
    source
        The file.
    lines
        The line (or row) of each segment in it.
    place
        What `lines` counts: "line" or "row".
    shared
        Columns that belong to the test set and not to the system (gold brackets, lengths): the same in all systems.
    alike
        Columns that ought to be the same in all systems; where they are not, a note says so.
    scored
        False for segments the program has left out of its totals; all their counts are 0. None: none is left out.
    common
        A segment left out of one system's totals is to be left out of every system's.
    system, run
        Whose counts they are, and of which of its runs, where the file says so; else "".
    domains
        One a segment, where the file says so.
    contents
        One a segment, where the file has it: what the item is, such as a digest of its question. The same in all
        systems.
    settings
        What tells systems apart that are called the same, such as a temperature.
    log
        From the log of an evaluation: items are known by their ids, in any order, and some may be missing (not
        `scored`, or not there); the system is called as the log says, not as the file.
    is_reference
        What the other system of the file was judged against, and itself a system only where the file is alone.
    design
        What runs are: "nested" where every item was sampled anew, "crossed" where something is the same for all items
        of a run.
    """

    segments: tuple[str, ...]
    documents: tuple[str, ...]
    counts: Mapping[str, NDArray[Any]]
    metrics: tuple[Metric, ...]
    notes: tuple[str, ...] = ()
    source: str = ""
    lines: tuple[int, ...] = ()
    place: str = "line"
    shared: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    scored: NDArray[np.bool_] | None = None
    common: bool = False
    system: str = ""
    run: str = ""
    domains: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    log: bool = False
    is_reference: bool = False
    design: str = ""

    def __post_init__(self) -> None:
        if not self.segments:
            raise InputError(f"{self.source}: found no segments, expected at least one")
        sizes = {len(self.documents), *map(len, self.counts.values())}
        if sizes != {len(self.segments)}:
            raise ValueError(f"{len(self.segments)} segments, but documents or columns of {sorted(sizes)}")

    @property
    def told(self) -> str:
        """The file, with the system and the run that it says they are of."""
        labels = [f"{what} {named(name)}" for what, name in (("system", self.system), ("run", self.run)) if name]
        return f"{self.source} ({', '.join(labels)})" if labels else self.source

    def where(self, position: int) -> str:
        """File and line of the segment at `position`."""
        return f"{self.source}, {self.place} {self.lines[position]}" if self.lines else self.source


@dataclass(frozen=True)
class Aligned:
    """Systems on the same segments.

    Attributes
    ----------
    statistics
        Their counts, in the columns of `metrics`.
    metrics
        Those that every one of them has, in the order of the first.
    notes
        Sentences for the user: those of the files, and what aligning has left out.
    """

    statistics: Statistics
    metrics: tuple[Metric, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class CountedReader:
    """A way to read counts.

    Attributes
    ----------
    name
        The word for it on the command line.
    module
        Where its function `read(path, **options)` is, which gives one `Counted`, or one for each system and run that
        the file has; imported when needed.
    description
        One line for `--help`.
    """

    name: str
    module: str
    description: str

    @property
    def function(self) -> Callable[..., Counted | tuple[Counted, ...]]:
        """The function `read` of its module."""
        read: Callable[..., Counted | tuple[Counted, ...]] = import_module(self.module).read
        return read


COUNTED_READERS: dict[str, CountedReader] = {
    name: CountedReader(name, f"pairsig.readers.{name}", description)
    for name, description in (
        ("evalb", "the listing evalb prints: F1, precision, recall, complete match, tagging accuracy"),
        ("sigf", "sigf's lines: matches, predicted, gold (F1, precision, recall), or one number (mean)"),
        ("art", "art's lines: 1 number (average), 2 (ratio), 4 (F1 of recall and precision)"),
        ("coref", "output of the CoNLL coreference scorer: MUC, B³, CEAF, BLANC and the CoNLL average"),
        ("table", "TSV, CSV, JSONL or Parquet with a segment id and named columns: any counts or scores"),
        ("inspect", "logs of Inspect (.eval or .json), or a folder of them: every scorer; epochs are runs"),
        ("lm_eval", "logged samples of lm-evaluation-harness: the folder, or samples_*.jsonl beside results_*.json"),
        ("helm", "per_instance_stats.json of HELM, or folders that have one; trials are runs"),
        ("swebench", "reports of SWE-bench: resolved or not; or a folder of submissions"),
        ("alpaca_eval", "annotations.json of AlpacaEval: win rate over the reference model"),
        ("openai_evals", "the JSONL of OpenAI evals: events of type match or metrics"),
        ("comet", "JSON of comet-score or comet-compare"),
        ("mt_metrics_eval", "NAME-REF.seg.score of mt-metrics-eval, all systems in one file"),
    )
}
"""The readers of counts by name."""


def read(reader: str, path: AnyPath, **options: Any) -> Counted:
    """Counts of the one system in the file `path`, read by the reader of that name.

    Raises
    ------
    InputError
        For an unknown reader or option, for anything the file has wrong, and for more than one system or run in it.
    """
    found = read_all(reader, path, **options)
    if len(found) > 1:
        labels = [" run ".join(filter(None, (part.system, part.run))) for part in found]
        raise InputError(f"{found[0].source}: found the systems {listed(labels)}, expected one system a file")
    return found[0]


def read_all(reader: str, path: AnyPath, **options: Any) -> tuple[Counted, ...]:
    """Counts of every system and run in the file `path`, read by the reader of that name.

    Raises
    ------
    InputError
        For an unknown reader or option, and for anything the file has wrong.
    """
    function = COUNTED_READERS[choose(reader, COUNTED_READERS, "reader of counts")].function
    for option in options:
        choose(option, options_of(function), f"option of reader {reader}:")
    found = function(path, **options)
    return (found,) if isinstance(found, Counted) else found


def pair(a: Counted, b: Counted, names: tuple[str, str]) -> Aligned:
    """Two systems called `names` on the same segments; see `align`."""
    return align((a, b), names)


def align(
    parts: Sequence[Counted],
    names: Sequence[str],
    *,
    runs: Sequence[str] = (),
    domains: Sequence[str] = (),
    documents: Sequence[str] = (),
    missing: Missing | None = None,
) -> Aligned:
    """Systems called `names` on the same segments, in the order the first one has them.

    Items of logs are paired by their ids; those that a system has no score for are refused, unless `missing` says
    what to make of them.

    A segment that no system was scored on is left out. One that only some were scored on has counts of 0 for
    the others, so that every score is the one its own program prints (as in Bikel's comparator, which takes
    evalb's rows as they are); with `Counted.common` it is left out of all.

    Parameters
    ----------
    parts, names
        The systems, and what they are called.
    runs
        Which run of its method each is, see `Statistics.runs`; none by default.
    domains, documents
        One a segment of the files (also of those that are left out), or none.
    missing
        Of logs: items without a score count as `wrong`, 0 where scores are from 0 to 1, or are left out of all
        (`drop`).

    Raises
    ------
    InputError
        If the segments, their documents or their `shared` columns are not the same, with both numbers of
        segments and the first place where they part; if domains or documents are not one a segment, or others than
        those in the files; if counts are impossible for their metric; if no metric is left. For logs: if an item is not
        the same in all, and without `missing` if a system has no score for one, with their number and three of them.
    """
    if len(set(names)) < len(names):
        raise InputError(f"the systems are called {listed(names)}, expected different names")
    said: dict[str, str] = {}
    told: list[str] = []
    if all(part.log for part in parts):
        parts, left, told = matched(parts, names, missing)
        said = {key: value for key, value in (("missing", left), ("design", parts[0].design)) if value}
    elif missing is not None:
        raise InputError(
            f"{parts[0].source} is no log of an evaluation: its segments are those of the other files, and none is "
            f"missing; expected no --missing"
        )
    first = parts[0]
    for other in parts[1:]:
        _check_same(first, other)
    labels = {
        "domains": domains or first.domains or [""] * len(first.segments),
        "documents": documents or first.documents,
    }
    _check_labels(first, **labels)
    metrics = tuple(metric for metric in first.metrics if all(_has(part, metric) for part in parts))
    if not metrics:
        found = "; ".join(f"{part.source} has {listed(m.name for m in part.metrics)}" for part in parts)
        raise InputError(f"the files have no metric in common, expected at least one: {found}")
    for part in parts:
        for metric in metrics:
            _check_possible(part, metric)
    columns = tuple(dict.fromkeys(column for metric in metrics for column in metric.columns))
    scored = np.stack([_scored(part) for part in parts])
    together = np.logical_and if any(part.common for part in parts) else np.logical_or
    kept = together.reduce(scored)
    if not kept.any():
        raise InputError(f"no segment of {' and '.join(part.source for part in parts)} was scored, expected some")
    notes = [note for part in parts for note in part.notes] + told
    notes += _not_alike(parts) + _metrics_left_out(parts, metrics) + _segments_left_out(first, names, scored, kept)
    statistics = Statistics(
        dataset="",
        systems=tuple(names),
        groups=tuple(names),
        kinds=("",) * len(names),
        segments=label_array(first.segments, f"{first.source}: segment")[kept],
        documents=label_array(labels["documents"], f"{first.source}: document")[kept],
        domains=label_array(labels["domains"], f"{first.source}: domain")[kept],
        columns=columns,
        counts=np.stack([np.stack([part.counts[column][kept] for column in columns], axis=1) for part in parts]),
        provenance=said,
        runs=tuple(runs),
    )
    return Aligned(statistics, metrics, tuple(dict.fromkeys(notes)))


def matched(
    parts: Sequence[Counted], names: Sequence[str], missing: Missing | None
) -> tuple[tuple[Counted, ...], str, list[str]]:
    """Logs with the same items in the same order; what the signature says of those without a score; notes.

    The order is that of the first, and further items come as they are found. An item that no system has a score for is
    left out, or wrong for all.
    """
    items = {
        item: number for number, item in enumerate(dict.fromkeys(item for part in parts for item in part.segments))
    }
    rows = [np.full(len(items), -1) for _ in parts]  # of each item, -1 where it is not there
    for own, part in zip(rows, parts, strict=True):
        own[[items[item] for item in part.segments]] = np.arange(len(part.segments))
    holder = np.argmax(np.stack(rows) >= 0, axis=0)  # the first system that has the item
    ids = list(items)
    for what in ("contents", "documents", "domains"):
        for part, own in zip(parts, rows, strict=True):
            _check_items(what, parts, rows, holder, part, own)
    has = np.stack([(own >= 0) & _scored(part)[own] for part, own in zip(parts, rows, strict=True)])
    nowhere, everywhere = ~has.any(axis=0), has.all(axis=0)
    for name, part, own in zip(names, parts, has, strict=True):
        without = np.flatnonzero(~own & ~nowhere)
        if len(without) and missing is None:
            shown = ", ".join(named(ids[item]) for item in without[:_NAMED])
            more = f" and {len(without) - _NAMED:,} more" if len(without) > _NAMED else ""
            raise InputError(
                f"{part.source}: {named(name)} has no score for {len(without):,} of {len(ids):,} items that others "
                f"have one for ({shown}{more}), expected the same ones: --missing wrong counts them as wrong, "
                f"--missing drop leaves them out of all"
            )
    if nowhere.all():
        raise InputError(f"{parts[0].source}: found no item with a score, expected some")
    wrong = missing == "wrong"
    kept = np.flatnonzero(np.ones_like(everywhere) if wrong else everywhere)
    if not len(kept):
        raise InputError(f"{' and '.join(part.source for part in parts)}: found no item that all have a score for")
    notes = []
    if nowhere.any():
        fate = "counted as wrong for all" if wrong else "left out"
        notes.append(f"{int(nowhere.sum()):,} of {len(ids):,} items have no score in any log: {fate}")
    for name, own in zip(names, has, strict=True):
        if (~own & ~nowhere).any():
            fate = "counted as wrong" if wrong else "left out of all"
            notes.append(f"{name} has no score for {int((~own & ~nowhere).sum()):,} of {len(ids):,} items: {fate}")
    if wrong and not everywhere.all():
        for part in parts:
            _check_wrong(part)
    said = f"{missing}:{int((~everywhere).sum())}" if missing and not everywhere.all() else ""

    def labels(what: str) -> tuple[str, ...]:
        found = [getattr(part, what) for part in parts]
        return tuple(found[holder[k]][rows[holder[k]][k]] for k in kept) if all(found) else ()

    segments = tuple(ids[item] for item in kept)
    documents, domains = labels("documents") or ("",) * len(kept), labels("domains")
    return (
        tuple(
            replace(
                part,
                segments=segments,
                counts={
                    column: np.where(seen[kept], values[own[kept]], 0).astype(values.dtype)
                    for column, values in part.counts.items()
                },
                lines=tuple(part.lines[row] for row in own[kept]) if part.lines else (),
                contents=(),
                scored=None,
                documents=documents,
                domains=domains,
            )
            for part, own, seen in zip(parts, rows, has, strict=True)
        ),
        said,
        notes,
    )


def _check_items(
    what: str,
    parts: Sequence[Counted],
    rows: Sequence[NDArray[np.intp]],
    holder: NDArray[np.intp],
    part: Counted,
    own: NDArray[np.intp],
) -> None:
    """Refuse an item that is another in one log than in the first that has it."""
    values: tuple[str, ...] = getattr(part, what)
    for item in np.flatnonzero(own >= 0):
        first = parts[holder[item]]
        expected: tuple[str, ...] = getattr(first, what)
        if not values or not expected or first is part:
            continue
        here, there = values[own[item]], expected[rows[holder[item]][item]]
        if here != there:
            told = {"contents": "another item", "documents": f"of document {quoted(here)}"}
            raise InputError(
                f"{part.where(own[item])}: item {named(part.segments[own[item]])} is "
                f"{told.get(what, f'of domain {quoted(here)}')} than in {first.source}"
                f"{'' if what == 'contents' else f' ({quoted(there)})'}: are these the same test set?"
            )


def _check_wrong(part: Counted) -> None:
    """Refuse to count as wrong what has no worst score."""
    for metric in part.metrics:
        values = part.counts[metric.columns[0]][_scored(part)]
        if not metric.averaged or not metric.higher_is_better or values.min() < 0 or values.max() > 1:
            raise InputError(
                f"{part.source}: {named(metric.name)} has no score for wrong, which would be 0 of scores from 0 to 1: "
                f"expected --missing drop"
            )


def restricted(part: Counted, names: Sequence[str]) -> Counted:
    """The same with only the metrics of these names, where it has them all."""
    by_name = {metric.name: metric for metric in part.metrics}
    return (
        replace(part, metrics=tuple(by_name[name] for name in names)) if names and set(names) <= set(by_name) else part
    )


def _check_same(one: Counted, other: Counted) -> None:
    sizes = f"{one.told} has {len(one.segments)} segments, {other.told} has {len(other.segments)}"
    for position, (here, there) in enumerate(zip(one.segments, other.segments, strict=False)):
        if here != there:
            raise InputError(
                f"{sizes}, expected the same ones in the same order; they part at number {position + 1}, "
                f"{named(here)} ({one.where(position)}) and {named(there)} ({other.where(position)})"
            )
    if len(one.segments) != len(other.segments):
        longer, shorter = (one, other) if len(one.segments) > len(other.segments) else (other, one)
        position = len(shorter.segments)
        raise InputError(
            f"{sizes}, expected the same ones; segment {named(longer.segments[position])} ({longer.where(position)}) "
            f"is in {longer.told} only"
        )
    labels = [("document", one.documents, other.documents)]
    if one.domains and other.domains:
        labels.append(("domain", one.domains, other.domains))
    for what, mine, theirs in labels:
        for position, (here, there) in enumerate(zip(mine, theirs, strict=True)):
            if here != there:
                raise InputError(
                    f"{other.where(position)}: segment {named(other.segments[position])} is of {what} {quoted(there)}, "
                    f"expected {quoted(here)} as in {one.where(position)}"
                )
    for column, position in _differences(one, other, one.shared):
        raise InputError(
            f"{other.where(position)}: segment {named(other.segments[position])} has {column} "
            f"{other.counts[column][position]}, expected {one.counts[column][position]} as in {one.where(position)}: "
            f"the files are of different test sets"
        )


def _check_possible(part: Counted, metric: Metric) -> None:
    """Refuse counts that `Statistics.of` would refuse, with the line they are in."""
    wrong = [(part.counts[name] < 0, f"{name} below 0") for name in metric.columns if not metric.averaged]
    wrong += [(part.counts[few] > part.counts[many], f"{few} > {many}") for few, many in metric.at_most]
    for where, what in wrong:
        if where.any():
            position = int(np.argmax(where))
            values = ", ".join(f"{name} {part.counts[name][position]}" for name in metric.columns)
            raise InputError(
                f"{part.where(position)}: segment {named(part.segments[position])} has {what} ({values}), expected "
                f"counts for {metric.name}"
            )


def _check_labels(part: Counted, domains: Sequence[str], documents: Sequence[str]) -> None:
    for what, labels in (("domains", domains), ("documents", documents)):
        if len(labels) != len(part.segments):
            raise InputError(
                f"{part.source} has {len(part.segments)} segments, but {len(labels)} {what} are given, expected as many"
            )
    for position, (own, given) in enumerate(zip(part.documents, documents, strict=True)):
        if own not in ("", given):
            raise InputError(
                f"{part.where(position)}: segment {named(part.segments[position])} is of document {quoted(own)}, "
                f"but of {quoted(given)} in the documents given, expected the same"
            )


def _differences(one: Counted, other: Counted, columns: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Columns that are not the same in both, and the first segment where."""
    both = _scored(one) & _scored(other)
    for column in columns:
        here, there = one.counts[column], other.counts[column]
        # A length is known for every sentence; gold counts only for those that were scored, else they are 0.
        wrong = (here != there) & (both | ((here != 0) & (there != 0)))
        if wrong.any():
            yield column, int(np.argmax(wrong))


def _has(part: Counted, metric: Metric) -> bool:
    return any((own.name, own.columns) == (metric.name, metric.columns) for own in part.metrics)


def _scored(part: Counted) -> NDArray[np.bool_]:
    return np.ones(len(part.segments), dtype=bool) if part.scored is None else part.scored


def _not_alike(parts: Sequence[Counted]) -> list[str]:
    first = parts[0]
    return [
        f"{column} is {first.counts[column][position]} in {first.where(position)} and {other.counts[column][position]} "
        f"in {other.where(position)}: are these the same test set?"
        for other in parts[1:]
        for column, position in _differences(first, other, first.alike)
    ]


def _metrics_left_out(parts: Sequence[Counted], kept: Sequence[Metric]) -> list[str]:
    names = {metric.name for metric in kept}
    notes = []
    for part in parts:
        alone = [metric.name for metric in part.metrics if metric.name not in names]
        if alone:
            notes.append(f"{listed(alone)} left out: not in every file, but in {part.source}")
    return notes


def _segments_left_out(
    first: Counted, names: Sequence[str], scored: NDArray[np.bool_], kept: NDArray[np.bool_]
) -> list[str]:
    """What became of the segments that some systems were scored on and others not."""
    notes = []
    for name, own in zip(names, scored, strict=True):
        missing = np.flatnonzero(~own & scored.any(axis=0))
        if len(missing):
            ids = ", ".join(named(first.segments[position]) for position in missing[:_SHOWN])
            if len(missing) > _SHOWN:
                ids += f" and {len(missing) - _SHOWN} more"
            fate = (
                f"zeros for {name}, so that its score is the one of its own file; the option common leaves out of all"
                if kept[missing].any()
                else "left out of all systems, so that scores differ from those of their files"
            )
            notes.append(
                f"{name} was not scored on {len(missing)} of {own.size} segments that others were scored on ({ids}): "
                f"{fate}"
            )
    return notes


# What the readers share.


def average(name: str, *, higher_is_better: bool = True, factor: float = 1.0) -> Metric:
    """The mean of a column of numbers under its own name, in its own unit or multiplied with a factor."""
    return Metric(
        name,
        (name,),
        mean if factor == 1 else replace(mean, factor=factor),
        f"{'' if factor == 1 else f'{factor:g} · '}Σ {name} / number of segments",
        higher_is_better=higher_is_better,
        averaged=True,
        scale=None,
    )


def read_numbers(path: AnyPath, expected: str) -> Iterator[tuple[int, list[int | float]]]:
    """Line number and numbers of every line, separated by blanks.

    Blank lines at the end are none; between others they are an error, since a missing line would pair every
    later one with another segment of the other system. Whole numbers are `int`.
    """
    lines = text.read(path)
    while lines and not lines[-1].strip():
        lines.pop()
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            raise InputError(f"{path}, line {number}: found a blank line, expected {expected}")
        values = []
        for cell in fields:
            value = to_number(cell)
            if value is None:
                raise InputError(f"{path}, line {number}: found {quoted(cell)}, expected {expected}")
            values.append(value)
        yield number, values


def to_number(field: str) -> int | float | None:
    """The number that is written there, a whole one as `int`; None for text, and for one that does not `fit`."""
    if not re.fullmatch(NUMBER, field, re.ASCII):
        return None
    value = int(field) if field.lstrip("+-").isdecimal() else float(field)
    return value if fits(value) else None


def fits(value: int | float) -> bool:
    """Whether a number is finite and, if it is written as a whole one, no larger than floats are exact."""
    return abs(value) <= 2**53 if isinstance(value, int) else math.isfinite(value)


def to_columns(names: Sequence[str], rows: Sequence[Sequence[int | float]]) -> dict[str, NDArray[Any]]:
    """Columns of a table of numbers: int64 where all are whole numbers, else float64."""
    return {name: to_array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def to_array(values: Sequence[int | float]) -> NDArray[Any]:
    """The numbers, which `fit`: as int64 where all are whole, else as float64."""
    whole = all(isinstance(value, int) for value in values)
    return np.array(values, dtype=np.int64 if whole else np.float64)


def f1_of_ratios(totals: Totals) -> NDArray[np.float64]:
    """100 × 2PR / (P + R), with R and P ratios of their own numerators and denominators.

    Totals are recall numerator and denominator, precision numerator and denominator. The numerators need not be
    equal (they are not for B³), so this is not `f1` of three counts. A ratio over 0 is 0, and so is F1 where
    both are 0.
    """
    recall, precision = ratio(totals[..., 0], totals[..., 1]), ratio(totals[..., 2], totals[..., 3])
    score = np.zeros(recall.shape)
    np.divide(2.0 * recall * precision, recall + precision, out=score, where=recall + precision != 0)
    return score


F1_OF_RATIOS = Ratio((0,), (1, 3), factor=200.0, given=((0, 2), (2, 0), (0, 1), (2, 3)), otherwise=f1_of_ratios)
"""`f1_of_ratios`, which is 200 × numerator / (both denominators) where the two numerators are equal in every segment.

So they are for counts as sigf takes them, for MUC and for CEAF, and not for B³.
"""
