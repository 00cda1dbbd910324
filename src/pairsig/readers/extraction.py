"""Counts from system outputs and references: the only stage that reads text or trees."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pairsig import readers
from pairsig.io.choices import options_of
from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.io.files import content
from pairsig.metrics import Metric, NotedCounts, registry
from pairsig.readers import options as known_options

if TYPE_CHECKING:
    from pairsig.core.statistics import Statistics

_LIBRARIES = {
    "bleu": "sacrebleu",
    "chrf": "sacrebleu",
    "chrf++": "sacrebleu",
    "ter": "sacrebleu",
    "rouge": "rouge_score",
}
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
        Of this one system; `pairsig.collect` combines several that have the same references and options.

    Raises
    ------
    InputError
        If a file cannot be read, if the files have different numbers of segments, or if an option is unknown.

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
    name, _, count = functions(chosen, reader)
    of_metric = options_of(count) if count is not None and chosen.name not in registry.METRICS else {}
    known_options.check(
        [key for key in options if key not in of_metric],
        {"outputs", "text" if _is_text(name) else name, name, chosen.name},
        f"reader {name} and metric {chosen.name}",
    )
    typed = {key: value if key in of_metric else known_options.typed(key, value) for key, value in options.items()}
    gold = References(
        paths=[references] if isinstance(references, str) else references, reader=name, options=typed,
        output_options={key: known_options.typed(key, value) for key, value in (output_options or {}).items()},
        domains=domains, documents=documents,
    )  # fmt: skip
    segments = gold.outputs(output)
    return gold.counts(output, segments, chosen, system, group=group, kind=kind)


def _is_text(reader: str) -> bool:
    return "text" in (reader, readers.reader_of_outputs(reader).like)


@dataclass(frozen=True, kw_only=True)
class References:
    """The references of a test set, and how the outputs of systems are read and paired with them.

    Attributes
    ----------
    paths
        Their files. A single one may have several references in each line, with tabs between them (`num_refs`).
    reader
        Format of references and outputs.
    options, output_options
        Options of the reader and of metrics, and further ones for outputs only.
    domains, documents
        One label per segment, or none.
    item
        Columns with the ids of texts in tables.
    """

    paths: Sequence[str]
    reader: str
    options: Mapping[str, Any] = field(default_factory=dict)
    output_options: Mapping[str, Any] = field(default_factory=dict)
    domains: Sequence[str] = ()
    documents: Sequence[str] = ()
    item: Sequence[str] = ()

    def __post_init__(self) -> None:
        if len(self.paths) > 1 and not _is_text(self.reader):
            raise InputError(
                f"found {len(self.paths)} references ({listed(self.paths)}), expected one for reader {self.reader}"
            )

    def outputs(self, path: str) -> Sequence[Any]:
        """The segments of a system's output, in the order of the reference if both have ids."""
        return self._in_order(path, *self._read(path, self.output_options))

    def counts(
        self,
        path: str,
        segments: Sequence[Any],
        metric: Metric,
        system: str,
        *,
        group: str | None = None,
        kind: str = "",
    ) -> Statistics:
        """The counts of a system on every segment of its `outputs`, with notes on what a reader should know."""
        from pairsig.core.statistics import Statistics, label_array, label_arrays

        for name, gold in self.golds.items():
            if readers.reader_of_outputs(self.reader).parallel and len(gold) != len(segments):
                shorter, longer = min((len(gold), path), (len(segments), name))
                raise InputError(
                    f"{path} has {len(segments):,} segments, {name} has {len(gold):,}, expected equally many; "
                    f"segment {shorter + 1:,} is in {longer} only"
                )
        golds = list(self.golds.values())
        reference = golds[0] if len(golds) == 1 else list(zip(*golds, strict=True))
        _check_words(path, segments, golds[0])
        logging.getLogger("sacrebleu").setLevel(logging.ERROR)  # `_notes` warns, with the name of the file
        try:
            counts = (
                _of_labels(segments, golds[0], metric)
                if metric.extractor is None
                else metric.statistics(segments, reference, **self._of_metric(metric))
            )
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        notes = (
            [*self._notes(path, segments), *(f"{system}: {sentence}" for sentence in counts.notes)]
            if isinstance(counts, NotedCounts)
            else self._notes(path, segments)
        )
        # The reference determines the segments: a parser of raw text may find other sentences.
        n_segments = len(golds[0])
        for nouns, labels in (("domains", self.domains), ("documents", self.documents)):
            if labels and len(labels) != n_segments:
                raise InputError(
                    f"found {len(labels)} {nouns} for the {n_segments} segments of {self.paths[0]}, expected one per "
                    "segment"
                )
        return Statistics(
            systems=(system,),
            groups=(group or system,),
            kinds=(kind,),
            segments=label_array(self._first[1] or list(map(str, range(1, n_segments + 1))), self.paths[0]),
            columns=tuple(counts),
            counts=np.stack([np.asarray(column) for column in counts.values()], axis=1)[None],
            provenance={"reference": self.digest, "settings": self.settings(metric)},
            notes=tuple(notes),
            **label_arrays(documents=self.documents or None, domains=self.domains or None),
        )

    def _of_metric(self, metric: Metric) -> dict[str, Any]:
        """The options that the extractor of a metric takes."""
        assert metric.extractor is not None
        return {name: value for name, value in self.options.items() if name in options_of(metric.extractor)}

    def settings(self, metric: Metric) -> str:
        """All that the counts depend on beside the files, as a signature has it."""
        parts: dict[str, object] = {
            "reader": self.reader,
            "references": max(len(self.paths), int(self.options.get("num_refs", 1))),
        }
        if metric.extractor is not None:
            parts |= {name: parameter.default for name, parameter in options_of(metric.extractor).items()}
        parts |= {name: value for name, value in self.options.items() if name not in ("column", "num_refs")}
        from importlib.metadata import PackageNotFoundError, version

        for beginning, library in _LIBRARIES.items():
            if metric.name.startswith(beginning):
                try:
                    parts[library] = version(library.replace("_", "-"))
                except PackageNotFoundError:
                    continue
        return "|".join(f"{name}:{_shown(value)}" for name, value in parts.items() if value is not None)

    @property
    def by(self) -> str:
        """What pairs outputs and references: "ids", or "" for their position."""
        return "ids" if self._first[1] is not None else ""

    @cached_property
    def digest(self) -> str:
        """A digest of the references, in their order: counts of other references are not collected with these."""
        hashed = hashlib.blake2b(digest_size=16)
        for path, gold in self.golds.items():
            if gold and isinstance(gold[0], str):
                hashed.update("\0".join(gold).encode(errors="backslashreplace"))
            else:
                hashed.update(content(path))
        return hashed.hexdigest()

    @cached_property
    def golds(self) -> Mapping[str, Sequence[Any]]:
        """The segments of every reference, by the name of the file and, if it has several, of the reference."""
        first, *others = self.paths
        golds = {first: self._first[0]}
        for path in others:
            golds[path] = self._in_order(path, *self._read(path, {}))
        if (n := int(self.options.get("num_refs", 1))) > 1:
            if others:
                raise InputError(f"found {len(golds)} references and --num-refs {n}, expected one file")
            cells = [line.split("\t") for line in golds[first]]
            for number, row in enumerate(cells, start=1):
                if len(row) != n:
                    raise InputError(f"{first}, line {number}: found {len(row)} references, expected {n}")
            golds = {f"{first} (reference {k + 1})": [row[k] for row in cells] for k in range(n)}
        return golds

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
                f"{path}: found --column, which is for tables and JSON Lines, expected a file such as .csv or "
                ".jsonl\nleave it out for texts with one segment per line"
            )
        of_reader = {
            name: value
            for name, value in options.items()
            if name in options_of(readers.reader_of_outputs(self.reader).read)
        }
        segments = readers.read(self.reader, path, **of_reader)
        return (list(segments.values()), list(segments)) if isinstance(segments, dict) else (segments, None)

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
            alone = [name for name in places if name not in set(order)] or [
                name for name in order if name not in places
            ]
            raise InputError(
                f"{path}: found {len(places):,} different items, {self.paths[0]} has {len(set(order)):,}, expected the "
                f"same ids in both, each once{'; only one has ' * bool(alone)}{listed(alone)}"
            )
        return [segments[places[name]] for name in order]

    def _notes(self, path: str, segments: Sequence[Any]) -> list[str]:
        """Warnings about texts that are empty, or tokenized."""
        if not _is_text(self.reader):
            return []
        notes, golds = [], list(self.golds.values())
        empty = [
            place
            for place, text in enumerate(segments)
            if not text.strip() and any(gold[place].strip() for gold in golds)
        ]
        if empty:
            notes.append(
                f"{path}: warning: {len(empty):,} of {len(segments):,} outputs are empty, the first in line "
                f"{empty[0] + 1:,}; they count as outputs without words"
            )
        tokenized = sum(text.endswith(" .") for text in segments)
        if tokenized >= _TOKENIZED and self.options.get("tokenize") != "none":
            notes.append(
                f"{path}: warning: {tokenized:,} outputs end in a blank and a period, as tokenized text does, "
                "but BLEU, chrF and TER are for detokenized text"
            )
        return notes


