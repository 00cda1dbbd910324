"""Sufficient statistics of all systems of a dataset: the one container between extraction and everything else."""

from __future__ import annotations

import json
import numbers
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pairsig.columns import STATISTICS
from pairsig.errors import InputError, listed, named, printable, quoted, reason
from pairsig.lattice import fingerprint, multiples, some_systems
from pairsig.memory import Memory
from pairsig.metrics import Metric
from pairsig.omission import Omission

KEYS = STATISTICS.names
"""Columns that say what a row is about; every other column of a statistics table is a count."""

OF_THE_TEST_SET = ("total", "gold", "sure", "ter_reference_length")
"""Columns of registered metrics that a system has no part in, not even by the choice among several references."""


@dataclass(frozen=True)
class Statistics:
    """Counts of all systems on all segments of a dataset.

    Attributes
    ----------
    dataset
        Its name.
    systems, groups, kinds
        One string a system: its name, who made it (or its base model), and what sort of entry it is. A system is one
        set of outputs; of several runs of a method each is one, called METHOD-RUN.
    segments, documents, domains
        One string a segment: its id, the document and the domain it belongs to ("" where unknown).
    columns
        Names of the counts.
    counts
        Shape (systems, segments, columns), integer or float64.
    provenance
        Where the counts came from: corpus, commit, checksum, command, versions, licence.
    omissions
        Systems that had to be left out.
    runs
        One string a system: which run of its method it is, "" where it is the only one. By default all are "".
    """

    dataset: str
    systems: tuple[str, ...]
    groups: tuple[str, ...]
    kinds: tuple[str, ...]
    segments: NDArray[np.str_]
    documents: NDArray[np.str_]
    domains: NDArray[np.str_]
    columns: tuple[str, ...]
    counts: NDArray[Any]
    provenance: Mapping[str, str] = field(default_factory=dict, compare=False)
    omissions: tuple[Omission, ...] = field(default=(), compare=False)
    runs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.runs:
            object.__setattr__(self, "runs", ("",) * len(self.systems))
        for system, run in zip(self.systems, self.runs, strict=True):
            if run and not system.endswith(f"-{run}"):
                raise ValueError(f"system {system} is run {run} of a method, expected a name that ends in -{run}")
        # Whatever is printed of statistics has these names. Ids of segments may be texts, and are quoted.
        for what, names in (
            ("dataset", [self.dataset]),
            ("system", self.systems),
            ("group", self.groups),
            ("kind", self.kinds),
            ("column", self.columns),
        ):
            printable(names, what)
        shape = (len(self.systems), len(self.segments), len(self.columns))
        if self.counts.shape != shape:
            raise ValueError(f"`counts` must have shape {shape}, not {self.counts.shape}")
        if not all(shape):
            name = self.dataset or "(arrays)"
            raise InputError(f"dataset {name} has {shape[0]} systems, {shape[1]} segments: nothing to compare")

    @property
    def methods(self) -> tuple[str, ...]:
        """One string a system: the method that it is a run of, itself where it is the only one."""
        return _methods(self.systems, self.runs)

    def numbered(self) -> Statistics:
        """The same, with systems called METHOD-1, METHOD-2, … as runs of METHOD, where a method has at least two.

        So are the systems of the study that are trained again: `malt-full-1` is the first run of `malt-full`. Systems
        that say already which run they are stay as they are.
        """
        if any(self.runs):
            return self
        found = [re.fullmatch(r"(.+)-(\d+)", system, re.ASCII) for system in self.systems]
        times = Counter(match[1] for match in found if match)
        return replace(self, runs=tuple(match[2] if match and times[match[1]] > 1 else "" for match in found))

    @classmethod
    def from_arrays(
        cls,
        counts: Mapping[str, NDArray[Any]],
        columns: Sequence[str],
        *,
        dataset: str = "",
        documents: Sequence[str] | None = None,
    ) -> Statistics:
        """Statistics from one array (segments × columns) a system, all of the same shape.

        An array (runs × segments × columns) is of a method with several runs, which are called 1, 2, ….
        """
        if not counts:
            raise InputError("there are no systems, expected counts of at least one")
        given = [
            (run_name(system, run), run, array)
            for system, own in counts.items()
            for run, array in (_numbered(own) if np.ndim(own) == 3 else [("", own)])
        ]
        arrays = {system: _two_dimensional(system, array, columns) for system, _, array in given}
        if len(arrays) < len(given):
            raise InputError(f"{', '.join(counts)} and their runs share a name, expected different ones")
        sizes = {system: len(array) for system, array in arrays.items()}
        if len(set(sizes.values())) > 1:
            told = ", ".join(f"{system} has {size}" for system, size in sizes.items())
            raise InputError(f"the systems must have equally many segments: {told}")
        n_segments = next(iter(sizes.values()))
        if documents is not None and len(documents) != n_segments:
            raise InputError(f"{len(documents)} document ids for {n_segments} segments: expected one each")
        return cls(
            dataset=dataset,
            systems=tuple(arrays),
            groups=tuple(arrays),
            kinds=("",) * len(arrays),
            segments=np.arange(1, n_segments + 1).astype(str),
            documents=np.full(n_segments, "") if documents is None else np.asarray(documents, dtype=str),
            domains=np.full(n_segments, "", dtype="<U1"),
            columns=tuple(columns),
            counts=np.stack(list(arrays.values())),
            runs=tuple(run for _, run, _ in given),
        )

    @classmethod
    def from_table(cls, table: pd.DataFrame, *, dataset: str, source: str = "the table") -> Statistics:
        """Statistics from a long table: one row a system, run and segment, see `KEYS`.

        The segments keep the order of the first system; every system must have the same ones, and so must every run.
        `group` defaults to the system's own name, the other keys to nothing. With a `run` the column `system` has the
        method, and the system is called METHOD-RUN.
        """
        from pairsig import tables

        table = tables.whole(with_names(table, source), source)
        rows = _Rows(source, len(table))
        rows.add(table)
        return rows.statistics(dataset)

    def to_table(self) -> pd.DataFrame:
        """Long table, one row a system, run and segment: the inverse of `from_table`.

        There is a column `run` where a system has one.
        """
        n_systems, n_segments, n_columns = self.counts.shape
        methods = self.methods
        keys = {
            "system": pd.Categorical(np.repeat(methods, n_segments), categories=list(dict.fromkeys(methods))),
        }
        if any(self.runs):
            keys["run"] = pd.Categorical(np.repeat(self.runs, n_segments))
        keys |= {
            "group": pd.Categorical(np.repeat(self.groups, n_segments)),
            "kind": pd.Categorical(np.repeat(self.kinds, n_segments)),
            "segment": np.tile(self.segments, n_systems),
            "document": np.tile(self.documents, n_systems),
            "domain": np.tile(self.domains, n_systems),
        }
        flat = self.counts.reshape(n_systems * n_segments, n_columns)
        return pd.DataFrame(keys | {name: flat[:, index] for index, name in enumerate(self.columns)})

    def select(
        self,
        *,
        systems: Sequence[str] | None = None,
        segments: NDArray[np.intp] | slice | None = None,
    ) -> Statistics:
        """The same for some systems (by name) and some segments (by position, in any order, repeats allowed)."""
        selected = self
        if systems is not None:
            rows = [self.systems.index(system) for system in systems]
            selected = replace(
                selected,
                systems=tuple(systems),
                groups=tuple(self.groups[row] for row in rows),
                kinds=tuple(self.kinds[row] for row in rows),
                counts=selected.counts[rows],
                runs=tuple(self.runs[row] for row in rows),
            )
        if segments is not None:
            selected = replace(
                selected,
                segments=self.segments[segments],
                documents=self.documents[segments],
                domains=self.domains[segments],
                counts=selected.counts[:, segments],
            )
        return selected

    def of(self, metric: Metric) -> NDArray[Any]:
        """Counts for `metric`, shape (systems, segments, columns of its totals), checked for impossible values.

        A view of `counts` where that will do: not to be written to.
        """
        positions = self._positions(metric)
        together = slice(positions[0], positions[0] + len(positions))
        counts: NDArray[Any] = self.counts[:, :, together if _is_range(positions) else positions]
        if not np.isfinite([counts.min(), counts.max()]).all():  # either is NaN where any count is
            self._complain(~np.isfinite(counts).all(axis=2), "a count that is not a finite number")
        if not metric.averaged and counts.min() < 0:
            self._complain((counts < 0).any(axis=2), "a negative count")
        for pair in metric.at_most:
            small, large = (self.counts[:, :, self.columns.index(column)] for column in pair)
            if any((small[rows] > large[rows]).any() for rows in some_systems(small)):
                self._complain(small > large, " > ".join(pair))
        if metric.averaged:
            counts = np.concatenate([counts, np.ones_like(counts[:, :, :1])], axis=2)
        return counts

    def copied_by(self, metric: Metric) -> int:
        """Bytes that `of` takes: none where the columns of the metric stand together."""
        together = not metric.averaged and _is_range(self._positions(metric))
        return 0 if together else self.counts[:, :, 0].size * self.counts.itemsize * metric.width

    def _positions(self, metric: Metric) -> list[int]:
        missing = [column for column in metric.columns if column not in self.columns]
        if missing:
            raise InputError(
                f"dataset {self.dataset or '(arrays)'} has the columns {', '.join(self.columns)}; "
                f"metric {metric.name} needs {', '.join(metric.columns)}"
            )
        return [self.columns.index(column) for column in metric.columns]

    def _complain(self, wrong: ArrayLike, what: str) -> None:
        system, segment = np.argwhere(wrong)[0]
        values = ", ".join(f"{c} {v}" for c, v in zip(self.columns, self.counts[system, segment], strict=True))
        raise InputError(
            f"system {named(self.systems[system])}, segment {named(self.segments[segment])} of dataset "
            f"{self.dataset or '(arrays)'} has {what} ({values})"
        )

    def duplicates(self) -> list[tuple[str, str]]:
        """Pairs of systems whose counts are the same on every segment."""
        seen: dict[bytes, str] = {}
        pairs = []
        for system, counts in zip(self.systems, self.counts, strict=True):
            first = seen.setdefault(fingerprint(counts), system)
            if first != system:
                pairs.append((first, system))
        return pairs

    def unlike(self) -> list[str]:
        """Sentences on counts that belong to the test set, and are yet not the same for all systems."""
        sentences = []
        for column in filter(self.columns.__contains__, OF_THE_TEST_SET):
            counts = self.counts[:, :, self.columns.index(column)]
            for system, own in enumerate(counts):
                # A system that was not scored on a segment has 0 there.
                wrong = np.flatnonzero((own != counts[0]) & (own != 0) & (counts[0] != 0))
                if len(wrong):
                    sentences.append(
                        f"{column} is {counts[0, wrong[0]]} for {self.systems[0]} and {own[wrong[0]]} for "
                        f"{self.systems[system]} on segment {named(self.segments[wrong[0]])}: are these the same test "
                        "set?"
                    )
                    break
        return sentences


