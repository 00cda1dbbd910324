"""Read annotations of AlpacaEval, which say for every instruction which of two outputs an annotator preferred."""

from __future__ import annotations

from decimal import Decimal
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.io.errors import InputError, listed, named, quoted
from pairsig.io.files import AnyPath, read_json
from pairsig.readers import Reader, begins
from pairsig.readers.logs import items
from pairsig.readers.logs.items import Item, Score, counted, field_of, label, picked
from pairsig.readers.system_counts import SystemCounts

FILE = "annotations.json"


def read(path: AnyPath, *, annotator: str | None = None, key: str = "instruction") -> tuple[SystemCounts, ...]:
    """Read the win rate of a model against the reference model.

    The score of an instruction is AlpacaEval's `preference` - 1, from 0 (the reference is preferred) to 1. The
    preferences 0 and 1.5 are ties and count as 0.5. Without a preference there is no score. `win_rate` is 100 times the
    mean score. It is not length-controlled: the length-controlled win rate is the prediction of a regression and not a
    mean over instructions.

    Parameters
    ----------
    path
        `annotations.json`, or a folder with one. If it is the only file, the model is compared with the reference
        model.
    annotator
        The annotator to read, if the file has several.
    key
        Field that identifies an item. Change it if instructions are repeated.

    Returns
    -------
    Counts of the reference model and of the model.

    Raises
    ------
    InputError
        If the file has another structure, a preference is neither 0 nor from 1 to 2, an instruction is repeated, or the
        file has several annotators or pairs of models. Files with different annotators or reference models cannot be
        paired.
    """
    source = fspath(path)
    if Path(source).is_dir():
        found = items.files_below(source, FILE)
        if len(found) != 1:
            raise InputError(f"{source}: found {len(found)} files {FILE} in the folder, expected one; name the file")
        source = str(found[0])
    entries: list[dict[str, Any]] = []
    for number, entry in enumerate(field_of(read_json(source), [], source, list), start=1):
        where = f"{source}, entry {number}"
        for name in (key, "generator_1", "generator_2"):
            field_of(entry, [name], where, str)
        field_of(entry, ["preference"], where, (int, float, type(None)))
        entries.append(entry | {"entry": number})
    if not entries:
        raise InputError(f"{source}: found no annotations, expected one per instruction")
    annotators = picked((label(entry.get("annotator")) for entry in entries), annotator, source, "annotator")
    if len(annotators) > 1:
        raise InputError(
            f"{source}: found the annotators {listed(annotators)}, expected one; choose it with --option annotator=NAME"
        )
    entries = [entry for entry in entries if label(entry.get("annotator")) == annotators[0]]
    pairs = list(dict.fromkeys((entry["generator_1"], entry["generator_2"]) for entry in entries))
    if len(pairs) > 1:
        description = listed(f"{model} against {reference}" for reference, model in pairs)
        raise InputError(f"{source}: found several pairs of models ({description}), expected one")
    reference, model = pairs[0]
    of_model, of_reference = [], []
    for entry in entries:
        score = _score(entry["preference"], f"{source}, entry {entry['entry']}")
        common: dict[str, Any] = {
            "domain": label(entry.get("dataset")),
            "content": f"judged by {annotators[0]} against {reference}",
            "line": entry["entry"],
        }
        of_model.append(Item(entry[key], {"win_rate": score}, **common))
        of_reference.append(Item(entry[key], {"win_rate": None if score is None else 1 - score}, **common))
    if reference == model:
        raise InputError(f"{source}: found outputs of {named(model)} on both sides, expected two models")
    return tuple(
        part
        for name, own, is_reference in ((reference, of_reference, True), (model, of_model, False))
        for part in counted(source, name, own, place="entry", factor=100.0, is_reference=is_reference)
    )


def _score(preference: int | float | None, where: str) -> Score:
    value = items.score(preference)
    if value is None:
        return None
    if value == 0:
        return 0.5
    if not 1 <= value <= 2:
        raise InputError(
            f"{where}: found the preference {quoted(preference)}, expected a number from 1 to 2, or 0 for a tie"
        )
    return float(Decimal(repr(value)) - 1)  # exact in decimals: 1.2 becomes 0.2, not 0.19999999999999996


READER = Reader(
    read=read,
    content="`annotations.json` of AlpacaEval",
    metrics="win rate over the reference model",
    recognizes=begins(r'\[\s*\{.*"output_1"\s*:'),
    in_folder=(FILE,),
    example="""\
[{"instruction": "i0", "output_1": "", "output_2": "", "generator_1": "r", "generator_2": "m",
  "annotator": "j", "preference": 1.5},
 {"instruction": "i1", "output_1": "", "output_2": "", "generator_1": "r", "generator_2": "m",
  "annotator": "j", "preference": 2}]
""",
    example_name=FILE,
)
