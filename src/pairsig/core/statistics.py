"""Sufficient statistics of all systems on a test set: the container between extraction and everything else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairsig.core.labels import arrays_of, label_array, label_arrays, run_name, two_dimensional, without_run
from pairsig.core.steps import adjacent, fingerprint, in_steps, steps_to_unit
from pairsig.io import tables
from pairsig.io.choices import choose
from pairsig.io.columns import STATISTICS
from pairsig.io.errors import InputError, listed, named, printable, reason
from pairsig.io.packages import need, pd
from pairsig.metrics import Metric, registry

OF_THE_TEST_SET = ("total", "gold", "sure", "ter_reference_length", "recall_denominator")
"""Columns of metrics that belong to the test set and must be equal for all systems."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Statistics:
    """Counts or scores of several systems on all segments of a test set.

    Every function for several systems accepts this class. `from_arrays` creates it, `read` and `write` of this module
    store it, and `of` returns the counts of a metric.

    Attributes
    ----------
    dataset
        Name of the test set.
    systems, groups, kinds
        One string per system: its name, its authors (or its base model; default: its name), and the kind of entry. A
        system is one set of outputs; every run of a method is a system called METHOD-RUN.
    segments, documents, domains
        One string per segment: its id, its document and its domain ("" where unknown).
    columns
        Names of the counts.
    counts
        Shape (systems × segments × columns), integer or float64.
    provenance
        Origin of the counts: corpus, commit, checksum, command, versions, licence.
    omissions
        Systems that had to be left out: the step that failed, the reason, and the name of each.
    runs
        One string per system: its run, or "" if its method has only one. Default: all "".
    metrics
        What the counts are for, the main metric first, as far as it was read or declared; not in files.
    notes
        Sentences about how the input was read, and about everything that was left out.

    Examples
    --------
    >>> import numpy as np
    >>> import pairsig
    >>> counts = {"a": np.array([[3, 4], [1, 2]]), "b": np.array([[2, 4], [2, 2]])}
    >>> data = pairsig.Statistics.from_arrays(counts, ["correct", "total"])
    >>> data.systems, data.counts.shape
    (('a', 'b'), (2, 2, 2))
    >>> data.select(systems=["b"]).counts.tolist()
    [[[2, 4], [2, 2]]]
    """

    dataset: str = ""
    systems: tuple[str, ...]
    groups: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    segments: NDArray[np.str_]
    documents: NDArray[np.str_] = None  # type: ignore[assignment]
    domains: NDArray[np.str_] = None  # type: ignore[assignment]
    columns: tuple[str, ...]
    counts: NDArray[Any]
    provenance: Mapping[str, str] = field(default_factory=dict, compare=False)
    omissions: tuple[Mapping[str, str], ...] = field(default=(), compare=False)
    runs: tuple[str, ...] = ()
    metrics: tuple[Metric, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        """What was read: systems, runs, segments, documents, and each metric with its direction."""
        methods = list(dict.fromkeys(self.methods))
        n_runs = {method: self.methods.count(method) for method in methods}
        size = f"{len(self.segments):,} segments"
        if (n_documents := len(np.unique(self.documents))) > 1:
            size += f" in {n_documents:,} documents"
        lines = [f"Statistics of {self.dataset or 'a test set'}: {len(methods)} systems, {size}"]
        if any(self.runs):
            methods = [f"{method} ({n_runs[method]} runs)" for method in methods]
        lines.append(f"  systems: {listed(methods)}")
        for metric in self.metrics:
            direction = f"{'higher' if metric.higher_is_better else 'lower'} is better"
            lines.append(f"  {metric.name}: {metric.formula} ({direction}{', assumed' if metric.assumed else ''})")
        if not self.metrics:
            lines.append(f"  counts: {listed(self.columns)}")
        return "\n".join([*lines, *(f"- {note}" for note in self.notes)])

    def __post_init__(self) -> None:
        unknown = ("",) * len(self.systems)
        for name, of_systems in (("groups", self.systems), ("kinds", unknown), ("runs", unknown)):
            object.__setattr__(self, name, getattr(self, name) or of_systems)
        for noun in ("document", "domain"):
            labels = getattr(self, f"{noun}s")
            if labels is None:
                object.__setattr__(self, f"{noun}s", np.full(len(self.segments), "", dtype="<U1"))
            elif len(labels) != len(self.segments):
                size = f"{len(labels):,} {noun}s for {len(self.segments):,} segments"
                raise InputError(f"found {size}, expected one {noun} per segment")
        for system, run in zip(self.systems, self.runs, strict=True):
            if run and not system.endswith(f"-{run}"):
                raise ValueError(f"found system {system} with run {run}, expected a name that ends in -{run}")
        # These names are printed as they are. Ids of segments may be any text, and are quoted.
        for noun, names in (
            ("dataset", [self.dataset]),
            ("system", self.systems),
            ("group", self.groups),
            ("kind", self.kinds),
            ("column", self.columns),
        ):
            printable(names, noun)
        shape = (len(self.systems), len(self.segments), len(self.columns))
        if self.counts.shape != shape:
            raise ValueError(f"`counts` has shape {self.counts.shape}, expected {shape}")
        if not all(shape):
            name = self.dataset or "(arrays)"
            raise InputError(
                f"dataset {name} has {shape[0]} systems and {shape[1]} segments, expected at least one of each"
            )

    @property
    def methods(self) -> tuple[str, ...]:
        """The method of each system: its name without the run."""
        return without_run(self.systems, self.runs)

    @classmethod
    def from_arrays(
        cls,
        counts: Mapping[str, NDArray[Any]],
        columns: Sequence[str],
        *,
        dataset: str = "",
        documents: Sequence[str] | None = None,
        domains: Sequence[str] | None = None,
    ) -> Statistics:
        """Create statistics from one array per system.

        Parameters
        ----------
        counts
            By system: arrays (segments × columns), or (runs × segments × columns) for several runs, which get the names
            1, 2, …. With a single column, (segments,) is enough.
        columns
            Names of the columns.
        dataset
            Name of the test set.
        documents, domains
            One label per segment.

        Returns
        -------
        Statistics
            With segments called 1, 2, ….

        Raises
        ------
        InputError
            If the shapes or the lengths differ, if the values are not numbers, or if series of pandas have other ids.
        """
        if not counts:
            raise InputError("found no systems, expected one array per system")
        arrays, runs = {}, []
        for method, array in arrays_of(counts).items():
            for number, of_run in enumerate(array, start=1) if np.ndim(array) == 3 else [("", array)]:
                system = run_name(method, str(number))
                arrays[system] = two_dimensional(system, of_run, columns)
                runs.append(str(number))
        if len(arrays) < len(runs):
            raise InputError(
                f"found the systems {listed(counts)}, whose runs share a name (NAME-1, …), expected different names"
            )
        sizes = {system: len(array) for system, array in arrays.items()}
        if len(set(sizes.values())) > 1:
            description = ", ".join(f"{system} has {size}" for system, size in sizes.items())
            raise InputError(
                f"found different numbers of segments, expected the same number for all systems: {description}"
            )
        n_segments = next(iter(sizes.values()))
        return cls(
            dataset=dataset,
            systems=tuple(arrays),
            segments=np.arange(1, n_segments + 1).astype(str),
            columns=tuple(columns),
            counts=np.stack(list(arrays.values())),
            runs=tuple(runs),
            **label_arrays(documents=documents, domains=domains),
        )

    def to_table(self) -> pd.DataFrame:
        """Return a long table with one row per system (without its run), run (if any system has runs) and segment."""
        n_systems, n_segments, n_columns = self.counts.shape
        of_systems = {"system": self.methods, "run": self.runs, "group": self.groups, "kind": self.kinds}
        keys = {
            name: pd.Categorical(
                np.repeat(labels, n_segments), categories=list(dict.fromkeys(labels)) if name == "system" else None
            )
            for name, labels in of_systems.items()
            if name != "run" or any(labels)
        }
        of_segments = {"segment": self.segments, "document": self.documents, "domain": self.domains}
        keys |= {name: np.tile(labels, n_systems) for name, labels in of_segments.items()}
        flat = self.counts.reshape(n_systems * n_segments, n_columns)
        return pd.DataFrame(keys | {name: flat[:, index] for index, name in enumerate(self.columns)})

    def select(
        self,
        *,
        systems: Sequence[str] | None = None,
        segments: NDArray[np.intp] | slice | None = None,
    ) -> Statistics:
        """Select systems by name, in the new order, and segments by position, also repeatedly; views where possible."""
        selected = self
        if systems is not None:
            rows = [self.systems.index(system) for system in systems]
            labels: dict[str, Any] = {
                name: tuple(getattr(self, name)[row] for row in rows) for name in _LABELS_OF_SYSTEMS
            }
            selected = replace(selected, counts=selected.counts[rows], **labels)
        if segments is not None:
            labels = {name: getattr(self, name)[segments] for name in ("segments", "documents", "domains")}
            selected = replace(selected, counts=selected.counts[:, segments], **labels)
        return selected

    def in_order(self) -> Statistics:
        """The same with the segments in the order of their ids, in which numbers count as numbers.

        Draws follow the order of the segments, and with it do not depend on the order of the rows in a file.
        """
        numbers = _whole_numbers(self.segments)
        if numbers is not None:
            if (numbers[1:] > numbers[:-1]).all():
                return self
            return self.select(segments=np.lexsort((self.segments, numbers)))

        letters = np.ascontiguousarray(self.segments).view(np.uint32).reshape(len(self.segments), -1)
        are_digits = (letters >= ord("0")) & (letters <= ord("9"))
        if letters.all() and (are_digits == are_digits[0]).all():  # of one form, such as q0001: in the order of letters
            return self.select(segments=np.argsort(self.segments, kind="stable"))
        texts = "\0".join(segment.replace("\0", " ") for segment in self.segments.tolist())
        keys = re.sub("[0-9]{1,18}", _sorted_as_number, texts).split("\0")
        order = sorted(range(len(keys)), key=keys.__getitem__)
        return self if order == list(range(len(order))) else self.select(segments=np.array(order, dtype=np.intp))

    def of(self, metric: Metric) -> NDArray[Any]:
        """Return the counts of a metric, (systems × segments × columns of its totals), perhaps a view of `counts`.

        Raises
        ------
        InputError
            If columns are missing, or if a count is negative, infinite or larger than its limit.
        """
        counts: NDArray[Any] = self.counts[:, :, self._positions(metric)]
        if not np.isfinite([counts.min(), counts.max()]).all():  # either is NaN where any count is
            self._complain(~np.isfinite(counts).all(axis=2), "a count that is not a finite number")
        if not metric.averaged and counts.min() < 0:
            self._complain((counts < 0).any(axis=2), "a negative count")
        for pair in metric.at_most:
            small, large = (self.counts[:, :, self.columns.index(column)] for column in pair)
            if (small > large).any():
                self._complain(small > large, " > ".join(pair))
        if metric.averaged:
            counts = np.concatenate([counts, np.ones_like(counts[:, :, :1])], axis=2)
        return counts

    def of_units(self, metric: Metric, unit: str) -> NDArray[Any]:
        """The counts of `of`, summed by document if these are the unit."""
        counts, documents = self.of(metric), self.documents_if(unit)
        return counts if documents is None else by_document(documents, counts)

    def documents_if(self, unit: str) -> NDArray[np.str_] | None:
        """The document of each segment if documents are the unit; None for segments."""
        choose(unit, ("segment", "document"), "unit")
        return self.documents if unit == "document" else None

    def _positions(self, metric: Metric) -> slice | list[int]:
        if not set(metric.columns) <= set(self.columns):
            raise InputError(
                f"dataset {self.dataset or '(arrays)'} has the columns {listed(self.columns)}, "
                f"expected those of metric {metric.name}: {', '.join(metric.columns)}"
            )
        return adjacent([self.columns.index(column) for column in metric.columns])

    def _complain(self, wrong: ArrayLike, fault: str) -> None:
        system, segment = np.argwhere(wrong)[0]
        values = ", ".join(f"{c} {v}" for c, v in zip(self.columns, self.counts[system, segment], strict=True))
        raise InputError(
            f"system {named(self.systems[system])}, segment {named(self.segments[segment])} of dataset "
            f"{self.dataset or '(arrays)'} has {fault} ({values})"
        )

    def duplicates(self) -> list[tuple[str, str]]:
        """Pairs of systems with the same counts on every segment: an earlier system and its copy."""
        seen: dict[bytes, str] = {}
        pairs = []
        for system, counts in zip(self.systems, self.counts, strict=True):
            first = seen.setdefault(fingerprint(counts), system)
            if first != system:
                pairs.append((first, system))
        return pairs

    def inconsistencies(self) -> list[str]:
        """Warnings about counts that belong to the test set, but differ between systems."""
        sentences = []
        present = (self.counts != 0).any(axis=2)  # a system without an output for a segment has only zeros there
        for column in OF_THE_TEST_SET:
            if column not in self.columns:
                continue
            counts = self.counts[:, :, self.columns.index(column)]
            wrong = np.argwhere((counts != counts[0]) & present & present[0])
            if len(wrong):
                system, segment = wrong[0]
                sentences.append(
                    f"{column} is {counts[0, segment]} for {self.systems[0]} and {counts[system, segment]} for "
                    f"{self.systems[system]} on segment {named(self.segments[segment])}, expected the same: check that "
                    "all systems have the same test set"
                )
        return sentences


_LABELS_OF_SYSTEMS = ("systems", "groups", "kinds", "runs")
"""Attributes of `Statistics` with one string per system."""


def unused_documents(documents: NDArray[np.str_]) -> str:
    """A clause on documents that hold several segments and were not used; "" if there are none."""
    n_documents = 0 if "" in documents else len(np.unique(documents))
    if not 1 < n_documents < len(documents):
        return ""
    return f"the {len(documents):,} segments come from {n_documents:,} documents, which were not used (--unit document)"


def by_document(documents: NDArray[np.str_], counts: NDArray[Any]) -> NDArray[Any]:
    """Counts (systems × segments × columns) summed by document, in the order of their first segments."""
    if (documents == "").all():
        raise InputError(
            "found no documents for the unit document, expected one for every segment (column `document`, document=, "
            "--document-file)"
        )
    if (documents == "").any():
        position = int(np.argmax(documents == ""))
        raise InputError(f"segment number {position + 1} has no document, expected one for every segment")
    _, first, inverse = np.unique(documents, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))[inverse]
    # Sums of booleans or of small integers need a wider type.
    sums = np.zeros((len(first), counts.shape[0], counts.shape[2]), dtype=np.result_type(counts.dtype, np.int64))
    steps = np.ones(counts.shape[2])
    if counts.dtype.kind == "f":  # sums of decimals are decimals in any order: 0.1 + 0.2 is 0.3
        counts = counts.astype(np.float64)
        for column in range(counts.shape[2]):
            n_steps = steps_to_unit(counts[:, :, column], counts.shape[1])
            if n_steps is not None:
                counts[:, :, column], steps[column] = in_steps(counts[:, :, column], n_steps), n_steps
    np.add.at(sums, rank, counts.swapaxes(0, 1))
    return (sums / steps if (steps != 1).any() else sums).swapaxes(0, 1)


