"""Tables of counts or scores, a row a segment: TSV, CSV, JSONL or Parquet."""

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

from pairsig.errors import InputError, listed, named, quoted, reason
from pairsig.files import MAX_BYTES, MAX_LINE, MAX_LINES, AnyPath, content, open_text
from pairsig.metrics import Metric
from pairsig.readers import text
from pairsig.readers.counted import NUMBER, Counted, average, fits, to_array, to_number
from pairsig.statistics import KEYS, OF_THE_TEST_SET
from pairsig.tables import SEPARATORS, decoded_bytes, open_parquet

_IDS = ("segment", "id")
_JSON_LINES = (".jsonl", ".ndjson")
_TRUTHS = {"true": True, "True": True, "false": False, "False": False}
_MISSING = frozenset({"", "nan", "NaN", "NA", "null", "None"})
_CELL = 32
"""Bytes of memory that a number takes, with the place in a list where it is."""

Names = str | Sequence[str] | None
Number = int | float | bool


@dataclass(frozen=True)
class _Table:
    """Cells by column as the file has them, and where each row is."""

    path: str
    columns: dict[str, list[Any]]
    lines: list[int]
    place: str
    number: Callable[[Any], Number | None]
    """The number a cell is; None for one that is missing or does not `fit`; ValueError for text."""

    def where(self, row: int) -> str:
        return f"{self.path}, {self.place} {self.lines[row]}"

    def first_text(self, column: str) -> int | None:
        """The first row whose cell is text."""
        for row, cell in enumerate(self.columns[column]):
            try:
                self.number(cell)
            except ValueError:
                return row
        return None

    def numbers(self, column: str) -> list[Number]:
        """The numbers of a column: all of them, and all of a kind."""
        row = self.first_text(column)
        values = [self.number(cell) for cell in self.columns[column][:row]]
        if None in values:
            row = values.index(None)
        if row is not None:
            bound = " up to 2**53" if str(self.columns[column][row]).lstrip("+-").isdecimal() else ""
            raise InputError(
                f"{self.where(row)}: found {self.told(column, row)} in column {named(column)}, expected a number{bound}"
            )
        kinds = [isinstance(value, bool) for value in values]
        if len(set(kinds)) > 1:
            row = kinds.index(not kinds[0])
            raise InputError(
                f"{self.where(row)}: found {self.told(column, row)} in column {named(column)}, expected "
                f"{'true or false' if kinds[0] else 'a number'} as in {self.place} {self.lines[0]}"
            )
        return [value for value in values if value is not None]

    def told(self, column: str, row: int) -> str:
        cell = self.columns[column][row]
        return "nothing" if cell in ("", None) else quoted(cell)


