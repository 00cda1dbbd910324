"""Sufficient statistics of all systems of a dataset: the one container between extraction and everything else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pairsig.columns import STATISTICS
from pairsig.errors import InputError
from pairsig.lattice import multiples
from pairsig.metrics import Metric
from pairsig.omission import Omission

KEYS = STATISTICS.names
"""Columns that say what a row is about; every other column of a statistics table is a count."""


@dataclass(frozen=True)
class Statistics:
    """Counts of all systems on all segments of a dataset.

    Attributes
    ----------
    dataset
        Its name.
    systems, groups, kinds
        One string a system: its name, who made it (or its base model), and what sort of entry it is.
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

    def __post_init__(self) -> None:
        shape = (len(self.systems), len(self.segments), len(self.columns))
        if self.counts.shape != shape:
            raise ValueError(f"`counts` must have shape {shape}, not {self.counts.shape}")
        if not all(shape):
            name = self.dataset or "(arrays)"
            raise InputError(f"dataset {name} has {shape[0]} systems, {shape[1]} segments: nothing to compare")

    @classmethod
    def from_arrays(
        cls,
        counts: Mapping[str, NDArray[Any]],
        columns: Sequence[str],
        *,
        dataset: str = "",
        documents: Sequence[str] | None = None,
    ) -> Statistics:
        """Statistics from one array (segments × columns) a system, all of the same shape."""
        if not counts:
            raise InputError("there are no systems, expected counts of at least one")
        arrays = {system: _two_dimensional(system, array, columns) for system, array in counts.items()}
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
        )

    @classmethod
    def from_table(cls, table: pd.DataFrame, *, dataset: str, source: str = "the table") -> Statistics:
        """Statistics from a long table: one row a system and segment, see `KEYS`.

        The segments keep the order of the first system; every system must have the same ones. `group` defaults
        to the system's own name, the other keys to nothing.
        """
        from pairsig import tables

        table = _with_keys(tables.whole(table, source), source)
        columns = tuple(column for column in table.columns if column not in KEYS)
        table = table.assign(**_numbers(table, columns, source))
        systems = tuple(table["system"].unique())
        by_system = {str(name): rows for name, rows in table.groupby("system", sort=False)}
        first = by_system[systems[0]]
        segments = first["segment"].to_numpy(dtype=str)
        arrays = []
        for system, rows in by_system.items():
            own = rows["segment"].to_numpy(dtype=str)
            if not np.array_equal(own, segments):
                if set(own) != set(segments):
                    raise InputError(_segments_differ(source, systems[0], segments, system, own))
                rows = rows.set_index("segment").loc[segments]
            arrays.append(rows[list(columns)].to_numpy())
        for of, key in (("system", "group"), ("system", "kind"), ("segment", "document"), ("segment", "domain")):
            labels = table[[of, key]].drop_duplicates()
            several = labels.loc[labels[of].duplicated(), of]
            if len(several):
                raise InputError(f"{source}: {of} {several.iloc[0]} has more than one {key}, expected one")
        return cls(
            dataset=dataset,
            systems=systems,
            groups=tuple(str(by_system[system]["group"].iloc[0]) for system in systems),
            kinds=tuple(str(by_system[system]["kind"].iloc[0]) for system in systems),
            segments=segments,
            documents=first["document"].to_numpy(dtype=str),
            domains=first["domain"].to_numpy(dtype=str),
            columns=columns,
            counts=np.stack(arrays),
        )

    def to_table(self) -> pd.DataFrame:
        """Long table, one row a system and segment: the inverse of `from_table`."""
        n_systems, n_segments, n_columns = self.counts.shape
        keys = {
            "system": pd.Categorical(np.repeat(self.systems, n_segments), categories=list(self.systems)),
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
        """Counts for `metric`, shape (systems, segments, columns of its totals), checked for impossible values."""
        missing = [column for column in metric.columns if column not in self.columns]
        if missing:
            raise InputError(
                f"dataset {self.dataset or '(arrays)'} has the columns {', '.join(self.columns)}; "
                f"metric {metric.name} needs {', '.join(metric.columns)}"
            )
        index = {column: self.columns.index(column) for column in metric.columns}
        counts: NDArray[Any] = self.counts[:, :, list(index.values())]
        if not np.isfinite(counts).all():
            self._complain(~np.isfinite(counts).all(axis=2), "a count that is not a finite number")
        if not metric.averaged and (counts < 0).any():
            self._complain((counts < 0).any(axis=2), "a negative count")
        for small, large in metric.at_most:
            wrong = self.counts[:, :, index[small]] > self.counts[:, :, index[large]]
            if np.any(wrong):
                self._complain(wrong, f"{small} > {large}")
        if metric.averaged:
            counts = np.concatenate([counts, np.ones_like(counts[:, :, :1])], axis=2)
        return counts

    def _complain(self, wrong: ArrayLike, what: str) -> None:
        system, segment = np.argwhere(wrong)[0]
        values = ", ".join(f"{c} {v}" for c, v in zip(self.columns, self.counts[system, segment], strict=True))
        raise InputError(
            f"system {self.systems[system]}, segment {self.segments[segment]} of dataset "
            f"{self.dataset or '(arrays)'} has {what} ({values})"
        )

    def duplicates(self) -> list[tuple[str, str]]:
        """Pairs of systems whose counts are the same on every segment."""
        seen: dict[bytes, str] = {}
        pairs = []
        for system, counts in zip(self.systems, self.counts, strict=True):
            first = seen.setdefault(np.ascontiguousarray(counts).tobytes(), system)
            if first != system:
                pairs.append((first, system))
        return pairs


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
        provenance=dict(provenance),
        omissions=omissions,
    )


