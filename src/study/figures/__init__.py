"""Figures: one function each, tables in, a matplotlib `Figure` out, all in one style.

`FIGURES` names them for `python -m study plot FIGURE TABLE [TABLE ...] --output a.svg a.pdf a.png`, which reads the
tables, passes them in the order given and calls `save` for every output. A table without rows, or with too few
to draw, gives a figure that says so; one that lacks a column raises `InputError`.
"""

from collections.abc import Callable

from matplotlib.figure import Figure

from study.figures.confidence import domains, full_sets, gain_confidence, overview, sizes
from study.figures.elsewhere import documents, next_test_sets
from study.figures.leaderboards import leaderboards
from study.figures.montecarlo import relative_error, run_time
from study.figures.planning import segments_needed
from study.figures.style import save
from study.figures.summaries import calibration, similarity, size_law, thresholds
from study.figures.trainings import trainings

FIGURES: dict[str, Callable[..., Figure]] = {
    "gain_confidence": gain_confidence,
    "full_sets": full_sets,
    "overview": overview,
    "sizes": sizes,
    "size_law": size_law,
    "domains": domains,
    "thresholds": thresholds,
    "calibration": calibration,
    "similarity": similarity,
    "relative_error": relative_error,
    "run_time": run_time,
    "trainings": trainings,
    "next_test_sets": next_test_sets,
    "documents": documents,
    "segments_needed": segments_needed,
    "leaderboards": leaderboards,
}

__all__ = [
    "FIGURES",
    "calibration",
    "documents",
    "domains",
    "full_sets",
    "gain_confidence",
    "leaderboards",
    "next_test_sets",
    "overview",
    "relative_error",
    "run_time",
    "save",
    "segments_needed",
    "similarity",
    "size_law",
    "sizes",
    "thresholds",
    "trainings",
]
