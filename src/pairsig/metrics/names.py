"""Metrics as they are written in a text."""

from __future__ import annotations

import re

_NAMES = {
    "chrf": "chrF",
    "chrf++": "chrF++",
    "alignment": "alignment",
    "conll_uas": "UAS",
    "conll_las": "LAS",
    "accuracy": "accuracy",
    "mean": "mean",
    "precision": "precision",
    "recall": "recall",
}


def metric_name(metric: str) -> str:
    """A metric of this library as it is printed.

    >>> metric_name("bleu"), metric_name("rouge2_recall"), metric_name("conll_uas")
    ('BLEU', 'ROUGE-2 recall', 'UAS')
    """
    if metric in _NAMES:
        return _NAMES[metric]
    head, *rest = str(metric).split("_")
    head = _NAMES.get(head) or re.sub(r"^(rouge)[-_]?(\w+)", r"\1-\2", head).upper()
    return " ".join([head, *(part.upper() if len(part) == 1 else part for part in rest)])