def pool(parts: Sequence[Statistics], *, dataset: str) -> Statistics:
    """One test set out of several, one after another, for the systems present in all of them.

    Segment and document ids get their dataset's name in front; a segment without a domain gets it as its domain.
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
        domains=np.array([domain or part.dataset for part in chosen for domain in part.domains]),
        counts=np.concatenate([part.counts for part in chosen], axis=1),
        provenance={"pool": ", ".join(part.dataset for part in parts)},
    )


def write(statistics: Statistics, path: str | Path) -> None:
    """Write as Parquet (with the provenance in the file's metadata), TSV or CSV, by the suffix of `path`."""
    from pairsig import tables

    table = statistics.to_table()
    if Path(path).suffix != ".parquet":
        tables.write(table, path)
        return
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
    with tables.replacing(path) as temporary:
        pq.write_table(arrow, temporary, compression="zstd", compression_level=19)


def read(path: str | Path, *, dataset: str | None = None) -> Statistics:
    """Read what `write` wrote, or any long table with the columns `system, segment` and counts.

    The dataset is called what the file says or, where it does not say, as the file is called (without suffix).
    """
    from pairsig import tables

    path = Path(path)
    table = tables.read(path, known=[STATISTICS])
    metadata: dict[bytes, bytes] = {}
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        metadata = pq.read_schema(path).metadata or {}
    name = dataset or metadata.get(b"dataset", b"").decode() or path.stem
    statistics = Statistics.from_table(table, dataset=name, source=str(path))
    return replace(
        statistics,
        provenance=json.loads(metadata.get(b"provenance", b"{}")),
        omissions=tuple(Omission(**told) for told in json.loads(metadata.get(b"omissions", b"[]"))),
    )


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


def _with_keys(table: pd.DataFrame, source: str) -> pd.DataFrame:
    for key in ("system", "segment"):
        if key not in table.columns:
            raise InputError(f"{source} has the columns {', '.join(map(str, table.columns))}: expected `{key}` too")
    if not len(table):
        raise InputError(f"{source} is empty: expected one row a system and segment")
    defaults = {key: "" for key in KEYS if key not in table.columns}
    table = table.assign(**defaults)
    keys = {key: table[key].astype("string").fillna("") for key in KEYS}
    for key in ("system", "segment"):
        if (keys[key] == "").any():
            raise InputError(f"{_row(source, keys[key] == '')}: {key} is empty, expected a name")
    keys["group"] = keys["group"].where(keys["group"] != "", keys["system"])
    table = table.assign(**keys)
    twice = table.duplicated(["system", "segment"])
    if twice.any():
        system, segment = table.loc[twice, ["system", "segment"]].iloc[0]
        raise InputError(f"{_row(source, twice)}: segment {segment} of system {system} comes again, expected once")
    return table


def _numbers(table: pd.DataFrame, columns: Sequence[str], source: str) -> dict[str, NDArray[Any]]:
    """The counts, with plain numeric dtypes."""
    if not columns:
        raise InputError(f"{source} has no column of counts beside {', '.join(KEYS)}")
    numbers = {}
    for column in columns:
        values = table[column]
        numeric = pd.to_numeric(values, errors="coerce")
        if numeric.isna().any():
            found = values[numeric.isna()].iloc[0]
            told = "empty or NaN" if pd.isna(found) else repr(found)
            raise InputError(f"{_row(source, numeric.isna())}: {column} is {told}, expected a number")
        array = numeric.to_numpy()
        numbers[column] = array.astype(np.int64) if array.dtype == np.bool_ else array
    return numbers


def _row(source: str, wrong: pd.Series[bool]) -> str:
    """Where a table is wrong first: the line of a text file (below its header), the row of anything else."""
    row = int(wrong.to_numpy(dtype=bool).argmax())
    return f"{source}, line {row + 2}" if source.endswith((".tsv", ".csv")) else f"{source}, row {row + 1}"


def _segments_differ(
    source: str, one: str, one_segments: NDArray[np.str_], other: str, other_segments: NDArray[np.str_]
) -> str:
    """Both numbers of segments and the first place where they part."""
    for here, mine, theirs in ((one, one_segments, other_segments), (other, other_segments, one_segments)):
        alone = mine[~np.isin(mine, theirs)]
        if len(alone):
            parting = f"segment {alone[0]} is in {here} only"
            break
    else:  # the same ones in another order
        position = int(np.argmax(one_segments != other_segments))
        parting = f"number {position + 1} is {one_segments[position]} and {other_segments[position]}"
    return (
        f"{source}: system {one} has {len(one_segments)} segments, {other} has {len(other_segments)}, "
        f"expected the same ones; {parting}"
    )
