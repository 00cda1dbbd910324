"""Read the input files of sigf (Padó 2006): three numbers or one number per line."""

from __future__ import annotations

from pairsig.io.files import AnyPath
from pairsig.metrics import registry
from pairsig.readers import Reader
from pairsig.readers.output import Output, of_numbers


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
    brackets = tuple(map(registry.metric, ("f1", "precision", "recall")))
    expected = "1 number (to be averaged) or 3 (matches, predicted, gold), separated by blanks"
    return of_numbers(path, {1: (registry.metric("mean"),), 3: brackets}, expected)


READER = Reader(
    read=read,
    content="per line, one number, or the three counts matched, predicted, gold",
    metrics="mean; F1, precision, recall",
    recognizes=lambda _: False,  # any file of numbers looks like it
    suffixes=(".sigf",),
    example_name="example.sigf",
    example="2 3 2\n2 2 2\n0 1 4\n",
)
