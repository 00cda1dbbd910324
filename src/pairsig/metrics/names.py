"""Names of metrics for texts, such as BLEU for `bleu`."""

from __future__ import annotations

import re

from pairsig.metrics.registry import METRICS


def metric_name(metric: str) -> str:
    """The name of a metric for readers: its title, or its name in capitals; other scores keep the name they have.

    >>> metric_name("bleu"), metric_name("rouge2_recall"), metric_name("conll_uas")
    ('BLEU', 'ROUGE-2 recall', 'UAS')
    >>> metric_name("f0.5"), metric_name("fluency")
    ('F0.5', 'fluency')
    """
    if metric in METRICS and METRICS[metric].title:
        return METRICS[metric].title
    if metric not in METRICS:
        return metric.upper() if re.fullmatch(r"f\d[\d.]*", metric) else metric
    head, *details = metric.split("_")
    return " ".join([METRICS[head].title if head in METRICS and METRICS[head].title else head.upper(), *details])