def _is_range(positions: Sequence[int]) -> bool:
    return list(positions) == list(range(positions[0], positions[0] + len(positions)))


def by_document(documents: NDArray[np.str_], counts: NDArray[Any]) -> NDArray[Any]:
    """Counts (systems, segments, columns) summed over documents, which keep the order of their first segment."""
    if (documents == "").all():
        raise InputError("the unit is the document, but no segment names its document: expected a column `document`")
    if (documents == "").any():
        position = int(np.argmax(documents == ""))
        raise InputError(f"segment number {position + 1} names no document, expected one for every segment")
    _, first, inverse = np.unique(documents, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))[inverse]
    # Sums of booleans or of small integers need a wider type.
    sums = np.zeros((len(first), counts.shape[0], counts.shape[2]), dtype=np.result_type(counts.dtype, np.int64))
    steps = np.ones(counts.shape[2])
    if counts.dtype.kind == "f":  # sums of decimals are decimals too, whatever their order: 0.1 + 0.2 is 0.3
        counts = counts.astype(np.float64)
        for column in range(counts.shape[2]):
            found = multiples(counts[:, :, column], counts.shape[1])
            if found is not None:
                counts[:, :, column], steps[column] = found
    np.add.at(sums, rank, counts.swapaxes(0, 1))
    return (sums / steps if (steps != 1).any() else sums).swapaxes(0, 1)


