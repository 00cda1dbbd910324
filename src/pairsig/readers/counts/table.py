"""Read tables of counts or scores with one row per segment: TSV, CSV, JSONL or Parquet."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.core.statistics import KEYS, OF_THE_TEST_SET
from pairsig.io.errors import InputError, check_distinct, listed, named, quoted, reason
from pairsig.io.files import MAX_BYTES, MAX_LINE, MAX_LINES, AnyPath, content, open_text
from pairsig.io.packages import need
from pairsig.io.tables import SEPARATORS, decoded_bytes, open_parquet
from pairsig.metrics import Metric
from pairsig.readers import Reader
from pairsig.readers.outputs import text
from pairsig.readers.system_counts import NUMBER, SystemCounts, average, fits, to_array, to_number

_IDS = ("segment", "id")
_JSON_LINES = (".jsonl", ".ndjson")
_TRUTHS = {"true": True, "True": True, "false": False, "False": False}
_MISSING = frozenset({"", "nan", "NaN", "NA", "null", "None"})
_JSON_ROW = re.compile(r'\{[^\n]*"(?:segment|id)"\s*:')
_CELL = 32
"""Bytes of memory for a number and its place in a list."""

Names = str | Sequence[str] | None
Number = int | float | bool


@dataclass(frozen=True)
class _Table:
    """Unconverted cells by column, and the line of each row."""

    path: str
    columns: dict[str, list[Any]]
    lines: list[int]
    place: str
    number: Callable[[Any], Number | None]
    """A cell as a number; None for one that is missing or does not `fit`; ValueError for text."""

    def where(self, row: int) -> str:
        return f"{self.path}, {self.place} {self.lines[row]}"

    def first_text(self, column: str) -> int | None:
        """The first row with text in the column."""
        for row, cell in enumerate(self.columns[column]):
            try:
                self.number(cell)
            except ValueError:
                return row
        return None

    def numbers(self, column: str) -> list[Number]:
        """The numbers of a column; an error if a cell is not a number, or if numbers and booleans are mixed."""
        row = self.first_text(column)
        values = [self.number(cell) for cell in self.columns[column][:row]]
        if None in values:
            row = values.index(None)
        if row is not None:
            bound = " up to 2**53" if str(self.columns[column][row]).lstrip("+-").isdecimal() else ""
            raise InputError(
                f"{self.where(row)}: found {self.quoted(column, row)} in column {named(column)}, expected a "
                f"number{bound}"
            )
        kinds = [isinstance(value, bool) for value in values]
        if len(set(kinds)) > 1:
            row = kinds.index(not kinds[0])
            raise InputError(
                f"{self.where(row)}: found {self.quoted(column, row)} in column {named(column)}, expected "
                f"{'true or false' if kinds[0] else 'a number'} as in {self.place} {self.lines[0]}"
            )
        return [value for value in values if value is not None]

    def quoted(self, column: str, row: int) -> str:
        cell = self.columns[column][row]
        return "an empty cell" if cell in ("", None) else quoted(cell)


def read(
    path: AnyPath,
    *,
    id: str | None = None,  # noqa: A002
    columns: Names = None,
    metric: Names = None,
    lower_is_better: Names = None,
) -> tuple[SystemCounts, ...]:
    """Read a table of counts or scores with one row per segment, or one row per system, run and segment.

    The metrics are pairsig's own if all their columns are present (such as `correct` and `total` for accuracy).
    Otherwise, every numeric column is averaged and gives a metric with the name of the column (`mean` for a column
    `value`). The columns `document` and `domain` contain the document and the domain of a segment, the column `system`
    the system of a row, and the column `run` the label of its run, such as a training or a sampled output.

    Parameters
    ----------
    path
        A file that ends in `.tsv`, `.csv`, `.jsonl` (also with `.gz` or `.xz`, or in an archive; see
        `pairsig.readers`) or `.parquet`. Text is UTF-8; TSV and CSV begin with a line of column names.
    id
        Column with the ids of segments. Default: `segment`, or else `id`.
    columns
        Numeric columns to use; a sequence, or a text with commas.
    metric
        Metrics to use: names of pairsig's metrics, or columns to average; a sequence, or a text with commas.
    lower_is_better
        Averaged columns that are errors or costs; a sequence, or a text with commas.

    Returns
    -------
    Counts, one per system and run, in the order of the file. If all have the same segments, these are in the order of
    the first. A boolean column counts as 1 and 0. Notes report boolean columns and columns that are left out.

    Raises
    ------
    InputError
        With file and line (or row), for a wrong number of fields, invalid JSON, a missing id, an id that is repeated
        for a system and run, a system or run without a name, and, in a numeric column, for a cell that is missing, not
        finite, boolean among numbers, text (if the column was requested), or an integer beyond 2⁵³, which floats
        cannot represent exactly.
    """
    table = _read(fspath(path))
    key = _id_column(table, id)
    outputs = _outputs(table)
    segments = _segments(table, key, outputs)
    only, errors = _names(columns, "columns"), _names(lower_is_better, "lower_is_better")
    for name in (*only, *errors):
        if name not in table.columns:
            raise InputError(f"{table.path}: found no column {quoted(name)}, expected one of {listed(table.columns)}")
    usable = only or [name for name in table.columns if name not in (key, *_IDS, *KEYS)]
    notes: list[str] = []
    if asked := _names(metric, "metric"):
        metrics = [_metric(table, name, usable, errors) for name in asked]
    else:
        metrics, notes = _metrics(table, usable, errors, asked_for=bool(only))
    counts = {}
    for name in dict.fromkeys(column for chosen in metrics for column in chosen.columns):
        numbers = table.numbers(name)
        if any(isinstance(number, bool) for number in numbers):
            notes.append(f"{table.path}: true and false in column {named(name)} count as 1 and 0")
        counts[name] = to_array(numbers)
    documents, domains = (
        list(map(_label, table.columns.get(column, [""] * len(segments)))) for column in ("document", "domain")
    )
    positions: dict[tuple[str, str], list[int]] = {}
    for row, output in enumerate(outputs):
        positions.setdefault(output, []).append(row)
    first = {segments[row]: place for place, row in enumerate(next(iter(positions.values())))}
    found = []
    for (system, run), rows in positions.items():
        if {segments[row] for row in rows} == set(first):
            rows.sort(key=lambda row: first[segments[row]])
        found.append(
            SystemCounts(
                segments=tuple(segments[row] for row in rows),
                documents=tuple(documents[row] for row in rows),
                domains=tuple(domains[row] for row in rows),
                counts={name: values[rows] for name, values in counts.items()},
                metrics=tuple(metrics),
                notes=tuple(notes),
                source=table.path,
                lines=tuple(table.lines[row] for row in rows),
                place=table.place,
                alike=tuple(name for name in OF_THE_TEST_SET if name in counts),
                system=system,
                run=run,
            )
        )
    return tuple(found)


def _names(names: Names, option: str) -> list[str]:
    """Names in a sequence or in a text with commas, each of them once."""
    if names is None:
        return []
    found = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    for name in found:
        if found.count(name) > 1:
            raise InputError(f"option {option} contains {quoted(name)} twice, expected it once")
    return found


def _label(cell: Any) -> str:
    return "" if cell is None else str(cell)


# The meaning of columns.


def _id_column(table: _Table, name: str | None) -> str:
    for candidate in _IDS if name is None else (name,):
        if candidate in table.columns:
            return candidate
    expected = (
        "`segment` or `id`; otherwise name the column with --option id=COLUMN"
        if name is None
        else f"`{named(name)}` with the ids"
    )
    raise InputError(f"{table.path}: found the columns {listed(table.columns)}, expected {expected}")


def _outputs(table: _Table) -> list[tuple[str, str]]:
    """The system and the run of each row, "" if the table does not contain them."""
    cells = {}
    for column, what in (("system", "system"), ("run", "run")):
        labels = [_label(cell) for cell in table.columns.get(column, [])]
        # A completely empty column is allowed, as in the statistics of systems without runs.
        if any(labels) and not all(labels):
            where = table.where(labels.index(""))
            raise InputError(f"{where}: found no name of the {what}, expected one as in other rows")
        cells[column] = labels or [""] * len(table.lines)
    return list(zip(cells["system"], cells["run"], strict=True))


def _segments(table: _Table, key: str, outputs: Sequence[tuple[str, str]]) -> list[str]:
    segments = [_label(cell) for cell in table.columns[key]]
    several = len(set(outputs)) > 1
    first: dict[tuple[str, tuple[str, str]], int] = {}
    for row, segment in enumerate(segments):
        if not segment:
            raise InputError(f"{table.where(row)}: found no {key}, expected the id of the segment")
        before = first.setdefault((segment, outputs[row]), row)
        if before != row:
            of = "".join(
                f" of {what} {named(name)}"
                for what, name in zip(("system", "run"), outputs[row], strict=True)
                if name and several
            )
            raise InputError(
                f"{table.where(row)}: found segment {named(segment)}{of} again (first in {table.place} "
                f"{table.lines[before]}), expected it once"
            )
    return segments


def _metric(table: _Table, name: str, usable: Sequence[str], errors: Sequence[str]) -> Metric:
    """The metric that the user requested by `name`."""
    from pairsig.metrics.registry import METRICS  # imports tokenizers, which most tables do not need

    known = METRICS.get(name)
    if known is not None and set(known.columns) <= set(usable):
        return known
    if name in usable:
        return average(name, higher_is_better=name not in errors)
    expected = (
        f"{', '.join(known.columns)} for {name}"
        if known
        else f"the name of one of them, or of a metric, instead of {quoted(name)}"
    )
    raise InputError(f"{table.path}: found the columns {listed(usable)}, expected {expected}")


def _metrics(
    table: _Table, usable: Sequence[str], errors: Sequence[str], asked_for: bool
) -> tuple[list[Metric], list[str]]:
    """The metrics that can be computed, and notes on columns that are left out."""
    from pairsig.metrics.registry import METRICS

    # UAS, LAS and accuracy are the same function of the same columns; only the first is used.
    known: dict[Any, Metric] = {}
    for metric in METRICS.values():
        if metric.columns != ("value",) and set(metric.columns) <= set(usable):
            known.setdefault((metric.function, metric.columns), metric)
    needed = {column for metric in known.values() for column in metric.columns}
    rest = [name for name in usable if name not in needed]
    texts = {} if asked_for else {name: row for name in rest if (row := _text_row(table, name)) is not None}
    notes = [
        f"{table.where(row)}: column {named(name)} is left out; found {table.quoted(name, row)}, expected a number"
        for name, row in texts.items()
    ]
    numeric = [name for name in rest if name not in texts]
    if known:
        if numeric:
            notes.append(
                f"{table.path}: {listed(numeric)} left out, since there are counts for "
                f"{', '.join(metric.name for metric in known.values())}; request them with --option metric=NAME"
            )
        return list(known.values()), notes
    if not numeric:
        raise InputError(
            notes[0] if notes else f"{table.path}: found no column beside the ids, expected at least one with numbers"
        )
    return [
        METRICS["mean"] if name == "value" else average(name, higher_is_better=name not in errors) for name in numeric
    ], notes


def _text_row(table: _Table, name: str) -> int | None:
    """A row that shows that the column is not numeric: the first with text, or row 0 if no cell is a number."""
    row = table.first_text(name)
    if row is None and not any(table.number(cell) is not None for cell in table.columns[name]):
        return 0
    return row


# Files.


def _read(path: str) -> _Table:
    suffix = Path(path.removesuffix(".gz").removesuffix(".xz")).suffix
    if suffix in SEPARATORS:
        table = _read_separated(path, SEPARATORS[suffix])
    elif suffix in _JSON_LINES:
        table = _read_json_lines(path)
    elif path.endswith(".parquet"):
        table = _read_parquet(path)
    else:
        known = ", ".join((*SEPARATORS, *_JSON_LINES, ".parquet"))
        found = f"ends in {suffix}" if suffix else "has no suffix"
        raise InputError(f"{path} {found}, expected a table: {known}")
    if not table.lines:
        raise InputError(f"{path}: found no rows, expected one per segment")
    return table


def _read_separated(path: str, separator: str) -> _Table:
    rows, lines = [], []
    reader = csv.reader(open_text(path), delimiter=separator, strict=True)
    before = csv.field_size_limit(MAX_LINE)  # the default, 131,072 characters, is too short for some model answers
    try:
        header = next(reader, [])
        for row in reader:
            if row and len(row) != len(header):
                where = f"{path}, line {reader.line_num}"
                raise InputError(f"{where}: found {len(row)} fields, expected {len(header)} as in the header")
            if row:
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        where = f"{path}, line {reader.line_num}"
        raise InputError(f"{where}: found a damaged field ({error}), expected a valid table") from None
    finally:
        csv.field_size_limit(before)
    check_distinct(header, f"{path}, line 1")
    columns = {name: [row[index] for row in rows] for index, name in enumerate(header)}
    return _Table(path, columns, lines, "line", _number_of_text)


def _read_json_lines(path: str) -> _Table:
    items, lines = [], []
    for number, line in enumerate(text.read(path), start=1):
        if not line.strip():
            continue
        try:
            item = json.loads(line, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            found = f"invalid JSON ({reason(error)})"
            raise InputError(f"{path}, line {number}: found {found}, expected a JSON object") from None
        if not isinstance(item, dict):
            raise InputError(f"{path}, line {number}: found {quoted(line.strip())}, expected a JSON object")
        items.append(item)
        lines.append(number)
    names = dict.fromkeys(name for item in items for name in item)
    return _Table(path, {name: [item.get(name) for item in items] for name in names}, lines, "line", _number_of_value)


def _read_parquet(path: str) -> _Table:
    need("pyarrow")
    import pyarrow as pa

    data = content(path)
    try:
        file = open_parquet(pa.BufferReader(data), path)
        if file.metadata.num_rows > MAX_LINES or decoded_bytes(file, _CELL) > MAX_BYTES:
            raise InputError(
                f"{path}: found {file.metadata.num_rows:,} rows with {file.metadata.num_columns:,} columns, expected "
                f"at most {MAX_LINES:,} rows and {MAX_BYTES:,} bytes of memory"
            )
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        check_distinct(schema.names, path)
        description = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
        columns = {
            # Lists and structures are not numbers and may be huge when unpacked, so only their type is read.
            field.name: [str(field.type)] * n_rows
            if pa.types.is_nested(field.type)
            else _cells(file.read([field.name]).column(0))
            for field in schema
            # pandas stores row numbers as such columns.
            if field.name not in description or not field.name.startswith("__index_level_")
        }
    except InputError:
        raise
    except (OSError, ValueError, OverflowError, pa.ArrowException, AttributeError, TypeError) as error:
        raise InputError(f"{path}: cannot be read ({reason(error)}), expected a Parquet file") from None
    for name, cells in columns.items():
        if len(cells) != n_rows:
            raise InputError(
                f"{path}: found {len(cells):,} cells in column {quoted(name)}, expected {n_rows:,}, one per row"
            )
    return _Table(path, columns, list(range(1, n_rows + 1)), "row", _number_of_value)


def _cells(column: Any) -> list[Any]:
    """The cells of a pyarrow column; repeated texts share one object."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        found: list[Any] = column.to_pylist()
        return found
    cells = []
    for chunk in column.chunks:
        texts = [*chunk.dictionary.to_pylist(), None]
        cells += [texts[index] for index in chunk.indices.fill_null(len(texts) - 1).to_pylist()]
    return cells


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object without repeated names, of which Python would silently keep the last."""
    for name, times in Counter(name for name, _ in pairs).items():
        if times > 1:
            raise ValueError(f"the name {quoted(name)} twice")
    return dict(pairs)


def _number_of_text(cell: str) -> Number | None:
    cell = cell.strip()
    if cell in _MISSING:
        return None
    if cell in _TRUTHS:
        return _TRUTHS[cell]
    if not re.fullmatch(NUMBER, cell, re.ASCII):
        raise ValueError(cell)
    return to_number(cell)


def _number_of_value(cell: object) -> Number | None:
    if cell is None:
        return None
    if not isinstance(cell, int | float):  # a number in quotes is text
        raise ValueError(cell)
    return cell if fits(cell) else None


READER = Reader(
    read=read,
    content="TSV, CSV, JSONL or Parquet with a segment id and one column per score",
    metrics="means of the columns, or a metric from its counts",
    suffixes=(".tsv", ".csv"),
    recognizes=lambda file: file.data.startswith(b"PAR1") or _JSON_ROW.match(file.text) is not None,
    line=r"(?!(?:[^\t]*\t){5})[^\t,;]+(?:[\t,;][^\t,;]*)+",
    example=(
        '{"id": "q1", "correct": true, "score": 0.5, "answer": "a"}\n'
        '{"id": "q2", "correct": false, "score": 1, "other": [1]}\n'
        '{"id": "q3", "correct": true, "score": -2e3, "answer": null}\n'
    ),
    example_name="scores.jsonl",
)
