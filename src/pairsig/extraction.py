"""From outputs to counts: the only stage that reads text or trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pairsig import readers
from pairsig.choices import choose, sort_options
from pairsig.errors import InputError, listed
from pairsig.metrics import Metric, NotedCounts, registry

if TYPE_CHECKING:
    from pairsig.statistics import Statistics

_PARALLEL = ("text", "alignment")
"""Readers whose segments can only be paired by their number; the metrics of the others compare the words."""


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
) -> Statistics:
    """Counts of one system on every segment.

    Parameters
    ----------
    output, references
        Paths, see `pairsig.readers`; more than one reference for the metrics that take several.
    metric, reader
        Names; the reader is the metric's own, and needs no naming but for a metric that has none.
    options
        Of the reader (`skip_lines`) or of the metric's extractor (`tokenize`, `stem`), as text; they are sorted out
        by their names and turned into the type they are annotated with.
    output_options
        Options of the reader for the output alone (`reverse`, for an aligner that prints its links the other way).
    system, group, kind
        What the system is called, who made it (by default the system itself), what sort of entry it is.
    domains, documents
        One a segment, or none.
    note
        Called with each sentence for the user: which segments the system failed on, and what was done with them.
    """
    from pairsig.statistics import Statistics  # pandas, which the sheets do without

    chosen = registry.metric(metric)
    name, read, count = functions(chosen, reader)
    if len(references) > 1 and name != "text":
        raise InputError(f"metric {chosen.name} takes one reference, {len(references)} are given: {listed(references)}")
    what = f"reader {name} and metric {chosen.name}"
    reader_options, metric_options = sort_options(options or {}, what, read, count)
    (own_options,) = sort_options(output_options or {}, f"reader {name}", read)
    segments = readers.read(name, output, **(reader_options | own_options))
    golds = [readers.read(name, reference, **reader_options) for reference in references]
    if name in _PARALLEL:
        for path, gold in zip(references, golds, strict=True):
            if len(gold) != len(segments):
                longer, shorter = (output, len(gold)) if len(segments) > len(gold) else (path, len(segments))
                raise InputError(
                    f"{output} has {len(segments)} segments, {path} has {len(gold)}, expected equally many; "
                    f"segment {shorter + 1} is in {longer} only"
                )
    reference = golds[0] if len(golds) == 1 else list(zip(*golds, strict=True))
    try:
        counts = chosen.statistics(segments, reference, **metric_options)
    except InputError as error:
        raise InputError(f"{output}: {error}") from None
    if note is not None and isinstance(counts, NotedCounts):
        for sentence in counts.notes:
            note(f"{system}: {sentence}")
    # The segments are the reference's: a parse of raw text may be cut into other sentences.
    n_segments = len(golds[0])
    for what, labels in (("domains", domains), ("documents", documents)):
        if labels and len(labels) != n_segments:
            raise InputError(f"{references[0]} has {n_segments} segments, but {len(labels)} {what} are given")
    return Statistics(
        dataset="",
        systems=(system,),
        groups=(group or system,),
        kinds=(kind,),
        segments=np.arange(1, n_segments + 1).astype(str),
        documents=np.array(documents or [""] * n_segments, dtype=str),
        domains=np.array(domains or [""] * n_segments, dtype=str),
        columns=tuple(counts),
        counts=np.stack([np.asarray(column) for column in counts.values()], axis=1)[None],
    )


def functions(metric: Metric, reader: str | None) -> tuple[str, Callable[..., Any], Callable[..., Any]]:
    """The reader of the outputs that a metric scores: its name, its function, and the function that counts."""
    name = reader or metric.reader
    if name is None or metric.extractor is None:
        raise InputError(
            f"metric {metric.name} is computed from counts: give a table with columns {', '.join(metric.columns)}"
        )
    choose(name, readers.READERS, "reader")
    if name != (metric.reader or name):
        raise InputError(f"metric {metric.name} needs the reader {metric.reader}, not {name}")
    return name, readers.READERS[name].function, metric.extractor