def pool(parts: Sequence[Statistics], *, dataset: str) -> Statistics:
    """Concatenate several test sets into one, for the systems that are on all of them.

    Ids of segments and documents begin with the name of their test set, which is also the domain of segments without
    one ("" or "-"). Groups and kinds of systems are those on the first test set. An `InputError` is raised if fewer
    than two systems are on all test sets, or if names or columns do not match.
    """
    datasets = [part.dataset for part in parts]
    repeated = [name for name in datasets if datasets.count(name) > 1]
    if repeated:
        raise InputError(f"{dataset}: found {len(repeated)} datasets called {repeated[0]}, expected different names")
    shared = [system for system in parts[0].systems if all(system in part.systems for part in parts[1:])]
    if len(shared) < 2:
        names = ", ".join(datasets)
        raise InputError(f"{dataset}: found {len(shared)} systems that are in all of {names}, expected at least two")
    chosen = [part.select(systems=shared) for part in parts]
    for part in chosen[1:]:
        if part.columns != chosen[0].columns:
            raise InputError(
                f"{dataset}: {part.dataset} has the columns {listed(part.columns)}, "
                f"expected those of {datasets[0]}: {listed(chosen[0].columns)}"
            )

    segments, documents, domains = [], [], []
    for part in chosen:
        segments += [f"{part.dataset}/{segment}" if segment else "" for segment in part.segments]
        documents += [f"{part.dataset}/{document}" if document else "" for document in part.documents]
        domains += [part.dataset if domain in ("", "-") else domain for domain in part.domains]
    return replace(
        chosen[0],
        dataset=dataset,
        segments=np.array(segments),
        documents=np.array(documents),
        domains=np.array(domains),
        counts=np.concatenate([part.counts for part in chosen], axis=1),
        provenance={"pool": ", ".join(datasets)},
    )


