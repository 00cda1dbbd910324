"""What the comparisons tell: thresholds, the law of size, calibration, ours beside the paper's.

Tables in, tables out; no statistics but for `describe`, `ranks` and `trainings`, no files, no figures. A module a
stage, called as its function and the command are.
"""

from study.analysis.calibrate import P_RANGES, WINDOW, calibrate, calibrated, table_1
from study.analysis.check import VERDICTS, check
from study.analysis.claims import claims
from study.analysis.describe import describe
from study.analysis.law import law
from study.analysis.pairs import subsets
from study.analysis.ranks import ranks
from study.analysis.thresholds import TASK, size_law, thresholds
from study.analysis.trainings import trainings
from study.analysis.validate import validate

__all__ = [
    "P_RANGES",
    "TASK",
    "VERDICTS",
    "WINDOW",
    "calibrate",
    "calibrated",
    "check",
    "claims",
    "describe",
    "law",
    "ranks",
    "size_law",
    "subsets",
    "table_1",
    "thresholds",
    "trainings",
    "validate",
]
