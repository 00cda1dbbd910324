"""Read the input files of sigf (Padó 2006): three numbers or one number per line."""

from __future__ import annotations

from pairsig.io.errors import InputError
from pairsig.io.files import AnyPath
from pairsig.metrics import registry
from pairsig.readers import Reader
from pairsig.readers.output import Output, of_lines, read_numbers

_EXPECTED = "1 number (to be averaged) or 3 (matches, predicted, gold), separated by blanks"


def read(path: AnyPath) -> Output:
    """Read counts from an input file of sigf.

    Three numbers per line are the matches, the predictions and the gold items (FScoreART); their metrics are F1,
    precision and recall. One number per line is averaged (AverageART) and may be negative. sigf itself accepts only
    integers; decimals are accepted here.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`.
    """
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
                    f"0 or more, and no more matches than predicted or gold"
                )
        rows.append(values)
    names = ("f1", "precision", "recall") if len(rows[0]) == 3 else ("mean",)
    return of_lines(path, rows, list(map(registry.metric, names)))


READER = Reader(
    read=read,
    content="per line, one number, or the three counts matched, predicted, gold",
    metrics="mean; F1, precision, recall",
    recognizes=lambda _: False,  # any file of numbers looks like it
    suffixes=(".sigf",),
    example_name="example.sigf",
    example="2 3 2\n2 2 2\n0 1 4\n",
)