def write(statistics: Statistics, path: str | Path) -> None:
    """Write statistics to a Parquet file, which keeps everything but notes and metrics.

    Parameters
    ----------
    statistics
        What to write.
    path
        A name that ends in ".parquet".

    Raises
    ------
    InputError
        If the suffix is another, or if the folder does not exist.

    Notes
    -----
    Integers get the smallest signed type that holds their column and its negatives.
    """
    if Path(path).suffix != ".parquet":
        raise InputError(f"{path}: found the suffix {Path(path).suffix!r}, expected .parquet")
    table = statistics.to_table()
    if statistics.counts.dtype.kind in "iu":
        table = table.astype({name: smallest_type(table[name].to_numpy()) for name in statistics.columns})
    need("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = pa.Table.from_pandas(table, preserve_index=False)
    metadata = {
        "dataset": statistics.dataset,
        "provenance": json.dumps(dict(statistics.provenance), sort_keys=True),
    }
    if statistics.omissions:
        metadata["omissions"] = json.dumps([dict(omission) for omission in statistics.omissions])
    arrow = arrow.replace_schema_metadata(metadata)
    whole = [name for name in statistics.columns if pa.types.is_integer(arrow.schema.field(name).type)]
    with tables.replacing(path) as temporary:
        pq.write_table(
            arrow,
            temporary,
            compression="zstd",
            compression_level=19,
            # Systems are similar, but compression only finds that within a page: one page per column.
            row_group_size=_PAGE,
            max_rows_per_page=_PAGE,
            data_page_size=16 * _PAGE,
            use_dictionary=[name for name in arrow.column_names if name not in whole],
            column_encoding=dict.fromkeys(whole, "BYTE_STREAM_SPLIT"),
        )


_PAGE = 2**20
"""Rows per page: with a million, reading needs a few megabytes per column."""


def smallest_type(values: NDArray[Any]) -> np.dtype[Any]:
    """The smallest type that holds these integers and their negatives; their own type from 2⁶³ on."""
    most = max(-int(values.min()), int(values.max()))
    return np.min_scalar_type(-1 - most) if most < 2**63 else values.dtype


def read(path: str | Path, *, dataset: str | None = None) -> Statistics:
    """Read statistics from a Parquet file that `write` wrote.

    Parameters
    ----------
    path
        The file.
    dataset
        Name of the test set. Default: the name in the file.

    Returns
    -------
    Statistics
        All systems of the file.

    Raises
    ------
    InputError
        If the file is another one, or if the memory does not suffice.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import pairsig
    >>> data = pairsig.Statistics.from_arrays({"a": np.ones(3), "b": np.zeros(3)}, ["value"], dataset="mine")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pairsig.write_statistics(data, f"{folder}/mine.parquet")
    ...     pairsig.read_statistics(f"{folder}/mine.parquet").systems
    ('a', 'b')
    """
    path = Path(path)
    arrow = tables.read_parquet(path)
    metadata = dict(arrow.schema.metadata or {})
    try:
        return Statistics(
            dataset=dataset or metadata[b"dataset"].decode(),
            provenance=dict(json.loads(metadata.get(b"provenance", b"{}"))),
            omissions=tuple(map(dict, json.loads(metadata.get(b"omissions", b"[]")))),
            **_fields(arrow.to_pandas(split_blocks=True, self_destruct=True)),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path}: found a file that cannot be read as statistics ({reason(error)}), expected one that "
            "pairsig.write_statistics wrote"
        ) from None


