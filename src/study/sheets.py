"""Check the configuration and the sheets by their schemas (workflow/schemas): a mistake becomes one sentence.

The schemas are the only declaration of keys and columns. A message says where the mistake is, what was found, and what
the description in the schema says is expected. The module imports neither numpy nor pandas, because Snakemake reads the
sheets for every job.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import filter as matching
from pathlib import Path
from typing import Any, NoReturn

import yaml
from jsonschema import Draft202012Validator, ValidationError

Row = dict[str, Any]

KEYS = {
    "datasets": ("dataset",),
    "systems": ("dataset", "system"),
    "corpora": ("corpus",),
    "jars": ("jar",),
    "training_sets": ("training_set",),
    "base_models": ("base_model",),
    "calibrations": (
        "calibration", "distance", "on_dataset", "on_test_set", "against_dataset", "against_test_set",
    ),
    "families": ("family", "dataset", "test_set"),
    "published": ("item",),
}  # fmt: skip
"""The sheets, each with the columns that identify a row."""

YAML = ("training_sets", "base_models")
"""Sheets in YAML, because they contain commands and lists."""


ORDER = {"additionalProperties": 0, "required": 2}
"""Mistakes of these kinds are reported before and after all others: a misspelt name explains a missing one."""


class Mistake(Exception):
    """A mistake of the user, as a sentence."""


def refuse(place: str, found: str, expected: str) -> NoReturn:
    """Report a mistake."""
    raise Mistake(f"{place}: found {found}, expected {expected}")


def one_among(found: object, known: Iterable[object]) -> str:
    """List the known names, with the one that was probably meant; of many names, only that one."""
    names = [str(name) for name in known]
    return (f"one of {', '.join(names)}" if len(names) <= 20 else "a known name") + meant(found, names)


def meant(found: object, known: Iterable[object]) -> str:
    """Suggest the known name that is closest to a misspelt one."""
    nearest = get_close_matches(str(found).lower(), list(map(str, known)), n=1)
    return f", did you mean {nearest[0]}?" if nearest else ""


def read_schema(path: Path) -> Draft202012Validator:
    """Read a schema."""
    return Draft202012Validator(yaml.safe_load(path.read_text(encoding="utf-8")))


def typed(value: Any, schema: Mapping[str, Any]) -> Any:
    """Convert text to what the schema says: cells of YAML sheets, and values in `--config 'resampling={seed: 3}'`."""
    if isinstance(value, dict):
        known: Mapping[str, Any] = schema.get("properties", {})
        others: Mapping[str, Any] = next(iter(schema.get("patternProperties", {}).values()), {})
        return {key: typed(inner, known.get(key, others)) for key, inner in value.items()}
    kind, text = schema.get("type"), value if isinstance(value, str) else ""
    if kind == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    if kind == "number" and re.fullmatch(r"-?\d*\.?\d+", text):
        return float(text)
    return text == "true" if kind == "boolean" and text in ("true", "false") else value


def complete(value: Row, schema: Mapping[str, Any]) -> Row:
    """Fill in the defaults of a schema, down to the innermost keys."""
    for key, of_key in schema.get("properties", {}).items():
        if "default" in of_key:
            value.setdefault(key, of_key["default"])
        if isinstance(value.get(key), dict):
            value[key] = complete({**value[key]}, of_key)
    return value


def check(value: Row, validator: Draft202012Validator, place: Callable[[Sequence[str]], str]) -> Row:
    """Check a configuration or a row, and fill in what it leaves out."""
    value = typed(value, validator.schema)
    for error in sorted(validator.iter_errors(value), key=lambda error: ORDER.get(error.validator, 1)):
        _explain(error, validator.schema, place)
    return complete(value, validator.schema)


def _explain(error: ValidationError, schema: Mapping[str, Any], place: Callable[[Sequence[str]], str]) -> NoReturn:
    """Report an error; what is expected is the description of the innermost key that has one."""
    path, found, known = [*map(str, error.path)], error.instance, schema.get("properties", {})
    expected = str(schema["description"])
    inner: Mapping[str, Any] = schema
    for step in path:
        inner = inner.get("properties", {}).get(step) or inner.get("additionalProperties") or inner.get("items") or {}
        inner = inner if isinstance(inner, dict) else {}
        expected = str(inner.get("description", expected))
    if error.validator == "additionalProperties":
        inside = error.schema.get("properties", {})
        patterns = error.schema.get("patternProperties", {})
        name = next(name for name in found if not (name in inside or any(re.search(p, name) for p in patterns)))
        refuse(place(path), f"the unknown name {name!r}", one_among(name, inside) if inside else expected)
    if error.validator == "required":
        name = next(name for name in error.validator_value if name not in found)
        refuse(place([*path, name]), "nothing", str(inner["properties"][name]["description"]))
    if error.validator == "oneOf" and not path:
        both = "train" in found and "members" in found
        refuse(place(["train"]), repr(found["train"]) if both else "nothing", str(known["train"]["description"]))
    if error.validator == "enum":
        refuse(place(path), repr(found), one_among(found, error.validator_value))
    refuse(place(path), repr(found) if found != "" else "nothing", expected)


def check_config(config: Row, validator: Draft202012Validator) -> Row:
    """Check the configuration."""
    return check(config, validator, lambda path: ": ".join(["config", *path]))


class Sheet(dict[str, Row]):
    """The rows of a sheet by name (the last of the columns that identify them, or several joined by spaces)."""

    def __init__(self, name: str, validator: Draft202012Validator, folders: Sequence[str]) -> None:
        super().__init__()
        self.name, self.places = name, dict[str, str]()
        suffix, rows = (".yaml", _yaml_rows) if name in YAML else (".tsv", _table_rows)
        for path in [Path(folder, name + suffix) for folder in folders]:
            for place, row in _decoded(path, rows(path, validator, KEYS[name])) if path.is_file() else ():
                key = " ".join(row[column] for column in KEYS[name])
                if key in self:
                    refuse(place, f"{key} again", f"it once: it is in {self.places[key]}")
                self[key], self.places[key] = row, place

    def refuse(self, key: str, column: str, found: str, expected: str) -> NoReturn:
        """Report a mistake in a cell."""
        refuse(f"{self.places[key]}, {'key' if self.name in YAML else 'column'} {column}", found, expected)

    def check_names(self, key: str, column: str, names: Iterable[str], known: Iterable[str], what: str) -> None:
        """Refuse the first name in a cell that is not known."""
        for name in names:
            if name not in known:
                self.refuse(key, column, repr(name), f"{what}{meant(name, known)}")


def _decoded(path: Path, rows: Iterator[tuple[str, Row]]) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a sheet, in UTF-8."""
    try:
        yield from rows
    except UnicodeDecodeError as error:
        refuse(str(path), f"the byte {error.object[error.start]:#x}", "text in UTF-8")


