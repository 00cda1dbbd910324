"""Counts from system outputs and references: the only stage that reads text or trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pairsig import readers
from pairsig.io.choices import sort_options
from pairsig.io.errors import InputError, listed
from pairsig.metrics import Metric, NotedCounts, registry

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
    texts: Mapping[str, Sequence[Any]] | None = None,
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
    texts
        Segments by path, of files that were read already.

    Returns
    -------
    Statistics
        Of this one system; `pairsig.core.statistics.collect` combines several.

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
    from pairsig.core.statistics import Statistics  # imports pandas, which reading the sheets does not need

    chosen = registry.metric(metric)
    name, read, count = functions(chosen, reader)
    described = readers.reader_of_outputs(name)
    if len(references) > 1 and "text" not in (name, described.like):
        raise InputError(
            f"found {len(references)} references ({listed(references)}), expected one for metric {chosen.name}"
        )
    what = f"reader {name} and metric {chosen.name}"
    reader_options, metric_options = sort_options(options or {}, what, read, count)
    (own_options,) = sort_options(output_options or {}, f"reader {name}", read)
    known = texts or {}
    segments = known[output] if output in known else readers.read(name, output, **(reader_options | own_options))
    golds = [
        known[reference] if reference in known else readers.read(name, reference, **reader_options)
        for reference in references
    ]
    if described.parallel:
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
    # The reference determines the segments: a parser of raw text may find other sentences.
    n_segments = len(golds[0])
    for what, labels in (("domains", domains), ("documents", documents)):
        if labels and len(labels) != n_segments:
            raise InputError(
                f"found {len(labels)} {what} for the {n_segments} segments of {references[0]}, expected one per segment"
            )
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