def collect(
    parts: Sequence[Statistics],
    *,
    dataset: str,
    provenance: Mapping[str, str],
    omissions: tuple[Omission, ...] = (),
) -> Statistics:
    """All systems of a dataset from the statistics of one or some of them each."""
    first = parts[0]
    for part in parts[1:]:
        if not np.array_equal(part.segments, first.segments):
            raise InputError(
                _segments_differ(dataset, first.systems[0], first.segments, part.systems[0], part.segments)
            )
        if part.columns != first.columns:
            raise InputError(
                f"{dataset}: system {part.systems[0]} has the columns {', '.join(part.columns)}, "
                f"expected those of {first.systems[0]}: {', '.join(first.columns)}"
            )
        for key, ours, theirs in (
            ("document", first.documents, part.documents),
            ("domain", first.domains, part.domains),
        ):
            if not np.array_equal(ours, theirs):
                row = int(np.argmax(ours != theirs))
                raise InputError(
                    f"{dataset}: segment {first.segments[row]} is of {key} {str(ours[row])!r} for {first.systems[0]} "
                    f"and {str(theirs[row])!r} for {part.systems[0]}, expected the same"
                )
    systems = [system for part in parts for system in part.systems]
    repeated = {system for system in systems if systems.count(system) > 1}
    if repeated:
        raise InputError(f"{dataset}: system {min(repeated)} is given more than once, expected once")
    return replace(
        first,
        dataset=dataset,
        systems=tuple(systems),
        groups=tuple(group for part in parts for group in part.groups),
        kinds=tuple(kind for part in parts for kind in part.kinds),
        counts=np.concatenate([part.counts for part in parts]),
        runs=tuple(run for part in parts for run in part.runs),
        provenance=dict(provenance),
        omissions=omissions,
    )