def read(
    path: AnyPath,
    *,
    id: str | None = None,  # noqa: A002
    columns: Names = None,
    metric: Names = None,
    lower_is_better: Names = None,
) -> tuple[Counted, ...]:
    """Counts or scores of a table with one row a segment, or with one a system, run and segment.

    The metrics are those of pairsig whose columns are all there (`correct` and `total`: accuracy); where there
    are none, the mean of every column of numbers, in its own unit and under its own name (`mean` for a column
    `value`). The columns `document` and `domain` say to which of either a segment belongs, a column `system` to which
    system a row, and a column `run` to which of its runs: a training, or one of several outputs that were sampled.

    Parameters
    ----------
    path
        A file that ends in `.tsv`, `.csv` or `.jsonl` (or with `.gz` or `.xz` behind it, or in an archive; see
        `pairsig.readers`) or in `.parquet`. Text is UTF-8; TSV and CSV begin with a line of column names.
    id
        Column with the segments' ids. None: `segment`, or else `id`.
    columns
        Only these columns of numbers; a sequence, or text with commas.
    metric
        Only these metrics, a sequence or text with commas: names of pairsig's, or columns to be averaged.
    lower_is_better
        Columns to be averaged that are errors or costs; a sequence, or text with commas.

    Returns
    -------
    Counts, one for each system and run, in the order in which the file has them; the segments of all are in the order
    of the first, if they are the same. A column of true and false, as logs have it for passed and failed, counts as 1
    and 0, with a note; so has every column left out.

    Raises
    ------
    InputError
        With file and line (or row): fields that are too many or too few, bad JSON, an id that is missing or comes
        again in the same system and run, a system or run without name, and in a column of numbers a cell that is
        missing, not finite, true or false (or text, where the column is asked for), or a whole number beyond 2⁵³,
        which no float holds.
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
            Counted(
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
    """Names given as a sequence or as text with commas, each once."""
    if names is None:
        return []
    found = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    for name in found:
        if found.count(name) > 1:
            raise InputError(f"option {option} has {quoted(name)} twice, expected it once")
    return found


def _label(cell: Any) -> str:
    return "" if cell is None else str(cell)


# Which column is what.


def _id_column(table: _Table, name: str | None) -> str:
    for candidate in _IDS if name is None else (name,):
        if candidate in table.columns:
            return candidate
    expected = "`segment` or `id`, or the option id" if name is None else f"`{named(name)}` with the ids"
    raise InputError(f"{table.path}: found the columns {listed(table.columns)}, expected {expected}")


def _outputs(table: _Table) -> list[tuple[str, str]]:
    """The system and the run of each row, "" where the table does not say."""
    cells = {}
    for column, what in (("system", "system"), ("run", "run")):
        labels = [_label(cell) for cell in table.columns.get(column, [])]
        # A column of which all cells are empty says nothing, as in the statistics of systems without runs.
        if any(labels) and not all(labels):
            raise InputError(f"{table.where(labels.index(''))}: found no {what}, expected its name, as in other rows")
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
                f"{table.lines[before]}), expected every segment once"
            )
    return segments


def _metric(table: _Table, name: str, usable: Sequence[str], errors: Sequence[str]) -> Metric:
    """The metric that is asked for by `name`."""
    from pairsig.metrics.registry import METRICS  # not every table needs the tokenizers it imports

    known = METRICS.get(name)
    if known is not None and set(known.columns) <= set(usable):
        return known
    if name in usable:
        return average(name, higher_is_better=name not in errors)
    expected = f"{', '.join(known.columns)} for {name}" if known else f"a metric or a column instead of {quoted(name)}"
    raise InputError(f"{table.path}: found the columns {listed(usable)}, expected {expected}")


def _metrics(
    table: _Table, usable: Sequence[str], errors: Sequence[str], asked_for: bool
) -> tuple[list[Metric], list[str]]:
    """The metrics that can be computed, and notes on the columns left out."""
    from pairsig.metrics.registry import METRICS

    # UAS and LAS are functions of the same columns as accuracy: the first stands for all.
    known: dict[Any, Metric] = {}
    for metric in METRICS.values():
        if metric.columns != ("value",) and set(metric.columns) <= set(usable):
            known.setdefault((metric.function, metric.columns), metric)
    needed = {column for metric in known.values() for column in metric.columns}
    rest = [name for name in usable if name not in needed]
    texts = {} if asked_for else {name: row for name in rest if (row := _text_row(table, name)) is not None}
    notes = [
        f"{table.where(row)}: column {named(name)} is left out, found {table.told(name, row)}, expected a number"
        for name, row in texts.items()
    ]
    numeric = [name for name in rest if name not in texts]
    if known:
        if numeric:
            notes.append(
                f"{table.path}: {listed(numeric)} left out, since there are counts of "
                f"{', '.join(metric.name for metric in known.values())}; the option metric asks for them"
            )
        return list(known.values()), notes
    if not numeric:
        raise InputError(notes[0] if notes else f"{table.path}: found no column beside the ids, expected numbers")
    return [
        METRICS["mean"] if name == "value" else average(name, higher_is_better=name not in errors) for name in numeric
    ], notes


def _text_row(table: _Table, name: str) -> int | None:
    """A row that shows that the column holds text: one with text, or the first if no cell is a number."""
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
        raise InputError(f"{path}: found a file that ends in {suffix or 'nothing'}, expected a table: {known}")
    if not table.lines:
        raise InputError(f"{path}: found no rows, expected one a segment")
    return table


def _read_separated(path: str, separator: str) -> _Table:
    rows, lines = [], []
    reader = csv.reader(open_text(path), delimiter=separator, strict=True)
    before = csv.field_size_limit(MAX_LINE)  # 131,072 characters otherwise: a long answer of a language model
    try:
        header = next(reader, [])
        for row in reader:
            if row and len(row) != len(header):
                raise InputError(f"{path}, line {reader.line_num}: found {len(row)} fields, expected {len(header)}")
            if row:
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: found a damaged field ({error}), expected a table") from None
    finally:
        csv.field_size_limit(before)
    _check_header(path, header, ", line 1")
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
            raise InputError(f"{path}, line {number}: found no JSON ({reason(error)}), expected an object") from None
        if not isinstance(item, dict):
            raise InputError(f"{path}, line {number}: found {quoted(line.strip())}, expected a JSON object")
        items.append(item)
        lines.append(number)
    names = dict.fromkeys(name for item in items for name in item)
    return _Table(path, {name: [item.get(name) for item in items] for name in names}, lines, "line", _number_of_value)


def _read_parquet(path: str) -> _Table:
    import pyarrow as pa

    data = content(path)
    try:
        file = open_parquet(pa.BufferReader(data), path)
        if file.metadata.num_rows > MAX_LINES or decoded_bytes(file, _CELL) > MAX_BYTES:
            raise InputError(
                f"{path}: found {file.metadata.num_rows:,} rows of {file.metadata.num_columns:,} columns, too many to "
                f"be read, expected {MAX_LINES:,} rows and {MAX_BYTES:,} bytes of memory at most"
            )
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        _check_header(path, schema.names, "")
        told = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
        columns = {
            # Lists and structures are no numbers, and may unpack to anything: of these the type is enough.
            field.name: [str(field.type)] * n_rows
            if pa.types.is_nested(field.type)
            else _cells(file.read([field.name]).column(0))
            for field in schema
            # Rows' numbers, which pandas has put there.
            if field.name not in told or not field.name.startswith("__index_level_")
        }
    except InputError:
        raise
    except (OSError, ValueError, OverflowError, pa.ArrowException, AttributeError, TypeError) as error:
        raise InputError(f"{path}: cannot be read ({reason(error)}), expected a Parquet file") from None
    for name, cells in columns.items():
        if len(cells) != n_rows:
            raise InputError(f"{path}: found {len(cells):,} cells in column {quoted(name)}, expected {n_rows:,}")
    return _Table(path, columns, list(range(1, n_rows + 1)), "row", _number_of_value)


def _cells(column: Any) -> list[Any]:
    """The cells of a column of pyarrow; a text that comes again is the same object."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        found: list[Any] = column.to_pylist()
        return found
    cells = []
    for chunk in column.chunks:
        texts = [*chunk.dictionary.to_pylist(), None]
        cells += [texts[index] for index in chunk.indices.fill_null(len(texts) - 1).to_pylist()]
    return cells


def _check_header(path: str, header: Sequence[str], where: str) -> None:
    for name, times in Counter(header).items():
        if times > 1:
            raise InputError(f"{path}{where}: found column {quoted(name)} twice, expected different names")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; Python would take the last of several values for a name."""
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
    if not isinstance(cell, int | float):  # numbers in quotes are text: who wrote them meant no number
        raise ValueError(cell)
    return cell if fits(cell) else None