def _shown(value: object) -> str:
    """A setting in a signature, in which `|` separates the settings."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("|", "/").replace("\n", " ")


def _column(path: str, name: str | None, item: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """The texts in a column of a table, and the ids of the items, which it must have beside other columns."""
    from pairsig.io.choices import near
    from pairsig.readers.cells import labels, open_table
    from pairsig.readers.table import STANDARD

    table = open_table(path)
    by_lower = {known.lower(): known for known in table.names}
    if name is None:
        raise InputError(f"{path}: found a table, expected --column with the column of texts\n{table.description()}")
    for asked in (name, *item):
        if asked not in table.names and asked.lower() not in by_lower:
            raise InputError(
                f"{path}: found no column {quoted(asked)}{near(asked, table.names)}\n{table.description()}"
            )
    column = name if name in table.names else by_lower[name.lower()]
    texts = ["" if cell is None else str(cell) for cell in table.columns[column]]
    of_items = [known if known in table.names else by_lower[known.lower()] for known in item]
    of_items = of_items or [
        by_lower[known] for known in STANDARD["item"] if known in by_lower and by_lower[known] != column
    ]
    if len(of_items) > 1 and not item:
        raise InputError(
            f"{path}: found the columns {listed(of_items)}, expected one with the item: choose it with "
            f"--item\n{table.description()}"
        )
    if not of_items and len(table.names) > 1:
        raise InputError(
            f"{path}: found texts beside other columns, but none with the items: name it with --item\n"
            f"{table.description()}"
        )
    if not of_items:
        return texts, None
    ids = ["/".join(parts) for parts in zip(*(labels(table.columns[known]) for known in of_items), strict=True)]
    if "" in ids:
        raise InputError(
            f"{table.where(ids.index(''))}: found no id in column {listed(of_items)}, expected one in each row"
        )
    return texts, ids


def _check_words(path: str, segments: Sequence[Any], gold: Sequence[Any]) -> None:
    """Refuse tags of other words than those of the reference."""
    from pairsig.readers.outputs.iob import Tagged

    for number, (ours, theirs) in enumerate(zip(segments, gold, strict=False), start=1):
        if not (isinstance(ours, Tagged) and isinstance(theirs, Tagged)):
            return
        words, expected = ours.words, theirs.words
        if words and expected and words != expected:
            place = next(
                (n for n, pair in enumerate(zip(words, expected, strict=False)) if pair[0] != pair[1]),
                min(len(words), len(expected)),
            )
            word_here, other = (
                named(text[place]) if place < len(text) else "the end of the sentence" for text in (words, expected)
            )
            raise InputError(
                f"{path}: found {word_here} as word {place + 1} of sentence {number}, expected {other} as in the "
                "reference"
            )


def _of_labels(segments: Sequence[str], gold: Sequence[str], metric: Metric) -> dict[str, Any]:
    """The counts of accuracy, or of a metric of classes, from labels."""
    from pairsig.metrics.classification import label_counts, of_classes

    answers, golds = ([text.strip() for text in texts] for texts in (segments, gold))
    if "" in golds:
        raise InputError(f"found no label of segment {golds.index('') + 1} in the reference, expected one")
    if metric.columns == ("correct", "total"):
        right = np.array([answer == label for answer, label in zip(answers, golds, strict=True)], dtype=np.int64)
        if not right.any():
            raise InputError(
                "found no label that equals the reference, expected the same words in both, such as "
                f"{listed(golds[:2])} (found {listed(answers[:2])})"
            )
        return {"correct": right, "total": np.ones_like(right)}
    classes = sorted({*golds, *answers} - {""})
    codes = {label: code for code, label in enumerate(classes)} | {"": -1}
    right, given = (np.array([codes[label] for label in texts]) for texts in (golds, answers))
    columns = of_classes(metric, classes).columns
    return dict(zip(columns, label_counts(right, given, range(len(classes)), metric), strict=True))


def functions(metric: Metric, reader: str | None) -> tuple[str, Any, Any]:
    """Name and function of the reader for a metric's outputs, and the function that counts."""
    takes_labels = metric.extractor is None and (bool(metric.labels) or metric.name == "accuracy")
    name = reader or metric.reader or ("text" if takes_labels else None)
    if name is None or (metric.extractor is None and not takes_labels):
        raise InputError(
            f"metric {metric.name} cannot be extracted from outputs, expected a table with its counts: "
            f"{', '.join(metric.columns)}"
        )
    reader_of_outputs = readers.reader_of_outputs(name)
    if metric.reader not in (None, name, reader_of_outputs.like):
        raise InputError(f"found the reader {name}, expected {metric.reader} for metric {metric.name}")
    return name, reader_of_outputs.read, metric.extractor