def pool(parts: Sequence[Statistics], *, dataset: str) -> Statistics:
    """One test set out of several, one after another, for the systems present in all of them.

    Segment and document ids get their dataset's name in front; a segment without a domain ("", or "-" as files of
    documents have it) gets it as its domain.
    Group and kind of a system are those of the first dataset.
    """
    datasets = [part.dataset for part in parts]
    repeated = [name for name in datasets if datasets.count(name) > 1]
    if repeated:
        raise InputError(f"{dataset}: {len(repeated)} of the datasets to pool are called {repeated[0]}, expected one")
    shared = [system for system in parts[0].systems if all(system in part.systems for part in parts[1:])]
    if len(shared) < 2:
        names = ", ".join(part.dataset for part in parts)
        raise InputError(f"{dataset}: {len(shared)} systems are in all of {names}, expected at least two")
    columns = parts[0].columns
    chosen = [part.select(systems=shared) for part in parts]
    for part in chosen[1:]:
        if part.columns != columns:
            raise InputError(
                f"{dataset}: {part.dataset} has the columns {', '.join(part.columns)}, "
                f"expected those of {parts[0].dataset}: {', '.join(columns)}"
            )

    def labelled(part: Statistics, labels: NDArray[np.str_]) -> list[str]:
        return [f"{part.dataset}/{label}" if label else "" for label in labels]

    return replace(
        chosen[0],
        dataset=dataset,
        segments=np.array([label for part in chosen for label in labelled(part, part.segments)]),
        documents=np.array([label for part in chosen for label in labelled(part, part.documents)]),
        domains=np.array(
            [part.dataset if domain in ("", "-") else domain for part in chosen for domain in part.domains]
        ),
        counts=np.concatenate([part.counts for part in chosen], axis=1),
        provenance={"pool": ", ".join(part.dataset for part in parts)},
    )


def write(statistics: Statistics, path: str | Path) -> None:
    """Write as Parquet (with the provenance in the file's metadata), TSV or CSV, by the suffix of `path`.

    In Parquet integers have the smallest signed type that holds all of their column and their negatives.
    """
    from pairsig import tables

    table = statistics.to_table()
    if Path(path).suffix != ".parquet":
        tables.write(table, path)
        return
    if statistics.counts.dtype.kind in "iu":
        table = table.astype({name: _smallest(table[name].to_numpy()) for name in statistics.columns})
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = pa.Table.from_pandas(table, preserve_index=False)
    metadata = {
        "dataset": statistics.dataset,
        "provenance": json.dumps(dict(statistics.provenance), sort_keys=True),
    }
    if statistics.omissions:
        metadata["omissions"] = json.dumps([omission.to_dict() for omission in statistics.omissions])
    arrow = arrow.replace_schema_metadata(metadata)
    whole = [name for name in statistics.columns if pa.types.is_integer(arrow.schema.field(name).type)]
    with tables.replacing(path) as temporary:
        pq.write_table(
            arrow,
            temporary,
            compression="zstd",
            compression_level=19,
            # Systems are much alike, but what is alike is only found within a page: one for each column.
            row_group_size=_PAGE,
            max_rows_per_page=_PAGE,
            data_page_size=16 * _PAGE,
            use_dictionary=[name for name in arrow.column_names if name not in whole],
            column_encoding=dict.fromkeys(whole, "BYTE_STREAM_SPLIT"),
        )


