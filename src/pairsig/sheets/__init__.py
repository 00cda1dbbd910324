"""Config and sheets of the workflow, checked before the first job.

Every complaint is one sentence that names the sheet, the line, the column, what was found and what was expected.
What comes out is ready for the rules: paths are joined, cells that hold lists are lists, and what the commands take
as options is spelled as options.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from pairsig.choices import near, one_of, sort_options
from pairsig.errors import InputError, named, quoted, reason
from pairsig.extraction import functions
from pairsig.metrics.registry import METRICS
from pairsig.readers import READERS
from pairsig.sheets import checks, synthetic
from pairsig.sheets.checks import complain, split

SHEETS = (
    "datasets",
    "systems",
    "corpora",
    "training_sets",
    "base_models",
    "jars",
    "calibrations",
    "published",
)
STATISTICS = Path("resources/statistics")
"""Where the embedded statistics lie."""

_NUMBER = "[1-9][0-9]{0,8}"

TEST_SETS = {
    "initial": f"doubling:{_NUMBER}|{_NUMBER}(,{_NUMBER})*",
    "domain_size": _NUMBER,
    "draws": _NUMBER,
    "draw_size": _NUMBER,
    "halves": _NUMBER,
}
"""What `pairsig resize` can make of a test set, and how its value looks."""

NAMES = {
    "whole": r"whole",
    "initial": r"first-[\d*]+",
    "domain_size": r".+-first-[\d*]+",
    "draws": r"draw-[\d*]+",
    "halves": r"half-[\d*]+",
}
"""What the test sets are called that it makes; `*` stands for anything."""

COUNTING = ("pairsig", "sacrebleu", "rouge-score")
"""Packages whose version can change the counts; provenance names them."""

KEYS = {
    "datasets": ("dataset",),
    "systems": ("dataset", "system"),
    "corpora": ("corpus",),
    "training_sets": ("training_set",),
    "base_models": ("base_model",),
    "jars": ("jar",),
    "calibrations": (
        "calibration", "distance", "on_dataset", "on_test_set", "against_dataset", "against_test_set",
    ),
    "published": ("item",),
}  # fmt: skip
"""Columns whose cells, taken together, are unique in a sheet."""

LISTS = {
    checks.words: (
        ("datasets", "reference", "text", "pool", "figures"),
        ("systems", "reference"),
        ("training_sets", "files", "base_models", "datasets", "unlabelled"),
        ("base_models", "members", "needs", "datasets"),
    ),
    checks.pairs: (
        ("datasets", "selection", "options", "test_sets"),
        ("systems", "options"),
        ("training_sets", "selection", "options", "sizes"),
        ("base_models", "sizes"),
    ),
    checks.paths: (
        ("datasets", "reference", "text", "documents"),
        ("systems", "reference", "output"),
        ("training_sets", "files"),
    ),
}
"""Sheet and columns whose cells are lists, by what checks a cell: nothing in a list counts twice."""

LINKS = (
    ("datasets", "corpus", "corpora"),
    ("datasets", "overlay", "datasets"),
    ("systems", "dataset", "datasets"),
    ("training_sets", "corpus", "corpora"),
    ("calibrations", "on_dataset", "datasets"),
    ("calibrations", "against_dataset", "datasets"),
)
"""Sheet, column, and the other sheet whose key its cells name."""

FIGURES = {"gain_confidence": None, "similarity": None, "sizes": "initial", "domains": "domain_size"}
"""Figures of one dataset, and the test sets they need."""


@dataclass(frozen=True)
class Study:
    """The sheets of a study, checked and ready for the rules.

    Attributes
    ----------
    datasets
        By dataset: `metric`, `source` (embedded, derived or pool), `selected` (is it part of this run?), `systems`,
        `pool` and `overlay` (names), `test_sets` (options of `pairsig resize`), `figures` (names), `provenance`
        (options of `pairsig collect`).
    systems
        By dataset and system, those included only: `output`, `reference` (paths), `metric`, `options` (of
        `pairsig extract`), `files` (what is read, archives instead of their members), `corpora` (none or one).
    corpora
        As they are written. Calibrations and published numbers are checked here, and read by the commands that use
        them.
    synthetic
        What trains and predicts the synthetic systems.
    """

    datasets: pd.DataFrame
    systems: pd.DataFrame
    corpora: pd.DataFrame
    synthetic: synthetic.Synthetic


def check_config(config: dict[str, Any], schemas: Path) -> None:
    """Check the config and fill in its defaults, in place."""
    schema = _schema(schemas, "config")
    _fill(config, schema)
    for error in _errors(config, _VALIDATOR(schema)):
        raise InputError(f"config: {_sentence(error, schema)}")
    window = config["thresholds"]
    if window["p_low"] > window["p_high"]:
        raise InputError(
            f"config: thresholds.p_low: found {window['p_low']}, expected no more than p_high, {window['p_high']}"
        )
    for key, path in (("data_dir", config["data_dir"]), *((f"sheets.{key}", config["sheets"][key]) for key in SHEETS)):
        if re.search(r"[{}\x00-\x1f]", path) or not path:
            raise InputError(f"config: {key}: found {quoted(path)}, expected a path without braces")


def read(config: Mapping[str, Any], schemas: Path) -> Study:
    """The sheets named in a checked config, checked row by row and against each other."""
    paths = {name: str(config["sheets"][name]) for name in SHEETS}
    tables = {name: _read(path, _schema(schemas, name)) for name, path in paths.items()}
    datasets, corpora = tables["datasets"], tables["corpora"]
    for name, keys in KEYS.items():
        checks.unique(tables[name], paths[name], keys)
    for check, sheets in LISTS.items():
        for name, *columns in sheets:
            for column in columns:
                for line, cell in tables[name][column].items():
                    check(paths[name], int(str(line)), column, cell)
    for name, column, other in LINKS:
        checks.known(tables[name], paths[name], column, list(tables[other][KEYS[other][-1]]), paths[other])

    _check_datasets(datasets, paths["datasets"])
    _check_options(tables, paths)
    synthetic.check(tables, paths)
    made = synthetic.expand(tables, config)
    included = tables["systems"][tables["systems"]["include"] == "yes"]
    sources = {row.dataset: _source(row, config) for row in datasets.itertuples()}
    selected = _selected(datasets, config["datasets"], sources)
    members = datasets["pool"][datasets["dataset"].isin(selected)].str.split().explode()
    needed = selected | set(members)
    ready = _ready_systems(included, datasets, str(config["data_dir"]))
    _check_numbers(datasets, included, paths)
    _check_calibrations(tables["calibrations"], datasets, paths)
    _check_files(datasets, ready, included.index, sources, needed, paths)
    training = made.test_sets["training_set"].to_dict() if len(made.test_sets) else {}
    synthetic.check_needs(
        tables, paths, {training[name] for name in needed & training.keys() if sources[name] == "derived"}
    )
    systems = pd.concat([ready, _ready_predictions(made, datasets)])
    return Study(
        datasets=_ready_datasets(datasets, corpora, systems, sources, selected, made.provenance),
        systems=systems,
        corpora=corpora,
        synthetic=made,
    )


# What a row says, on its own and beside the others.


def _check_datasets(datasets: pd.DataFrame, sheet: str) -> None:
    """What a schema cannot say about a row of the datasets."""
    rows = {row.dataset: row for row in datasets.itertuples()}
    for row in rows.values():
        if row.metric not in METRICS:
            complain(sheet, row.Index, "metric", quoted(row.metric), one_of(row.metric, METRICS))
        if row.reader and row.reader not in READERS:
            complain(sheet, row.Index, "reader", quoted(row.reader), one_of(row.reader, READERS))
        for member in row.pool.split():
            if member not in rows or rows[member].pool:
                expected = "datasets of this sheet that are no pools themselves"
                complain(sheet, row.Index, "pool", quoted(member), expected)
            if rows[member].metric != row.metric:
                found = f"{member}, whose metric is {rows[member].metric}"
                complain(sheet, row.Index, "pool", found, f"datasets with the metric {row.metric}")
        test_sets = dict(split(row.test_sets))
        for key, value in test_sets.items():
            if key not in TEST_SETS or not re.fullmatch(TEST_SETS[key], value):
                expected = f"{', '.join(TEST_SETS)} with a number each"
                complain(sheet, row.Index, "test_sets", quoted(f"{key}={value}"), expected)
        for figure in row.figures.split():
            if figure not in FIGURES:
                complain(sheet, row.Index, "figures", quoted(figure), one_of(figure, FIGURES))
            if (needs := FIGURES[figure]) and needs not in test_sets:
                complain(sheet, row.Index, "figures", figure, f"{needs} in the column test_sets too")


def _check_options(tables: Mapping[str, pd.DataFrame], paths: Mapping[str, str]) -> None:
    """The reader and the metric of a dataset fit each other, and have the options that its rows give them."""
    readers = {}
    sheet = paths["datasets"]
    for row in tables["datasets"].itertuples():
        if row.pool:
            continue
        with checks.cell(sheet, row.Index, "metric"):
            name, read, count = functions(METRICS[row.metric], row.reader or None)
        with checks.cell(sheet, row.Index, "options"):
            sort_options(dict(split(row.options)), f"reader {name} and metric {row.metric}", read, count)
        readers[row.dataset] = name, read
    sheet = paths["systems"]
    for row in tables["systems"].itertuples():
        if row.dataset not in readers:
            complain(sheet, row.Index, "dataset", f"the pool {row.dataset}", "a dataset that has files of its own")
        name, read = readers[row.dataset]
        with checks.cell(sheet, row.Index, "options"):
            sort_options(dict(split(row.options)), f"reader {name}", read)


def _check_numbers(datasets: pd.DataFrame, included: pd.DataFrame, paths: Mapping[str, str]) -> None:
    """Every dataset but pools and synthetic ones has at least two systems to compare."""
    numbers = included["dataset"].value_counts()
    for row in datasets[(datasets["pool"] == "") & (datasets["study"] == "natural")].itertuples():
        number = int(numbers.get(row.dataset, 0))
        if number < 2:
            found = f"{row.dataset} has {number} system{'s' * (number != 1)} in {paths['systems']}"
            complain(paths["datasets"], row.Index, "dataset", found, "at least two")


def _check_calibrations(calibrations: pd.DataFrame, datasets: pd.DataFrame, paths: Mapping[str, str]) -> None:
    """The test sets of the calibrations are made."""
    made = {row.dataset: dict(split(row.test_sets)) for row in datasets.itertuples()}
    for line, cells in calibrations.to_dict("index").items():
        for side in ("on", "against"):
            dataset, test_set = cells[f"{side}_dataset"], cells[f"{side}_test_set"]
            needs = next((key for key, name in NAMES.items() if re.fullmatch(name, test_set)), None)
            if needs is None or (needs != "whole" and needs not in made[dataset]):
                expected = f"whole, or what the column test_sets of {paths['datasets']} makes of {dataset}"
                complain(paths["calibrations"], int(str(line)), f"{side}_test_set", quoted(test_set), expected)


def _check_files(
    datasets: pd.DataFrame,
    ready: pd.DataFrame,
    lines: pd.Index[int],
    sources: Mapping[str, str],
    needed: set[str],
    paths: Mapping[str, str],
) -> None:
    """The files are there that a run starts from: embedded statistics, or outputs and references."""
    for row in datasets[datasets["dataset"].isin(needed)].itertuples():
        statistics = _statistics(row.dataset)
        if sources[row.dataset] == "embedded" and not statistics.is_file():
            found = f"{row.dataset} without its statistics"
            expected = f"the file {statistics}, or source: derived in the config"
            complain(paths["datasets"], row.Index, "dataset", found, expected)
    for line, ((dataset, _), row) in zip(lines, ready.to_dict("index").items(), strict=True):
        if dataset in needed and sources[dataset] == "derived":
            if not row["reference"]:
                complain(paths["systems"], line, "reference", "nothing here or in its dataset", "reference files")
            for file in row["files"]:
                if not checks.is_file(file):
                    complain(paths["systems"], line, "output", f"{named(file)}, which is missing", "a file")


def _selected(datasets: pd.DataFrame, chosen: str | Sequence[str], sources: Mapping[str, str]) -> set[str]:
    """The datasets of a run. `all` passes over synthetic ones that are neither embedded nor to be retrained."""
    if chosen == "all":
        synthetic = datasets["dataset"][datasets["study"] == "synthetic"]
        missing = {name for name in synthetic if sources[name] == "embedded" and not _statistics(name).is_file()}
        return set(datasets["dataset"]) - missing
    known = list(datasets["dataset"])
    for name in chosen:
        if name not in known:
            expected = f"'all' or names in the sheet of datasets{near(name, known)}"
            raise InputError(f"config: datasets is {quoted(name)}, expected {expected}")
    return set(chosen)


def _statistics(dataset: str) -> Path:
    return STATISTICS / f"{dataset}.parquet"


def _source(row: Any, config: Mapping[str, Any]) -> str:
    """Where a dataset's statistics come from. Only what the project carries, with a corpus, can be embedded."""
    if row.pool:
        return "pool"
    derived = config["retrain"] if row.study == "synthetic" else config["source"] == "derived"
    return "derived" if derived or not row.corpus else "embedded"


