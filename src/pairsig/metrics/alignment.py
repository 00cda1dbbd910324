"""Word alignment: alignment error rate, precision and recall (Och and Ney 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pairsig.metrics import Metric, Ratio, as_columns, check_lengths

if TYPE_CHECKING:
    from pairsig.readers.outputs.alignment import Alignment

_COLUMNS = ("sure_hits", "possible_hits", "predicted", "sure")
_AT_MOST = (("sure_hits", "possible_hits"), ("possible_hits", "predicted"), ("sure_hits", "sure"))


def link_counts(output: Sequence[Alignment], reference: Sequence[Alignment]) -> dict[str, NDArray[np.int64]]:
    """Count the links A of an aligner that agree with the sure links S and possible links P ⊇ S of the reference.

    Parameters
    ----------
    output, reference
        Alignments of the same sentence pairs. All links of `output`, sure or possible, count as predicted.

    Returns
    -------
    Columns of shape (segments,): `sure_hits` |A∩S|, `possible_hits` |A∩P|, `predicted` |A|, `sure` |S|.
    """
    check_lengths(output, reference)
    rows = [
        (len(a.possible & r.sure), len(a.possible & r.possible), len(a.possible), len(r.sure))
        for a, r in zip(output, reference, strict=True)
    ]
    return as_columns(_COLUMNS, rows)


aer = Ratio((0, 1), (2, 3), complement=True)
"""100 × (1 − (|A∩S| + |A∩P|) / (|A| + |S|)), and 0 if A and S are empty.

Lower is better. Source: F. J. Och and H. Ney (2003), A systematic comparison of various statistical alignment models,
Computational Linguistics.
"""

alignment_precision = Ratio((1,), (2,))
"""100 × |A∩P| / |A|, and 0 if A is empty."""

alignment_recall = Ratio((0,), (3,))
"""100 × |A∩S| / |S|, and 0 if S is empty."""

METRICS: tuple[Metric, ...] = tuple(
    Metric(
        name,
        _COLUMNS,
        function,
        formula,
        higher_is_better=name != "aer",
        at_most=_AT_MOST,
        reader="alignment",
        extractor=link_counts,
        title="" if name == "aer" else name.replace("_", " "),
    )
    for name, function, formula in (
        ("aer", aer, "100 · (1 − (Σ|A∩S| + Σ|A∩P|) / (Σ|A| + Σ|S|))"),
        ("alignment_precision", alignment_precision, "100 · Σ|A∩P| / Σ|A|"),
        ("alignment_recall", alignment_recall, "100 · Σ|A∩S| / Σ|S|"),
    )
)