_PAGE = 2**20
"""Rows of a page: of a million, reading takes some megabytes a column."""


def _smallest(numbers: NDArray[Any]) -> np.dtype[Any]:
    """The smallest type that holds these integers and their negatives; from 2⁶³ on, their own."""
    most = max(-int(numbers.min()), int(numbers.max()))
    return np.min_scalar_type(-1 - most) if most < 2**63 else numbers.dtype


def read(path: str | Path, *, dataset: str | None = None, memory: Memory | None = None) -> Statistics:
    """Read what `write` wrote, or any long table with the columns `system, segment` and counts.

    The dataset is called what the file says or, where it does not say, as the file is called (without suffix).

    Parameters
    ----------
    memory
        What there is. With it integers of a Parquet file get the smallest type that holds them (without it int64), and
        counts that do not fit are refused. Such a file is read some rows at a time; what the reading itself takes is
        looked at where a group of its rows has more than 128 MiB. A text file is taken to need twenty times its
        size. Without it all that is free may be taken.
    """
    from pairsig import tables

    path = Path(path)
    metadata: dict[bytes, bytes] = {}
    if path.suffix == ".parquet":
        n_rows, metadata, pieces = tables.pieces(path, memory or Memory.whole())
        rows = _Rows(str(path), n_rows, memory)
        for piece in pieces:
            rows.add(tables.whole(piece, str(path), n_rows))
    else:
        if memory is not None and path.is_file():
            memory.require(_TEXT * path.stat().st_size, f"reading {path} (as a Parquet file it takes less)")
        table = tables.read(path, known=[STATISTICS])
        rows = _Rows(str(path), len(table), memory)
        rows.add(table)
    try:
        name = dataset or metadata.get(b"dataset", b"").decode() or path.stem
        provenance = dict(json.loads(metadata.get(b"provenance", b"{}")))
        omissions = tuple(Omission(**told) for told in json.loads(metadata.get(b"omissions", b"[]")))
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(
            f"{path}: found metadata that cannot be read ({reason(error)}), expected those that pairsig writes"
        ) from None
    return replace(rows.statistics(name), provenance=provenance, omissions=omissions)


_TEXT = 20
"""Bytes that it takes to read one of a text file."""