# Rows made ready for the rules.


def _ready_datasets(
    datasets: pd.DataFrame,
    corpora: pd.DataFrame,
    systems: pd.DataFrame,
    sources: Mapping[str, str],
    selected: set[str],
    making: Mapping[str, Mapping[str, str]],
) -> pd.DataFrame:
    versions = ", ".join(f"{package} {version(package)}" for package in COUNTING)
    rows = {}
    of_dataset = systems.reset_index().groupby("dataset")["system"].agg(list)
    for row in datasets.merge(corpora, on="corpus", how="left").fillna("").to_dict("records"):
        name = row["dataset"]
        options = [f"--option {option}" for option in row["options"].split()]
        reader = [f"--reader {row['reader']}"] if row["reader"] else []
        told = {key: row[key] for key in ("task", "corpus", "url", "sha256", "licence", "citation", "metric", "note")}
        told["command"] = " ".join(
            [
                "pairsig extract OUTPUT --reference",
                row["reference"] or "REFERENCE",
                "--metric",
                row["metric"],
                *reader,
                *options,
            ]
        )
        told["versions"] = versions
        told |= making.get(name, {})
        rows[name] = {
            "metric": row["metric"],
            "source": sources[name],
            "selected": name in selected,
            "systems": of_dataset.get(name, []),
            "pool": row["pool"].split(),
            "test_sets": [f"--{key.replace('_', '-')}={value}" for key, value in split(row["test_sets"])],
            "figures": row["figures"].split(),
            "overlay": row["overlay"].split() if row["overlay"] in selected else [],
            "provenance": [word for key, value in told.items() if value for word in ("--provenance", f"{key}={value}")]
            + ["--dated"] * (name in making),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("dataset")


def _ready_systems(included: pd.DataFrame, datasets: pd.DataFrame, data_dir: str) -> pd.DataFrame:
    of_dataset = datasets.set_index("dataset").to_dict("index")
    rows = {}
    for row in included.to_dict("records"):
        dataset = of_dataset[row["dataset"]]
        folder = Path(data_dir if dataset["corpus"] else "")
        reference = [str(folder / path) for path in (row["reference"] or dataset["reference"]).split()]
        documents = str(folder / dataset["documents"]) if dataset["documents"] else ""
        output = str(folder / row["output"])
        named = {
            "--reader": dataset["reader"],
            "--documents": documents,
            "--group": row["group"],
            "--kind": row["kind"],
        }
        options = [word for name, value in named.items() if value for word in (name, value)]
        options += [word for option in dataset["options"].split() for word in ("--option", option)]
        options += [word for option in row["options"].split() for word in ("--output-option", option)]
        rows[row["dataset"], row["system"]] = {
            "output": output,
            "reference": reference,
            "metric": dataset["metric"],
            "options": options,
            "files": list(dict.fromkeys(path.split("!")[0] for path in (output, *reference, documents) if path)),
            "corpora": [dataset["corpus"]] if dataset["corpus"] else [],
        }
    return synthetic.frame(rows, "dataset", "system")


def _ready_predictions(made: synthetic.Synthetic, datasets: pd.DataFrame) -> pd.DataFrame:
    """The rows of synthetic systems: their outputs are made, and held against what `prepare` wrote."""
    of_dataset = datasets.set_index("dataset").to_dict("index")
    rows = {}
    for (name, system), prediction in made.predictions.to_dict("index").items():
        if not prediction["counted"]:
            continue
        dataset = of_dataset[name]
        gold = [synthetic.segments(name, "reference.txt")]
        if dataset["reference"]:
            gold = [
                str(Path(made.data_dir if dataset["corpus"] else "") / path) for path in dataset["reference"].split()
            ]
        documents = synthetic.segments(name, "documents.tsv")
        options = ["--documents", documents, "--group", prediction["base_model"], "--kind", "synthetic"]
        options += ["--reader", dataset["reader"]] if dataset["reader"] else []
        options += [word for option in dataset["options"].split() for word in ("--option", option)]
        output = synthetic.output(name, system)
        rows[name, system] = {
            "output": output,
            "reference": gold,
            "metric": dataset["metric"],
            "options": [*options, "--leave-out-broken"],
            "files": [output, *gold, documents],
            "corpora": [dataset["corpus"]] if dataset["corpus"] else [],
        }
    return synthetic.frame(rows, "dataset", "system")


# Sheets and their schemas. Rows keep the number of their line as index, for the complaints.


def _read(path: str, schema: Mapping[str, Any]) -> pd.DataFrame:
    """A sheet with all the columns of its schema, cells as text, rows by line number."""
    columns = schema["properties"]
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, ValueError, csv.Error) as error:  # csv: a cell of more than 131,072 characters
        told = getattr(error, "strerror", None) or reason(error)
        raise InputError(f"{named(path)}: cannot be read ({told})") from None
    header = lines[0] if lines else []
    for column in header:
        if column not in columns:
            raise InputError(f"{path}, line 1: found the column {quoted(column)}, expected {one_of(column, columns)}")
        if header.count(column) > 1:
            raise InputError(f"{path}, line 1: found the column {quoted(column)} twice, expected it once")
    for column in schema["required"]:
        if column not in header:
            raise InputError(f"{path}, line 1: found no column {column!r}, expected one")
    rows, validator = {}, _VALIDATOR(schema)
    for number, cells in enumerate(lines[1:], start=2):
        if not any(cells):
            continue
        if len(cells) != len(header):
            raise InputError(f"{path}, line {number}: found {len(cells)} cells, expected {len(header)} as in line 1")
        row = {column: cell for column, cell in zip(header, cells, strict=True) if cell}
        for column, cell in row.items():
            if re.search(r"[\x00-\x1f\x7f]", cell):
                complain(path, number, column, quoted(cell), "no control characters")
        for mistake in _errors(row, validator):
            raise InputError(f"{path}, line {number}, {_sentence(mistake, schema, 'column ')}")
        rows[number] = {name: row.get(name, columns[name].get("default", "")) for name in columns}
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(columns), dtype="object")


