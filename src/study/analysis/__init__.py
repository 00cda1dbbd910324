"""What the comparisons tell: thresholds, the law of size, similarity, calibration, ours beside the paper's.

Tables in, tables out; no statistics but for `similarity`, no files, no figures.
"""

from study.analysis.alike import contributions, similarity
from study.analysis.gains import AROUND, TASK, size_law, thresholds, validation
from study.analysis.pairs import subsets
from study.analysis.published import TARGET, check
from study.analysis.scores import systems
from study.analysis.wins import P_RANGES, WINDOW, beside, calibration

__all__ = [
    "AROUND",
    "P_RANGES",
    "TARGET",
    "TASK",
    "WINDOW",
    "beside",
    "calibration",
    "check",
    "contributions",
    "similarity",
    "size_law",
    "subsets",
    "systems",
    "thresholds",
    "validation",
]
