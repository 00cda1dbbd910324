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
from itertools import groupby
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
    unscored
        Of a log: by the name of the metric, True for items without a score in it.
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
        From the log of an evaluation: items are known by their ids, in any order, and some may be missing
        (`unscored`, or not there); the system is called as the log says, not as the file.
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
    unscored: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
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
        Those that every one of them has, in the order of the first; of logs, neighbours that the same items have scores
        for.
    notes
        Sentences for the user: those of the files, and what aligning has left out.
    """

    statistics: Statistics
    metrics: tuple[Metric, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Kept:
    """The segments that count for some metrics, what is said of the others, and what the signature says of them."""

    metrics: Sequence[Metric]
    segments: NDArray[np.bool_]
    notes: Sequence[str]
    missing: str = ""


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
    (aligned,) = align((a, b), names)
    return aligned


def align(
    parts: Sequence[Counted],
    names: Sequence[str],
    *,
    runs: Sequence[str] = (),
    domains: Sequence[str] = (),
    documents: Sequence[str] = (),
    missing: Missing | None = None,
) -> list[Aligned]:
    """Systems called `names` on the same segments, in the order the first one has them.

    Items of logs are paired by their ids. Each metric has the items that have a score in it: those that a system has no
    score for are refused, unless `missing` says what to make of them, and those that no system has a score for are left
    out. So a metric is the same with others beside it and alone.

    Of other files, a segment that no system was scored on is left out. One that only some were scored on has counts of
    0 for the others, so that every score is the one its own program prints (as in Bikel's comparator, which takes
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
        Of logs: items without a score in a metric count as `wrong` in it, 0 where scores are from 0 to 1 and higher is
        better, or are left out of all systems (`drop`).

    Returns
    -------
    All metrics on the same segments; of logs, each run of neighbouring metrics that the same items have scores for.

    Raises
    ------
    InputError
        If the segments, their documents or their `shared` columns are not the same, with both numbers of
        segments and the first place where they part; if domains or documents are not one a segment, or others than
        those in the files; if counts are impossible for their metric; if no metric is left. For logs: if an item is not
        the same in all, if a score for `wrong` does not exist, and without `missing` if a system has no score for an
        item, with the metric, their number and three of them.
    """
    if len(set(names)) < len(names):
        raise InputError(f"the systems are called {listed(names)}, expected different names")
    logs = all(part.log for part in parts)
    if logs:
        parts = _on_the_same_items(parts)
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
    metrics = shared(parts)
    if not metrics:
        found = "; ".join(f"{part.source} has {listed(m.name for m in part.metrics)}" for part in parts)
        raise InputError(f"the files have no metric in common, expected at least one: {found}")
    for part in parts:
        for metric in metrics:
            _check_possible(part, metric)
            _check_direction(part, metric, first)
    notes = [note for part in parts for note in part.notes] + _not_alike(parts) + _metrics_left_out(parts, metrics)
    design = next((part.design for part in parts if part.design), "")  # a log with one run has none
    aligned = []
    for kept in _kept_of_logs(parts, names, metrics, missing) if logs else [_kept(parts, names, metrics)]:
        columns = tuple(dict.fromkeys(column for metric in kept.metrics for column in metric.columns))
        rows = kept.segments
        said = (("missing", kept.missing), ("design", design)) if logs else ()
        statistics = Statistics(
            dataset="",
            systems=tuple(names),
            groups=tuple(names),
            kinds=("",) * len(names),
            segments=label_array(first.segments, f"{first.source}: segment")[rows],
            documents=label_array(labels["documents"], f"{first.source}: document")[rows],
            domains=label_array(labels["domains"], f"{first.source}: domain")[rows],
            columns=columns,
            counts=np.stack([np.stack([part.counts[column][rows] for column in columns], axis=1) for part in parts]),
            provenance={key: value for key, value in said if value},
            runs=tuple(runs),
        )
        aligned.append(Aligned(statistics, tuple(kept.metrics), tuple(dict.fromkeys([*notes, *kept.notes]))))
    return aligned


def shared(parts: Sequence[Counted]) -> tuple[Metric, ...]:
    """The metrics that all have, in the order of the first."""
    return tuple(metric for metric in parts[0].metrics if all(_has(part, metric) for part in parts))


def _kept(parts: Sequence[Counted], names: Sequence[str], metrics: Sequence[Metric]) -> _Kept:
    """Segments that some systems were scored on, or all of them."""
    scored = np.stack([_scored(part) for part in parts])
    together = np.logical_and if any(part.common for part in parts) else np.logical_or
    kept = together.reduce(scored)
    if not kept.any():
        raise InputError(f"no segment of {' and '.join(part.source for part in parts)} was scored, expected some")
    return _Kept(metrics, kept, _segments_left_out(parts[0], names, scored, kept))


def _on_the_same_items(parts: Sequence[Counted]) -> tuple[Counted, ...]:
    """Logs with all items that any of them has: in the order of the first, and further ones as they are found."""
    items = {
        item: number for number, item in enumerate(dict.fromkeys(item for part in parts for item in part.segments))
    }
    rows = [np.full(len(items), -1) for _ in parts]  # of each item, -1 where it is not there
    for own, part in zip(rows, parts, strict=True):
        own[[items[item] for item in part.segments]] = np.arange(len(part.segments))
    holder = np.argmax(np.stack(rows) >= 0, axis=0)  # the first system that has the item
    for what in ("contents", "documents", "domains"):
        _check_items(what, parts, rows)

    def labels(what: str) -> tuple[str, ...]:
        found = [getattr(part, what) for part in parts]
        return tuple(found[one][rows[one][item]] for item, one in enumerate(holder)) if all(found) else ()

    segments, documents, domains = tuple(items), labels("documents"), labels("domains")
    return tuple(
        replace(
            part,
            segments=segments,
            documents=documents,
            domains=domains,
            counts={
                name: np.where(own >= 0, values[own], 0).astype(values.dtype) for name, values in part.counts.items()
            },
            unscored={name: (own < 0) | lacking[own] for name, lacking in part.unscored.items()},
            lines=tuple(part.lines[row] for row in own) if part.lines and own.min() >= 0 else (),
            contents=(),
        )
        for part, own in zip(parts, rows, strict=True)
    )


def _kept_of_logs(
    parts: Sequence[Counted], names: Sequence[str], metrics: Sequence[Metric], missing: Missing | None
) -> list[_Kept]:
    """The items of every metric, with neighbours that the same items have scores for together."""
    ids = parts[0].segments
    found = []
    for _, alike in groupby(metrics, key=lambda metric: [part.unscored[metric.name].tobytes() for part in parts]):
        own = list(alike)
        told = listed(metric.name for metric in own)
        has = ~np.stack([part.unscored[own[0].name] for part in parts])
        n_scored = has.sum(axis=0)
        nowhere, everywhere = n_scored == 0, n_scored == len(parts)
        notes = []
        if nowhere.any():
            fate = "counted as wrong for all" if missing == "wrong" else "left out"
            notes.append(f"no system has a score in {told} for {int(nowhere.sum()):,} of {len(ids):,} items: {fate}")
        for name, part, scored in zip(names, parts, has, strict=True):
            without = np.flatnonzero(~scored & ~nowhere)
            lacks = f"{named(name)} has no score in {told} for {len(without):,} of {len(ids):,} items"
            if len(without) and missing is None:
                shown = ", ".join(named(ids[item]) for item in without[:_NAMED])
                more = f" and {len(without) - _NAMED:,} more" if len(without) > _NAMED else ""
                raise InputError(
                    f"{part.source}: {lacks} that others have one for ({shown}{more}), expected the same ones: "
                    f"--missing wrong counts them as wrong, --missing drop leaves them out of all"
                )
            if len(without):
                notes.append(f"{lacks}: {'counted as wrong' if missing == 'wrong' else 'left out of all'}")
        if not everywhere.any() and missing != "wrong":
            raise InputError(
                f"{' and '.join(dict.fromkeys(part.source for part in parts))}: found no item that all have a score "
                f"for in {told}, expected some"
            )
        if missing == "wrong" and not everywhere.all():
            for metric in own:
                _check_wrong(parts, metric)
        said = f"{missing}:{int((~everywhere).sum())}" if missing and not everywhere.all() else ""
        found.append(_Kept(own, everywhere | (missing == "wrong"), notes, said))
    return found


def _check_items(what: str, parts: Sequence[Counted], rows: Sequence[NDArray[np.intp]]) -> None:
    """Refuse an item that is another in one log than in the first that has it."""
    first: dict[int, tuple[str, Counted]] = {}
    for part, own in zip(parts, rows, strict=True):
        values: tuple[str, ...] = getattr(part, what)
        for item in np.flatnonzero(own >= 0).tolist() if values else ():
            here = values[own[item]]
            if what == "contents" and not here:  # of an item without a score a log may not say what it is
                continue
            there, other = first.setdefault(item, (here, part))
            if here != there:
                kind = what.removesuffix("s")
                told = f"of {kind} {quoted(here)}, but of {quoted(there)}" if kind != "content" else "another item than"
                raise InputError(
                    f"{part.where(own[item])}: item {named(part.segments[own[item]])} is {told} in {other.source}: "
                    f"are these the same test set?"
                )


def _check_wrong(parts: Sequence[Counted], metric: Metric) -> None:
    """Refuse to count as wrong what has no worst score."""
    for part in parts:
        values = part.counts[metric.name][~part.unscored[metric.name]]
        strange = values[(values < 0) | (values > 1)]
        if metric.higher_is_better and not len(strange):
            continue
        why = f"the score {strange[0]:g}" if metric.higher_is_better else "that lower is better"
        raise InputError(
            f"{part.source}: found {why} in {named(metric.name)}, expected scores from 0 to 1, of which higher is "
            f"better, since --missing wrong counts what has no score as 0: use --missing drop, or name other metrics"
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


def _check_direction(part: Counted, metric: Metric, first: Counted) -> None:
    """Refuse a metric that is an error or a cost in one file and not in the other."""
    own = next(own for own in part.metrics if own.name == metric.name)
    if own.higher_is_better != metric.higher_is_better:
        higher, lower = (part, first) if own.higher_is_better else (first, part)
        raise InputError(
            f"{named(metric.name)} is better where it is higher by {higher.source}, and lower by {lower.source}: "
            f"expected the same"
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