def _schema(schemas: Path, name: str) -> dict[str, Any]:
    schema: dict[str, Any] = yaml.safe_load((schemas / f"{name}.schema.yaml").read_text(encoding="utf-8"))
    return schema


def _fill(config: dict[str, Any], schema: Mapping[str, Any]) -> None:
    """Put in the defaults of keys that are missing, block by block; `--config` has no word for true but a string."""
    for key, part in schema["properties"].items():
        if part.get("type") == "boolean" and config.get(key) in ("true", "false"):
            config[key] = config[key] == "true"
        if "properties" in part and isinstance(config.setdefault(key, {}), dict):
            _fill(config[key], part)
        elif "default" in part:
            config.setdefault(key, part["default"])


def _is_whole(_: object, number: object) -> bool:
    """10.0 is no whole number of anything: the commands would not take it."""
    return isinstance(number, int) and not isinstance(number, bool)


def _is_number(_: object, number: object) -> bool:
    return _is_whole(_, number) or (isinstance(number, float) and math.isfinite(number))


_VALIDATOR = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _is_whole, "number": _is_number}),
)


def _errors(instance: object, validator: Any) -> Iterator[ValidationError]:
    try:
        yield from validator.iter_errors(instance)
    except ValueError:  # jsonschema would print it
        raise InputError(
            "config: found a number of thousands of digits, expected one that can be written out"
        ) from None


def _sentence(error: ValidationError, schema: Mapping[str, Any], word: str = "") -> str:
    """Where it is (the path of keys after `word`), what was found and what was expected."""
    known = error.schema.get("properties", schema["properties"])
    path = [str(key) for key in error.absolute_path]
    if error.validator == "additionalProperties":
        key = next(key for key in error.instance if key not in known)
        inside = f" in {'.'.join(path)}" if path else ""
        return f"found the key {quoted(key)}{inside}, expected {one_of(str(key), known)}"
    found, wanted = quoted(error.instance), error.schema.get("description", error.message)
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        path, found, wanted = [*path, missing], "nothing", known[missing]["description"]
    elif error.validator == "enum":
        wanted = one_of(str(error.instance), error.validator_value)
    return f"{word}{'.'.join(path)}: found {found}, expected {wanted}"
