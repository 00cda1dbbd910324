"""The input of sigf (Padó 2006): a triple or a single number a line."""

from __future__ import annotations

from pairsig.errors import InputError
from pairsig.files import AnyPath
from pairsig.metrics import counts
from pairsig.readers.counted import Counted, read_numbers, to_columns

_METRICS = {metric.name: metric for metric in counts.METRICS}
_TRIPLE = ("matched", "predicted", "gold")
_EXPECTED = "1 number (to be averaged) or 3 (matches, predicted, gold), separated by blanks"


def read(path: AnyPath) -> Counted:
    """Counts of a file of sigf.

    Three numbers a line are successful predictions, all predictions of the model and all of the gold standard
    (FScoreART): F1, precision and recall. One number a line is averaged (AverageART); it may be negative. sigf
    itself takes whole numbers, here decimals will do.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`.

    Raises
    ------
    InputError
        With file and line, for anything but 1 or 3 numbers, as many as in the first line; for a blank line
        between others; for negative counts and for more matches than predictions or gold.
    """
    lines: list[int] = []
    rows: list[list[int | float]] = []
    for number, values in read_numbers(path, _EXPECTED):
        if len(values) not in (1, 3):
            raise InputError(f"{path}, line {number}: found {len(values)} numbers, expected {_EXPECTED}")
        if rows and len(values) != len(rows[0]):
            raise InputError(
                f"{path}, line {number}: found {len(values)} numbers, expected {len(rows[0])} as in the first line"
            )
        if len(values) == 3:
            matched, predicted, gold = values
            if min(values) < 0 or matched > min(predicted, gold):
                raise InputError(
                    f"{path}, line {number}: found {matched} matches, {predicted} predicted, {gold} gold, expected "
                    f"no negative number and not more matches than predicted or gold"
                )
        lines.append(number)
        rows.append(values)
    if not rows:
        raise InputError(f"{path}: found blank lines only, expected {_EXPECTED}")
    triples = len(rows[0]) == 3
    return Counted(
        segments=tuple(map(str, lines)),
        documents=("",) * len(lines),
        counts=to_columns(_TRIPLE if triples else ("value",), rows),
        metrics=tuple(_METRICS[name] for name in (("f1", "precision", "recall") if triples else ("mean",))),
        source=str(path),
        lines=tuple(lines),
        alike=("gold",) if triples else (),
    )
