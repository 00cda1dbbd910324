"""Names of metrics for texts, such as BLEU for `bleu`."""

from __future__ import annotations

from pairsig.metrics.registry import METRICS


def metric_name(metric: str) -> str:
    """The name of a metric for readers: its title, or else its name in capitals.

    >>> metric_name("bleu"), metric_name("rouge2_recall"), metric_name("conll_uas")
    ('BLEU', 'ROUGE-2 recall', 'UAS')
    """
    if metric in METRICS and METRICS[metric].title:
        return METRICS[metric].title
    head, *details = str(metric).split("_")
    return " ".join([metric_name(head), *details]) if details else head.upper()
