"""The tables of columns and keys in the documentation, from the schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

SCHEMAS = Path(__file__).parents[3] / "workflow" / "schemas"
NAMES = (
    "base_models.yaml",
    "calibrations.tsv",
    "config.yaml",
    "corpora.tsv",
    "datasets.tsv",
    "families.tsv",
    "jars.tsv",
    "published.tsv",
    "systems.tsv",
    "training_sets.yaml",
)
"""The configuration and its sheets."""


def table(name: str) -> str:
    """The table of the columns of a sheet, or of the keys of the configuration."""
    schema = yaml.safe_load((SCHEMAS / f"{name.partition('.')[0]}.schema.yaml").read_text(encoding="utf-8"))
    is_sheet = name != "config.yaml"
    rows = []
    for key, of_key in _keys(schema):
        optional = " (optional)" if is_sheet and key not in schema["required"] else ""
        example = of_key.get("examples", [of_key.get("default", next(iter(of_key.get("enum", [""])), ""))])[0]
        shown = str(example).lower() if isinstance(example, bool) else str(example)
        rows.append(f"| `{key}`{optional} | {of_key['description']} | {f'`{shown}`' if shown else ''} |\n")
    return f"| {'column' if is_sheet else 'key'} | description | example |\n|---|---|---|\n{''.join(rows)}"


def _keys(schema: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All keys with their blocks, such as `resampling.seed`; a block with an example is one key."""
    for name, of_key in schema["properties"].items():
        if "properties" in of_key and "examples" not in of_key:
            yield from _keys(of_key, f"{above}{name}.")
        else:
            yield f"{above}{name}", of_key
