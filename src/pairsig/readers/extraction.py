"""Counts from system outputs and references: the only stage that reads text or trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pairsig import readers
from pairsig.io.choices import sort_options
from pairsig.io.errors import InputError, listed
from pairsig.metrics import Metric, NotedCounts, registry
from pairsig.readers import Beginning, markup

if TYPE_CHECKING:
    from pairsig.core.statistics import Statistics


def extract(
    output: str,
    references: Sequence[str],
    *,
    metric: str | Metric,
    reader: str | None = None,
    options: Mapping[str, str] | None = None,
    output_options: Mapping[str, str] | None = None,
    system: str,
    group: str | None = None,
    kind: str = "",
    domains: Sequence[str] = (),
    documents: Sequence[str] = (),
    note: Callable[[str], object] | None = None,
    text_as_is: bool = False,
    column: str | None = None,
    num_refs: int = 1,
) -> Statistics:
    r"""Count the sufficient statistics of one system's output on every segment.

    Parameters
    ----------
    output, references
        Paths of the output and of the references; several references for metrics that support them.
    metric
        A name (see `pairsig.metric_names`) or a `Metric`.
    reader
        Format of the files, such as "text" or "conllu". Default: the metric's own.
    options
        Options of the reader (`skip_lines`) or of the metric (`tokenize`, `stem`), as text.
    output_options
        Options of the reader for the output only, such as `reverse` for an aligner with the opposite direction.
    system, group, kind
        Name of the system, its authors (default: the system itself), and the kind of entry.
    domains, documents
        One label per segment, or none.
    note
        Called with each message for the user, such as which segments the system failed on.
    text_as_is, column, num_refs
        For texts, as in `pairsig.read`.

    Returns
    -------
    Statistics
        Of this one system; `pairsig.core.statistics.collect` combines several.

    Raises
    ------
    InputError
        If a file cannot be read or looks like markup, if the files have different numbers of segments, or if an option
        is unknown.

    See Also
    --------
    collect : Combines the counts of several systems.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pairsig
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     output, reference = (str(Path(folder) / name) for name in ("out.txt", "ref.txt"))
    ...     _ = Path(output).write_text("the cat sat on a mat\n")
    ...     _ = Path(reference).write_text("the cat sat on the mat\n")
    ...     found = pairsig.extract(output, [reference], metric="bleu", system="mine")
    >>> found.columns[:2], found.counts[0, 0, :2].tolist()
    (('hypothesis_length', 'reference_length'), [6, 6])
    """
    chosen = registry.metric(metric)
    name, read, count = functions(chosen, reader)
    reader_options, metric_options = sort_options(options or {}, f"reader {name} and metric {chosen.name}", read, count)
    (options_of_output,) = sort_options(output_options or {}, f"reader {name}", read)
    gold = References(
        paths=references,
        reader=name,
        options=reader_options,
        output_options=options_of_output,
        domains=domains,
        documents=documents,
        column=column,
        num_refs=num_refs,
        text_as_is=text_as_is,
    )
    segments = gold.outputs(output)
    return gold.counts(output, segments, chosen, metric_options, system, group=group, kind=kind, note=note)


@dataclass(frozen=True, kw_only=True)
class References:
    """The references of a test set, and how the outputs of systems are read and paired with them.

    Attributes
    ----------
    paths
        Their files. A single one may have `num_refs` references in each line, with tabs between them.
    reader
        Format of references and outputs.
    options, output_options
        Options of the reader, and further ones for outputs only.
    domains, documents
        One label per segment, or none.
    column
        Column or field that has the texts in tables and JSON Lines; they are paired by id if both files have one.
    text_as_is
        Whether to accept texts that look like markup.
    """

    paths: Sequence[str]
    reader: str
    options: Mapping[str, Any] = field(default_factory=dict)
    output_options: Mapping[str, Any] = field(default_factory=dict)
    domains: Sequence[str] = ()
    documents: Sequence[str] = ()
    column: str | None = None
    num_refs: int = 1
    text_as_is: bool = False

    def __post_init__(self) -> None:
        if len(self.paths) > 1 and "text" not in (self.reader, readers.reader_of_outputs(self.reader).like):
            raise InputError(
                f"found {len(self.paths)} references ({listed(self.paths)}), expected one for reader {self.reader}"
            )

    def outputs(self, path: str) -> Sequence[Any]:
        """The segments of a system's output, in the order of the reference if both have ids."""
        read = self._read(path, **{**self.options, **self.output_options})
        segments = self._in_order(path, *read)
        self._check_texts(path, segments, next(iter(self.golds.values())))
        return segments

    def counts(
        self,
        path: str,
        segments: Sequence[Any],
        metric: Metric,
        options: Mapping[str, Any],
        system: str,
        *,
        group: str | None = None,
        kind: str = "",
        note: Callable[[str], object] | None = None,
    ) -> Statistics:
        """The counts of a system on every segment of its `outputs`, with options of the metric."""
        from pairsig.core.statistics import (
            Statistics,
            label_array,
            label_arrays,
        )  # imports pandas, which reading the sheets does not need

        for name, gold in self.golds.items():
            if readers.reader_of_outputs(self.reader).parallel and len(gold) != len(segments):
                shorter, longer = min((len(gold), path), (len(segments), name))
                raise InputError(
                    f"{path} has {len(segments)} segments, {name} has {len(gold)}, expected equally many; "
                    f"segment {shorter + 1} is in {longer} only"
                )
        golds = list(self.golds.values())
        reference = golds[0] if len(golds) == 1 else list(zip(*golds, strict=True))
        try:
            counts = metric.statistics(segments, reference, **options)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        if note is not None and (empty := [place for place, text in enumerate(segments) if self._lacks(text, place)]):
            note(
                f"{path}: warning: {len(empty):,} of {len(segments):,} outputs are empty, the first in line "
                f"{empty[0] + 1:,}; they count as outputs without words"
            )
        if note is not None and isinstance(counts, NotedCounts):
            for sentence in counts.notes:
                note(f"{system}: {sentence}")
        # The reference determines the segments: a parser of raw text may find other sentences.
        n_segments = len(golds[0])
        for nouns, labels in (("domains", self.domains), ("documents", self.documents)):
            if labels and len(labels) != n_segments:
                raise InputError(
                    f"found {len(labels)} {nouns} for the {n_segments} segments of {self.paths[0]}, expected one "
                    "per segment"
                )
        return Statistics(
            systems=(system,),
            groups=(group or system,),
            kinds=(kind,),
            segments=label_array(self._first[1] or list(map(str, range(1, n_segments + 1))), self.paths[0]),
            columns=tuple(counts),
            counts=np.stack([np.asarray(column) for column in counts.values()], axis=1)[None],
            **label_arrays(documents=self.documents or None, domains=self.domains or None),
        )

    @cached_property
    def golds(self) -> Mapping[str, Sequence[Any]]:
        """The segments of every reference, by the name of the file and, if it has several, of the reference."""
        first, *others = self.paths
        golds = {first: self._first[0]}
        for path in others:
            golds[path] = self._in_order(path, *self._read(path, **self.options))
        if self.num_refs > 1:
            if others:
                raise InputError(f"found {len(golds)} references and --num-refs {self.num_refs}, expected one file")
            cells = [line.split("\t") for line in golds[first]]
            for number, row in enumerate(cells, start=1):
                if len(row) != self.num_refs:
                    raise InputError(f"{first}, line {number}: found {len(row)} references, expected {self.num_refs}")
            golds = {f"{first} (reference {k + 1})": [row[k] for row in cells] for k in range(self.num_refs)}
        for name, gold in golds.items():
            self._check_texts(name, gold, next(iter(golds.values())))
        return golds

    @cached_property
    def _first(self) -> tuple[Sequence[Any], list[str] | None]:
        """The segments and the ids of the first file."""
        return self._read(self.paths[0], **self.options)

    def _read(self, path: str, **options: Any) -> tuple[Sequence[Any], list[str] | None]:
        """The segments of a file, and their ids if it has some."""
        is_table = Beginning(path).suffix.lower() in readers.SUFFIXES_OF_TABLES
        if self.reader == "text" and self.column is not None and is_table:
            from pairsig.readers import table

            ids, texts = table.column(path, self.column)
            return texts, ids
        segments = readers.read(self.reader, path, **options)
        return (list(segments.values()), list(segments)) if isinstance(segments, dict) else (segments, None)

    def _in_order(self, path: str, segments: Sequence[Any], ids: list[str] | None) -> Sequence[Any]:
        """Segments in the order of the first reference, if both files have ids."""
        order = self._first[1]
        if ids is None or order is None:
            return segments
        places = {name: place for place, name in enumerate(ids)}
        if set(places) != set(order) or len(places) < len(ids) or len(places) < len(order):
            alone = [name for name in places if name not in set(order)] or [
                name for name in order if name not in places
            ]
            raise InputError(
                f"{path}: found {len(places):,} different items, {self.paths[0]} has {len(set(order)):,}, expected the "
                f"same ids in both, each once{'; only one has ' * bool(alone)}{listed(alone)}"
            )
        return [segments[places[name]] for name in order]

    def _lacks(self, text: Any, place: int) -> bool:
        """Whether an output is empty where a reference is not."""
        return isinstance(text, str) and not text.strip() and any(gold[place].strip() for gold in self.golds.values())

    def _check_texts(self, name: str, segments: Sequence[Any], reference: Sequence[Any]) -> None:
        """Ask about texts that look like markup."""
        if self.reader == "text" and not self.text_as_is:
            markup.check_texts(name, segments, reference)


def functions(metric: Metric, reader: str | None) -> tuple[str, Callable[..., Any], Callable[..., Any]]:
    """Name and function of the reader for a metric's outputs, and the function that counts."""
    name = reader or metric.reader
    if name is None or metric.extractor is None:
        raise InputError(
            f"metric {metric.name} cannot be extracted from outputs, expected a table with its counts: "
            f"{', '.join(metric.columns)}"
        )
    reader_of_outputs = readers.reader_of_outputs(name)
    if metric.reader not in (None, name, reader_of_outputs.like):
        raise InputError(f"found the reader {name}, expected {metric.reader} for metric {metric.name}")
    return name, reader_of_outputs.read, metric.extractor
