"""Annotations of AlpacaEval: which of two outputs a judge preferred, for every instruction."""

from __future__ import annotations

from decimal import Decimal
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.errors import InputError, listed, named, quoted
from pairsig.files import AnyPath, read_json
from pairsig.readers import items
from pairsig.readers.counted import Counted
from pairsig.readers.items import Item, Log, Score, field_of, label, picked

FILE = "annotations.json"


def read(path: AnyPath, *, annotator: str | None = None, key: str = "instruction") -> tuple[Counted, ...]:
    """Preferences of one model over the reference model.

    The score of an instruction is AlpacaEval's: `preference` - 1, from 0 (the reference is preferred) to 1; 0 and 1.5
    are ties and count as 0.5; without a preference there is no score. `win_rate` is 100 times their mean, not
    controlled for length: the length-controlled win rate is no mean over instructions, but the prediction of a
    regression.

    Parameters
    ----------
    path
        `annotations.json`, or a folder with one. Where it is the only file, the model is held against the reference
        itself.
    annotator
        Of several judges in a file the one to read.
    key
        What names an item. The instruction, unless instructions are repeated.

    Returns
    -------
    Counts of the reference model and of the model.

    Raises
    ------
    InputError
        For a file of another form, a preference that is not 0 or from 1 to 2, an instruction that comes again, more
        than one judge or one pair of models. Files of another judge or another reference model cannot be paired.
    """
    source = fspath(path)
    if Path(source).is_dir():
        found = items.files_below(source, FILE)
        if len(found) != 1:
            raise InputError(f"{source}: found {len(found)} files {FILE} in the folder, expected one: name the file")
        source = str(found[0])
    entries: list[dict[str, Any]] = []
    for number, entry in enumerate(field_of(read_json(source), [], source, list), start=1):
        where = f"{source}, entry {number}"
        for name in (key, "generator_1", "generator_2"):
            field_of(entry, [name], where, str)
        field_of(entry, ["preference"], where, (int, float, type(None)))
        entries.append(entry | {"entry": number})
    if not entries:
        raise InputError(f"{source}: found no annotation, expected one for every instruction")
    judges = picked((label(entry.get("annotator")) for entry in entries), annotator, source, "annotator")
    if len(judges) > 1:
        raise InputError(f"{source}: found the annotators {listed(judges)}, expected one: --option annotator=NAME")
    entries = [entry for entry in entries if label(entry.get("annotator")) == judges[0]]
    pairs = list(dict.fromkeys((entry["generator_1"], entry["generator_2"]) for entry in entries))
    if len(pairs) > 1:
        told = listed(f"{model} against {reference}" for reference, model in pairs)
        raise InputError(f"{source}: found outputs of several pairs of models ({told}), expected one")
    reference, model = pairs[0]
    of_model, of_reference = [], []
    for entry in entries:
        score = _score(entry["preference"], f"{source}, entry {entry['entry']}")
        common: dict[str, Any] = {
            "domain": label(entry.get("dataset")),
            "content": f"judged by {judges[0]} against {reference}",
            "line": entry["entry"],
        }
        of_model.append(Item(entry[key], {"win_rate": score}, **common))
        of_reference.append(Item(entry[key], {"win_rate": None if score is None else 1 - score}, **common))
    if reference == model:
        raise InputError(f"{source}: found outputs of {named(model)} against itself, expected two models")
    return tuple(
        part
        for name, own, is_reference in ((reference, of_reference, True), (model, of_model, False))
        for part in Log(source, name, own, place="entry", factor=100.0, is_reference=is_reference).counted()
    )


def _score(preference: int | float | None, where: str) -> Score:
    value = items.score(preference)
    if value is None:
        return None
    if value == 0:
        return 0.5
    if not 1 <= value <= 2:
        raise InputError(
            f"{where}: found the preference {quoted(preference)}, expected one from 1 to 2, or 0 for a tie"
        )
    return float(Decimal(repr(value)) - 1)  # 1.2 is 0.2, as it is written, and not 0.19999999999999996