def _table_rows(path: Path, validator: Draft202012Validator, _: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Read a tab-separated sheet; an empty cell has the default of its column."""
    known = validator.schema["properties"]
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        header = next(lines, [])
        for column in header:
            if column not in known:
                refuse(f"{path}, line 1", f"the unknown column {column!r}", one_among(column, known))
            if header.count(column) > 1:
                refuse(f"{path}, line 1", f"the column {column!r} again", "it once")
        for column in validator.schema["required"]:
            if column not in header:
                refuse(f"{path}, line 1", f"no column {column!r}", "one")
        for number, cells in enumerate(lines, start=2):
            place = f"{path}, line {number}"
            if not any(cells):
                continue
            if len(cells) != len(header):
                refuse(place, f"{len(cells)} cells", f"{len(header)} as in line 1")
            row = {column: cell for column, cell in zip(header, cells, strict=True) if cell}
            yield place, check(row, validator, lambda path, place=place: ", column ".join([place, *path]))  # type: ignore[misc]


def _yaml_rows(path: Path, validator: Draft202012Validator, key: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Read a sheet in YAML, which maps names of rows to their columns; every scalar is text (`no` is "no")."""
    (name,) = key
    try:
        root = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=yaml.BaseLoader)
        rows = yaml.load(path.read_text(encoding="utf-8-sig"), Loader=yaml.BaseLoader) or {}
    except yaml.YAMLError as error:
        refuse(str(path), " ".join(str(error).split()), "YAML")
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        refuse(str(path), "other rows", f"the name of a {name.replace('_', ' ')}, a colon, and below it its keys")
    for title, _ in root.value if root else ():
        place = f"{path}, line {title.start_mark.line + 1}, {name.replace('_', ' ')} {title.value}"
        row = {name: title.value, **{column: cell for column, cell in rows[title.value].items() if cell != ""}}
        yield place, check(row, validator, lambda path, place=place: ", key ".join([place, *path[:1]]))  # type: ignore[misc]