def _fields(table: pd.DataFrame) -> dict[str, Any]:
    """The attributes of `Statistics` from the rows of all systems, each with the same segments in the same order."""
    codes = {name: table[name].astype("category").cat for name in STATISTICS.names if name in table.columns}
    names = {name: of.categories.astype(str).to_numpy(dtype=object) for name, of in codes.items()}
    begins = np.zeros(len(table), dtype=bool)  # whether the row is the first one of a system
    for name in {"system", "run"} & codes.keys():
        begins |= np.diff(codes[name].codes.to_numpy(), prepend=-1) != 0
    starts = np.flatnonzero(begins)
    n_systems, n_segments = len(starts), len(table) // max(1, len(starts))
    if not len(table) or len(table) != n_systems * n_segments or (starts != n_segments * np.arange(n_systems)).any():
        raise ValueError("systems have different numbers of segments, or none")
    squares = {name: of.codes.to_numpy().reshape(n_systems, n_segments) for name, of in codes.items()}
    for name, square in squares.items():
        across = square if name in _OF_SEGMENTS else square.T
        if (square < 0).any() or (across != across[0]).any():
            raise ValueError(f"the column {name} has an empty cell, or differs within a system or a segment")
    of_systems = {name: names[name][square[:, 0]].tolist() for name, square in squares.items()}
    runs = of_systems.get("run", [""] * n_systems)
    systems = tuple(map(run_name, of_systems["system"], runs))
    columns = tuple(name for name in table.columns if name not in codes)
    counts = np.stack([table[name].to_numpy().reshape(n_systems, n_segments) for name in columns], axis=2)
    if counts.dtype.kind not in "biuf" or len(set(systems)) < len(systems):
        raise ValueError("counts are no numbers, or a system appears twice")
    return {
        "systems": systems,
        "runs": tuple(runs),
        "groups": tuple(of_systems["group"]),
        "kinds": tuple(of_systems["kind"]),
        **{f"{name}s": label_array(names[name][squares[name][0]].tolist(), name) for name in _OF_SEGMENTS},
        "columns": columns,
        "counts": counts if counts.dtype.kind == "f" else counts.astype(np.int64),
    }


_OF_SEGMENTS = ("segment", "document", "domain")


def only_metric(data: Statistics) -> Metric:
    """The only metric with the columns of the data."""
    if named_metric := data.provenance.get("metric"):
        return registry.metric(named_metric)
    fitting = registry.fitting(data.columns)
    if len(fitting) != 1:
        description = ", ".join(metric.name for metric in fitting) or "none"
        raise InputError(
            f"dataset {data.dataset or '(arrays)'} has the columns {', '.join(data.columns)}, which fit the metrics: "
            f"{description}; specify one"
        )
    return fitting[0]


def _whole_numbers(ids: NDArray[np.str_]) -> NDArray[np.int64] | None:
    """Ids that consist of up to 18 digits, as numbers; None if others are among them."""
    is_short = ids.dtype.itemsize <= 4 * 18
    return ids.astype(np.int64) if is_short and np.char.isdecimal(ids).all() else None


def _sorted_as_number(match: re.Match[str]) -> str:
    """Digits after a letter for their number, so that texts with numbers in them sort as these; then leading zeros."""
    digits = match[0].lstrip("0")
    n_zeros = len(match[0]) - len(digits)
    return f"{chr(1 + len(digits))}{digits}{chr(20 - n_zeros if digits else n_zeros)}"
