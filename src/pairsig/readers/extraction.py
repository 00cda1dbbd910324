"""Counts from system outputs and references: the only stage that reads text or trees."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from pairsig import readers
from pairsig.io.choices import near, options_of
from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.metrics import Metric, NotedCounts, registry
from pairsig.metrics.classification import label_counts, of_classes
from pairsig.readers import options as known_options
from pairsig.readers.output import Output

if TYPE_CHECKING:
    from pairsig.core.statistics import Statistics

_LIBRARIES = {"bleu": "sacrebleu", "chrf": "sacrebleu", "ter": "sacrebleu", "rouge": "rouge-score"}
"""Libraries whose version belongs to the signature, by the beginning of a metric's name."""
_TOKENIZED = 100
"""Outputs with a blank before their final period from which text is taken to be tokenized, as in sacrebleu."""


def extract(
    output: str,
    references: str | Sequence[str],
    *,
    metric: str | Metric,
    reader: str | None = None,
    system: str,
    group: str | None = None,
    kind: str = "",
    domains: Sequence[str] = (),
    documents: Sequence[str] = (),
    output_options: Mapping[str, Any] | None = None,
    **options: Any,
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
    system, group, kind
        Name of the system, its authors (default: the system itself), and the kind of entry.
    domains, documents
        One label per segment, or none.
    output_options
        Options of the reader for the output only, such as `reverse` for an aligner with the opposite direction.
    options
        Options of the reader (`skip_lines`, `column`) or of the metric (`tokenize`, `lowercase`, `stem`), as
        `pairsig metrics` lists them.

    Returns
    -------
    Statistics
        Of this one system. `pairsig.read` reads and counts several.

    Raises
    ------
    InputError
        If a file cannot be read, if the files have different numbers of segments, or if an option is unknown.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pairsig
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     output, reference = (str(Path(folder) / name) for name in ("out.txt", "ref.txt"))
    ...     _ = Path(output).write_text("the cat sat on a mat\n")
    ...     _ = Path(reference).write_text("the cat sat on the mat\n")
    ...     counts = pairsig.extract(output, [reference], metric="bleu", system="mine")
    >>> counts.columns[:2], counts.counts[0, 0, :2].tolist()
    (('hypothesis_length', 'reference_length'), [6, 6])
    """
    from pairsig.core.labels import label_array, label_arrays
    from pairsig.core.statistics import Statistics

    chosen = registry.metric(metric)
    name = reader_for(chosen, reader)
    known = options_for(name, chosen)
    known_options.check(
        [key for key in options if key not in known], {"outputs"}, f"reader {name} and metric {chosen.name}"
    )
    gold = References(
        paths=[references] if isinstance(references, str) else references, reader=name,
        options={key: known_options.typed(key, value) for key, value in options.items()},
        output_options={key: known_options.typed(key, value) for key, value in (output_options or {}).items()},
    )  # fmt: skip
    counted = gold.counted(output, gold.outputs(output), chosen, system)
    for nouns, labels in (("domains", domains), ("documents", documents)):
        if labels and len(labels) != len(counted.items):
            n = len(counted.items)
            raise InputError(f"found {len(labels)} {nouns} for the {n} segments of {gold.paths[0]}, expected {n}")
    return Statistics(
        systems=(system,), groups=(group or system,), kinds=(kind,),
        segments=label_array(counted.items, gold.paths[0]),
        columns=tuple(counted.values), counts=np.stack(list(counted.values.values()), axis=1)[None],
        provenance={"settings": gold.settings(chosen)}, notes=counted.notes,
        **label_arrays(documents=documents or None, domains=domains or None),
    )  # fmt: skip


def options_for(reader: str, metric: Metric) -> set[str]:
    """The options that the format or the metric has; a metric of the user's may have any."""
    inputs = {"outputs", reader, *known_options.of_metric(metric.name), *(["text"] if _is_text(reader) else [])}
    known = {name for name, option in known_options.OPTIONS.items() if inputs & set(option.of)}
    is_own = metric.extractor is not None and metric.name not in registry.METRICS
    return known | (set(options_of(metric.extractor)) if is_own and metric.extractor else set())


def _is_text(reader: str) -> bool:
    return "text" in (reader, readers.reader_of(reader).like)


def reader_for(metric: Metric, reader: str | None) -> str:
    """The reader of outputs for a metric."""
    takes_labels = metric.extractor is None and (bool(metric.labels) or metric.name == "accuracy")
    name = reader or metric.reader or ("text" if takes_labels else None)
    if name is None or (metric.extractor is None and not takes_labels):
        counts = ", ".join(metric.columns)
        raise InputError(
            f"metric {metric.name} is not computed from outputs, expected a table with its counts: {counts}"
        )
    if metric.reader not in (None, name, readers.reader_of(name).like):
        raise InputError(f"found the reader {name}, expected {metric.reader} for metric {metric.name}")
    return name


@dataclass(frozen=True, kw_only=True)
class References:
    """The references of a test set, and how the outputs of systems are read and paired with them.

    Attributes
    ----------
    paths
        Their files.
    reader
        Format of references and outputs.
    options, output_options
        Options of the reader and of metrics, and further ones for outputs only.
    item
        Columns with the ids of texts in tables.
    """

    paths: Sequence[str]
    reader: str
    options: Mapping[str, Any] = field(default_factory=dict)
    output_options: Mapping[str, Any] = field(default_factory=dict)
    item: Sequence[str] = ()

    def __post_init__(self) -> None:
        if len(self.paths) > 1 and not _is_text(self.reader):
            problem = f"{len(self.paths)} references ({listed(self.paths)})"
            raise InputError(f"found {problem}, expected one for reader {self.reader}")

    def outputs(self, path: str) -> Sequence[Any]:
        """The segments of a system's output, in the order of the reference if both have ids."""
        return self._in_order(path, *self._read(path, self.output_options))

    def counted(self, path: str, segments: Sequence[Any], metric: Metric, system: str) -> Output:
        """The counts of a system on every segment of its `outputs`, with notes on what a reader should know."""
        for name, gold in self.golds.items():
            if readers.reader_of(self.reader).parallel and len(gold) != len(segments):
                shorter, longer = min((len(gold), path), (len(segments), name))
                raise InputError(
                    f"{path} has {len(segments):,} segments, {name} has {len(gold):,}, expected equally many; "
                    f"segment {shorter + 1:,} is in {longer} only"
                )
        golds = list(self.golds.values())
        _check_words(path, segments, golds[0])
        logging.getLogger("sacrebleu").setLevel(logging.ERROR)  # `_notes` warns, with the name of the file
        try:
            counts: Mapping[str, Any]
            if metric.extractor is None:
                metric, counts = _of_labels(segments, golds[0], metric)
            else:
                of_metric = {name: self.options[name] for name in options_of(metric.extractor) if name in self.options}
                reference = golds[0] if len(golds) == 1 else list(zip(*golds, strict=True))
                counts = metric.statistics(segments, reference, **of_metric)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        notes = self._notes(path, segments)
        if isinstance(counts, NotedCounts):
            notes += [f"{system}: {sentence}" for sentence in counts.notes]
        # The reference determines the segments: a parser of raw text may find other sentences.
        ids = self._first[1] or list(map(str, range(1, len(golds[0]) + 1)))
        return Output(
            source=path, items=tuple(ids), by="ids" if self._first[1] is not None else "", metrics=(metric,),
            values={name: np.asarray(column) for name, column in counts.items()}, notes=tuple(notes),
        )  # fmt: skip

    def settings(self, metric: Metric) -> str:
        """All that the counts depend on beside the files, as a signature has it."""
        from importlib.metadata import PackageNotFoundError, version  # takes .02 s

        parts: dict[str, object] = {"reader": self.reader, "references": len(self.paths)}
        if metric.extractor is not None:
            parts |= {name: parameter.default for name, parameter in options_of(metric.extractor).items()}
        parts |= {name: value for name, value in self.options.items() if name != "column"}
        for beginning, library in _LIBRARIES.items():
            if metric.name.startswith(beginning):
                try:
                    parts[library.replace("-", "_")] = version(library)
                except PackageNotFoundError:
                    continue
        return "|".join(f"{name}:{known_options.shown(value)}" for name, value in parts.items() if value is not None)

    @cached_property
    def golds(self) -> Mapping[str, Sequence[Any]]:
        """The segments of every reference, by the name of its file."""
        first, *others = self.paths
        return {first: self._first[0]} | {path: self._in_order(path, *self._read(path, {})) for path in others}

    @cached_property
    def _first(self) -> tuple[Sequence[Any], list[str] | None]:
        """The segments and the ids of the first file."""
        return self._read(self.paths[0], {})

    def _read(self, path: str, further: Mapping[str, Any]) -> tuple[Sequence[Any], list[str] | None]:
        """The segments of a file, and their ids if it has some."""
        from pairsig.readers.cells import suffix

        options = {**self.options, **further}
        if self.reader == "text" and suffix(path) in readers.SUFFIXES_OF_TABLES:
            return _column(path, options.get("column"), self.item)
        if "column" in options and self.reader == "text":
            raise InputError(
                f"{path}: found --column, which is for tables and JSON Lines, expected a file such as .csv or .jsonl\n"
                "leave it out for texts with one segment per line"
            )
        return readers.read(self.reader, path, **options), None

    def _in_order(self, path: str, segments: Sequence[Any], ids: list[str] | None) -> Sequence[Any]:
        """Segments in the order of the first reference, if the files have ids."""
        order = self._first[1]
        if ids is None and order is None:
            return segments
        if ids is None or order is None:
            with_ids, without = (path, self.paths[0]) if order is None else (self.paths[0], path)
            raise InputError(f"{with_ids} has ids, {without} has none, expected ids in both or in none")
        places = {name: place for place, name in enumerate(ids)}
        if set(places) != set(order) or len(places) < len(ids) or len(set(order)) < len(order):
            alone = [name for name in [*places, *order] if (name in places) != (name in set(order))]
            only = f"; only one has {listed(alone)}" if alone else ""
            raise InputError(
                f"{path}: found {len(places):,} different items, {self.paths[0]} has {len(set(order)):,}, expected the "
                f"same ids in both, each once{only}"
            )
        return [segments[places[name]] for name in order]

    def _notes(self, path: str, segments: Sequence[Any]) -> list[str]:
        """Warnings about texts that are empty, or tokenized."""
        if not _is_text(self.reader):
            return []
        notes, golds = [], list(self.golds.values())
        empty = [n for n, text in enumerate(segments) if not text.strip() and any(gold[n].strip() for gold in golds)]
        if empty:
            notes.append(
                f"{path}: warning: {len(empty):,} of {len(segments):,} outputs are empty, the first in line "
                f"{empty[0] + 1:,}; they count as outputs without words"
            )
        tokenized = sum(text.endswith(" .") for text in segments)
        if tokenized >= _TOKENIZED and self.options.get("tokenize") != "none":
            notes.append(
                f"{path}: warning: {tokenized:,} outputs end in a blank and a period, as tokenized text does, but "
                "BLEU, chrF and TER are for detokenized text"
            )
        return notes


def _column(path: str, name: str | None, item: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """The texts in a column of a table, and the ids of the items, which it must have beside other columns."""
    from pairsig.readers import table as tables

    reading = tables.read(path, {"item": item, "score": [name]}, texts=filter(None, [name]))
    table = reading.table
    if name is None:
        raise InputError(f"{path}: found a table, expected --column with the column of texts\n{table.description()}")
    if (column := reading.column(name)) is None:
        raise reading.refusal(f"no column {quoted(name)}{near(name, table.names)}")
    items = reading.labels("item")
    if items is None and len(table.names) > 1:
        problem = "found texts beside other columns, but none with the items: name it with --item"
        raise InputError(f"{path}: {problem}\n{table.description()}")
    texts = ["" if cell is None else str(cell) for cell in table.columns[column]]
    return texts, None if items is None else list(items)


def _check_words(path: str, segments: Sequence[Any], gold: Sequence[Any]) -> None:
    """Refuse tags of other words than those of the reference."""
    from pairsig.readers.outputs.iob import Tagged

    for number, pair in enumerate(zip(segments, gold, strict=False), start=1):
        if not all(isinstance(sentence, Tagged) for sentence in pair):
            return
        words, expected = (sentence.words for sentence in pair)
        if words and expected and words != expected:
            both = enumerate(zip_longest(words, expected, fillvalue="the end of the sentence"), start=1)
            place, word, other = next((place, word, other) for place, (word, other) in both if word != other)
            raise InputError(
                f"{path}: found {named(word)} as word {place} of sentence {number}, expected {named(other)} as in the "
                "reference"
            )


def _of_labels(segments: Sequence[str], gold: Sequence[str], metric: Metric) -> tuple[Metric, dict[str, Any]]:
    """The counts of accuracy, or of a metric of classes, from labels; and the metric of these classes."""
    answers, golds = ([text.strip() for text in texts] for texts in (segments, gold))
    if "" in golds:
        raise InputError(f"found no label of segment {golds.index('') + 1} in the reference, expected one")
    if not metric.labels:
        right = np.array([answer == label for answer, label in zip(answers, golds, strict=True)], dtype=np.int64)
        if not right.any():
            shown = f"such as {listed(golds[:2])} (found {listed(answers[:2])})"
            raise InputError(f"found no label that equals the reference, expected the same words in both, {shown}")
        return metric, {"correct": right, "total": np.ones_like(right)}
    classes = sorted({*golds, *answers} - {""})
    codes = {label: code for code, label in enumerate(classes)} | {"": -1}
    right, given = (np.array([codes[label] for label in texts]) for texts in (golds, answers))
    of_all = of_classes(metric, classes)
    return of_all, dict(zip(of_all.columns, label_counts(right, given, range(len(classes)), metric), strict=True))