def pairs(cell: str | Mapping[str, str]) -> dict[str, str]:
    """Read KEY=VALUE words of a cell, or keys in YAML.

    >>> pairs("skip_lines=1 tokenize=zh")
    {'skip_lines': '1', 'tokenize': 'zh'}
    """
    return dict(word.split("=", 1) for word in cell.split()) if isinstance(cell, str) else dict(cell)


def jars_of(base_model: Row) -> list[str]:
    """Names of the Java libraries that a base model needs."""
    return [need.removeprefix("jar:") for need in base_model["needs"] if need.startswith("jar:")]


def read(folders: Sequence[str], schemas: Callable[[str], Draft202012Validator]) -> dict[str, Sheet]:
    """Read all sheets in some folders, whose rows are added up, and check them against each other."""
    for folder in folders:
        if not Path(folder).is_dir():
            refuse("config: sheets", repr(folder), "a folder with sheets")
    sheets = {name: Sheet(name, schemas(name), folders) for name in KEYS}
    for key, row in sheets["systems"].items():  # before systems are counted, since a misspelt dataset lacks them
        sheets["systems"].check_names(key, "dataset", [row["dataset"]], sheets["datasets"], "a name in datasets.tsv")
    _check_datasets(sheets)
    _check_systems(sheets)
    _check_training(sheets)
    _check_analyses(sheets)
    return sheets


def _check_datasets(sheets: Mapping[str, Sheet]) -> None:
    datasets, corpora = sheets["datasets"], sheets["corpora"]
    for name, row in datasets.items():
        if "corpus" not in row and "pool" not in row:  # only own datasets: it imports numpy
            from pairsig.metrics.registry import METRICS

            datasets.check_names(name, "metric", [row["metric"]], METRICS, "a metric")
        datasets.check_names(
            name, "corpus", [row["corpus"]] if "corpus" in row else [], corpora, "a name in corpora.tsv"
        )
        datasets.check_names(name, "overlay", row.get("overlay", "").split(), datasets, "a name in datasets.tsv")
        members = row.get("pool", "").split()
        datasets.check_names(name, "pool", members, datasets, "names in datasets.tsv")
        for column in ("corpus", "reference", "text") if members else ():
            if column in row:
                datasets.refuse(name, column, repr(row[column]), "nothing, since the dataset is a pool")
        for member in members:
            if (other := datasets[member])["metric"] != row["metric"] or "pool" in other:
                datasets.refuse(name, "pool", member, f"datasets with the metric {row['metric']} that are no pools")
        if len(members) == 1 or len(set(members)) < len(members):
            datasets.refuse(name, "pool", repr(row["pool"]), "at least two datasets, each once")
        made = pairs(row.get("test_sets", ""))
        if "shuffle" in made and "initial" not in made:
            datasets.refuse(name, "test_sets", "'shuffle'", "initial too, because shuffle is their order")
    known = [name.partition(" ")[0] for name in sheets["systems"]]
    for name, row in datasets.items():
        own_systems = "corpus" not in row and "pool" not in row and row["study"] == "natural" and "text" not in row
        if own_systems and (number := known.count(name)) < 2:
            datasets.refuse(name, "dataset", f"{number} of its systems in systems.tsv", "at least two")