class _Rows:
    """Rows of a long table on their way to `Statistics`: a piece of the table at a time, as it is in the file.

    Counts are put one after another as they come. Which system and segment a row is of is kept by runs of rows, a run
    being a stretch of one system whose segments follow each other: in a file as `write` makes it, one run a system.
    """

    def __init__(self, source: str, n_rows: int, memory: Memory | None = None) -> None:
        self._source, self._n_rows, self._memory = source, n_rows, memory
        self._filled = 0
        self._columns: tuple[str, ...] = ()
        self._counts: NDArray[Any] = np.empty((n_rows, 0), dtype=np.int8)
        self._codes: dict[str, dict[str, int]] = {key: {} for key in (*KEYS, "output")}
        self._last: dict[str, tuple[pd.Index[Any], NDArray[np.int64]]] = {}
        self._runs: list[NDArray[np.int64]] = []  # (3, runs): first row, system, first segment
        # The label of each system or segment, by what is labelled and the key; and the first that has two.
        self._labels = {of: np.empty(0, dtype=np.int64) for of in _LABELLED}
        self._two: dict[tuple[str, str], int] = {}

    def add(self, table: pd.DataFrame) -> None:
        """The next rows."""
        for key in ("system", "segment"):
            if key not in table.columns:
                raise InputError(f"{self._source} has the columns {listed(table.columns)}: expected `{key}` too")
        if not len(table):
            return
        first = self._filled
        codes = {key: self._coded(table, key) for key in KEYS}
        for key in ("system", "segment"):
            nameless = codes[key] == self._codes[key].get("", -1)
            if nameless.any():
                raise InputError(f"{self._row(nameless, first)}: {key} is empty, expected a name")
        self._columns = tuple(column for column in table.columns if column not in KEYS)
        self._append(_numbers(table, self._columns, lambda wrong: self._row(wrong, first), self._source))
        codes["output"] = self._outputs(codes["system"], codes["run"])
        systems, segments = codes["output"], codes["segment"]
        starts = np.flatnonzero(
            np.concatenate([[True], (systems[1:] != systems[:-1]) | (segments[1:] != segments[:-1] + 1)])
        )
        self._runs.append(np.stack([first + starts, systems[starts], segments[starts]]))
        # Who is in no group is one of their own.
        own = np.array([self._code("group", name) for name in self._codes["system"]], dtype=np.int64)
        blank = codes["group"] == self._codes["group"].get("", -1)
        codes["group"] = np.where(blank, own[codes["system"]], codes["group"])
        for of, key in _LABELLED:
            self._label(of, key, codes[of], codes[key])

    def _code(self, key: str, label: str) -> int:
        found = self._codes[key]
        return found.setdefault(label, len(found))

    def _coded(self, table: pd.DataFrame, key: str) -> NDArray[np.int64]:
        """The labels of a key as numbers, in the order in which they are met."""
        if key not in table.columns:
            return np.full(len(table), self._code(key, ""), dtype=np.int64)
        cells = table[key]
        if isinstance(cells.dtype, pd.CategoricalDtype):
            found, unique = cells.cat.codes.to_numpy(), cells.cat.categories
        else:  # of objects 1 and "1" are the same name, 1 and 1.0 are not
            found, unique = pd.factorize(cells.astype("string") if cells.dtype == object else cells)
        known, codes = self._last.get(key, (None, np.empty(0)))
        if known is None or not unique.equals(known):  # which, in the segments of one system after another, is rare
            codes = np.full(len(unique) + 1, -1, dtype=np.int64)  # the last is that of missing cells
            self._last[key] = unique, codes
        new = pd.unique(found[codes[found] < 0])
        if len(new):
            labels = pd.Series(unique.take(new[new >= 0])).astype("string").fillna("").tolist()
            codes[new[new >= 0]] = [self._code(key, label) for label in labels]
            if (new < 0).any():
                codes[-1] = self._code(key, "")
        return np.asarray(codes[found])

    def _outputs(self, systems: NDArray[np.int64], runs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which system, with its run, each row is of."""
        n_runs = len(self._codes["run"])
        found, unique = pd.factorize(systems * n_runs + runs)
        names, labels = list(self._codes["system"]), list(self._codes["run"])
        pairs = [(names[pair // n_runs], labels[pair % n_runs]) for pair in unique.tolist()]
        outputs = np.array([self._code("output", run_name(*pair)) for pair in pairs], dtype=np.int64)
        return np.asarray(outputs[found])

    def _append(self, numbers: NDArray[Any]) -> None:
        if numbers.dtype.kind in "iu":
            dtype = (
                _smallest(numbers) if self._memory is not None else np.int64 if numbers.itemsize < 8 else numbers.dtype
            )
            numbers = numbers.astype(dtype, copy=False)
        last = self._filled + len(numbers)
        kept = self._counts[: self._filled]
        dtype = np.result_type(kept, numbers) if len(kept) else numbers.dtype
        if not len(kept) or dtype != kept.dtype:
            shape = self._n_rows, numbers.shape[1]
            room = self._memory or Memory.whole()
            room.require(shape[0] * shape[1] * dtype.itemsize, f"the counts of {self._source}")
            self._counts = np.empty(shape, dtype=dtype)
            if len(kept):
                self._counts[: self._filled] = kept
        self._counts[self._filled : last] = numbers
        self._filled = last

    def _label(self, of: str, key: str, named: NDArray[np.int64], labels: NDArray[np.int64]) -> None:
        known = self._labels[of, key]
        known = np.concatenate([known, np.full(len(self._codes[of]) - len(known), -1)])
        new = known[named] < 0
        known[named[new]] = labels[new]
        wrong = known[named] != labels
        if wrong.any():
            self._two.setdefault((of, key), int(named[wrong.argmax()]))
        self._labels[of, key] = known

    def _row(self, wrong: NDArray[np.bool_], first: int = 0) -> str:
        """Where a table is wrong first: the line of a text file (below its header), the row of anything else."""
        row = first + int(wrong.argmax())
        told = f"line {row + 2}" if self._source.endswith((".tsv", ".csv")) else f"row {row + 1}"
        return f"{self._source}, {told}"

    def statistics(self, dataset: str) -> Statistics:
        """What the rows are, in the order of the first system's segments."""
        if not self._filled:
            raise InputError(f"{self._source} is empty: expected one row a system and segment")
        systems, ids = list(self._codes["output"]), label_array(self._codes["segment"], f"{self._source}: segment")
        starts, system, segment = np.concatenate(self._runs, axis=1)
        lengths = np.diff(starts, append=self._filled)
        n = int(lengths[system == 0].sum())
        if (
            len(ids) == n
            and len(systems) * n == self._filled
            and (system == starts // n).all()
            and (segment == starts % n).all()
        ):
            counts, order = self._counts, np.arange(n)
        else:
            counts, order = self._sorted(systems, ids, np.repeat(system, lengths), np.repeat(segment - starts, lengths))
        for (of, key), wrong in sorted(self._two.items(), key=lambda found: _LABELLED.index(found[0])):
            name = list(self._codes[of])[wrong]
            told = "system" if of == "output" else of
            raise InputError(f"{self._source}: {told} {named(name)} has more than one {key}, expected one")

        def labels(of: str, key: str) -> NDArray[np.str_]:
            known = list(self._codes[key])
            return label_array([known[code] for code in self._labels[of, key].tolist()], f"{self._source}: {key}")

        runs = labels("output", "run")
        methods = _methods(systems, runs)
        for method in {method for method, run in zip(methods, runs, strict=True) if not run}:
            if methods.count(method) > 1:
                raise InputError(
                    f"{self._source}: some rows of system {named(method)} name no run, expected one in each"
                )
        return Statistics(
            dataset=dataset,
            systems=tuple(systems),
            groups=tuple(labels("output", "group").tolist()),
            kinds=tuple(labels("output", "kind").tolist()),
            segments=ids[order],
            documents=labels("segment", "document")[order],
            domains=labels("segment", "domain")[order],
            columns=self._columns,
            counts=counts.reshape(len(systems), n, len(self._columns)),
            runs=tuple(runs.tolist()),
        )

    def _sorted(
        self, systems: list[str], ids: NDArray[np.str_], system: NDArray[np.int64], segment: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The counts by system, in the order of the first one's segments, and that order."""
        segment += np.arange(self._filled)
        order = segment[system == 0]
        places = system * len(ids) + segment
        if len(np.unique(places)) < len(places):
            twice = pd.Series(places).duplicated().to_numpy()
            row = int(twice.argmax())
            raise InputError(
                f"{self._row(twice)}: segment {named(ids[segment[row]])} of system {named(systems[system[row]])} comes "
                "again, expected once"
            )
        sizes = np.bincount(system, minlength=len(systems))
        position = np.full(len(ids), -1)
        position[order] = np.arange(len(order))
        strange = np.bincount(system, weights=position[segment] < 0, minlength=len(systems)) > 0
        for other in np.flatnonzero(strange | (sizes != len(order))):
            own = ids[segment[system == other]]
            raise InputError(_segments_differ(self._source, systems[0], ids[order], systems[other], own))
        counts = np.empty_like(self._counts)
        counts[system * len(order) + position[segment]] = self._counts
        return counts, order


_LABELLED = (
    ("output", "run"),
    ("output", "group"),
    ("output", "kind"),
    ("segment", "document"),
    ("segment", "domain"),
)
"""What each label is of; an output is a system with its run."""


def label_array(labels: Iterable[str], what: str) -> NDArray[np.str_]:
    """Labels as an array, where each of them takes the room of the longest."""
    labels = list(labels)
    longest = max(labels, key=len, default="")
    if len(labels) * len(longest) > _MOST_LETTERS:
        raise InputError(
            f"{what} {named(longest)} is too long for one of {len(labels):,}, expected names of no more than "
            f"{_MOST_LETTERS // len(labels):,} characters"
        )
    return np.array(labels, dtype=str)


_MOST_LETTERS = 2**28
"""Of the labels of segments, each as long as the longest: a gigabyte."""


def run_name(method: str, run: str) -> str:
    """What the system is called that is this run of the method."""
    return f"{method}-{run}" if run else method


def _methods(systems: Iterable[str], runs: Iterable[str]) -> tuple[str, ...]:
    # A system without a run keeps its name, one that ends in a hyphen, too.
    return tuple(system.removesuffix(f"-{run}") if run else system for system, run in zip(systems, runs, strict=True))


def _numbered(runs: NDArray[Any]) -> list[tuple[str, NDArray[Any]]]:
    return [(str(number), run) for number, run in enumerate(runs, start=1)]


def _two_dimensional(system: str, array: NDArray[Any], columns: Sequence[str]) -> NDArray[Any]:
    array = np.asarray(array)
    if array.ndim == 1 and len(columns) == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != len(columns):
        raise InputError(
            f"system {system} has counts of shape {array.shape}, "
            f"expected (segments, {len(columns)}): {', '.join(columns)}"
        )
    if array.dtype.kind not in "biuf":
        raise InputError(f"system {system} has counts of type {array.dtype}, expected numbers")
    return array


def _numbers(
    table: pd.DataFrame, columns: Sequence[str], row: Callable[[NDArray[np.bool_]], str], source: str
) -> NDArray[Any]:
    """The counts (rows × columns), with a plain numeric dtype; `row` says where something is wrong first."""
    if not columns:
        raise InputError(f"{source} has no column of counts beside {', '.join(KEYS)}")
    found = {}
    for column in columns:
        values = table[column]
        numeric = _numeric(values)
        if numeric.isna().any():
            wrong = numeric.isna().to_numpy(dtype=bool)
            cell = values[wrong].iloc[0]
            told = "empty or NaN" if pd.isna(cell) else quoted(cell)
            raise InputError(f"{row(wrong)}: {named(column)} is {told}, expected a number")
        array = numeric.to_numpy()
        found[column] = array.astype(np.int64) if array.dtype == np.bool_ else array
    return np.asarray(pd.DataFrame(found).to_numpy())


def _numeric(values: pd.Series[Any]) -> pd.Series[Any]:
    """The cells as numbers, missing where one is none: pandas would count dates, and drop imaginary parts later."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        each = _numeric(pd.Series(values.cat.categories))
        return each.reindex(values.cat.codes).set_axis(values.index)
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_complex_dtype(values):
        return values
    if not pd.api.types.is_string_dtype(values.dtype) or values.dtype == object:
        values = values.astype(object).map(_real)
    return pd.to_numeric(values, errors="coerce")


def _real(cell: Any) -> Any:
    """A cell of a column of objects: text and numbers that are real; None for all else, dates for one."""
    if isinstance(cell, str | bool | np.bool_):
        return cell
    # A duration of numpy counts as a real number, too.
    if type(cell) is np.timedelta64 or not isinstance(cell, numbers.Real | Decimal):
        return None
    if isinstance(cell, numbers.Integral) and abs(int(cell)) < 2**63:
        return int(cell)
    try:
        return float(cell)
    except (OverflowError, ValueError):  # a whole number of 400 digits, a signalling NaN
        return None


def with_names(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """`table` with names of columns that are text, after each has been found to be there once."""
    names = [str(name) for name in table.columns]
    for name, times in Counter(names).items():
        if times > 1:
            raise InputError(f"{source} has {times} columns called {quoted(name)}, expected different names")
    return table.set_axis(names, axis=1)


def _segments_differ(
    source: str, one: str, one_segments: NDArray[np.str_], other: str, other_segments: NDArray[np.str_]
) -> str:
    """Both numbers of segments and the first place where they part."""
    for here, mine, theirs in ((one, one_segments, other_segments), (other, other_segments, one_segments)):
        alone = mine[~np.isin(mine, theirs)]
        if len(alone):
            parting = f"segment {named(alone[0])} is in {named(here)} only"
            break
    else:  # the same ones in another order
        position = int(np.argmax(one_segments != other_segments))
        parting = f"number {position + 1} is {named(one_segments[position])} and {named(other_segments[position])}"
    return (
        f"{source}: system {named(one)} has {len(one_segments)} segments, {named(other)} has {len(other_segments)}, "
        f"expected the same ones; {parting}"
    )