def _check_systems(sheets: Mapping[str, Sheet]) -> None:
    datasets, systems = sheets["datasets"], sheets["systems"]
    first: dict[tuple[str, ...], str] = {}
    for name, row in systems.items():
        dataset = datasets[row["dataset"]]
        if row["include"] == "no":
            continue
        output = (row["dataset"], row["output"], row.get("options", ""))
        if first.setdefault(output, name) != name:
            where = systems.places[first[output]]
            systems.refuse(name, "output", repr(row["output"]), f"another file: it is an output in {where}")
        if not ("reference" in row or "reference" in dataset or dataset.get("reader") == "table"):
            systems.refuse(name, "reference", "nothing here or in its dataset", "reference files")
        if "reference" in row and "reference" in dataset:  # gains would be of the references, too
            systems.refuse(name, "reference", repr(row["reference"]), "nothing, since its dataset has a reference")


def _check_training(sheets: Mapping[str, Sheet]) -> None:
    datasets, training_sets, base_models = sheets["datasets"], sheets["training_sets"], sheets["base_models"]
    for name, row in training_sets.items():
        of_task = [model for model, other in base_models.items() if other["task"] == row["task"]]
        tested = [
            dataset
            for dataset, other in datasets.items()
            if other["study"] == "synthetic" and "text" in other and other["task"] == row["task"]
        ]
        corpus = [row["corpus"]] if "corpus" in row else []
        training_sets.check_names(name, "corpus", corpus, sheets["corpora"], "a name in corpora.tsv")
        training_sets.check_names(name, "datasets", row["datasets"], tested, f"synthetic datasets of {row['task']}")
        training_sets.check_names(name, "unlabelled", row["unlabelled"], row["datasets"], "names in its key datasets")
        training_sets.check_names(name, "base_models", row["base_models"], of_task, f"base models of {row['task']}")
        for model, other in row["given"].items():
            training_sets.check_names(name, "given", [model], of_task, f"a base model of {row['task']}")
            training_sets.check_names(name, "given", [other], training_sets.keys() - {name}, "another training set")
    for name, row in base_models.items():
        trained = [
            model
            for model, other in base_models.items()
            if "train" in other and other["task"] == row["task"] and other["include"] != "no"
        ]
        members = row["members"] if row["include"] != "no" else []
        base_models.check_names(name, "members", members, trained, f"trained base models of {row['task']}")
        base_models.check_names(name, "needs", jars_of(row), sheets["jars"], "a name in jars.tsv")
        base_models.check_names(name, "datasets", row["datasets"], datasets, "names in datasets.tsv")
        for column, placeholders in PLACEHOLDERS.items():
            used = re.findall(r"\{(\w+)\}", row.get(column, ""))
            base_models.check_names(name, column, used, placeholders, f"one of {{{'}, {'.join(placeholders)}}}")


def _check_analyses(sheets: Mapping[str, Sheet]) -> None:
    """Refuse datasets and calibrations that the sheets of analyses name and that do not exist."""
    datasets, published = sheets["datasets"], sheets["published"]
    calibrations = dict.fromkeys(row["calibration"] for row in sheets["calibrations"].values())
    for name, row in published.items():
        kind, *address = row.get("compared_with", "").split(":")
        if kind in ("threshold", "printed", "pairs"):
            published.check_names(name, "compared_with", address[:1], datasets, "a name in datasets.tsv")
        if kind == "share":
            published.check_names(name, "compared_with", address[:1], calibrations, "a name in calibrations.tsv")
    named = {"calibrations": ("on_dataset", "against_dataset"), "families": ("dataset",)}
    for sheet, columns in named.items():
        for name, row in sheets[sheet].items():
            patterns = {column: row[column].split() for column in columns if row[column] != "="}
            for column, of_column in patterns.items():
                if unmatched := [pattern for pattern in of_column if not matching(datasets, pattern)]:
                    expected = f"names in datasets.tsv, or patterns of them{meant(unmatched[0], datasets)}"
                    sheets[sheet].refuse(name, column, repr(unmatched[0]), expected)


PLACEHOLDERS = {
    "train": ("train", "model", "seed", "given", "jars", "threads"),
    "predict": ("input", "output", "outputs", "model", "given", "jars", "threads"),
}
"""Placeholders in the commands of a base model."""
