"""Figures: one function each, tables in, a matplotlib `Figure` out, all in one style.

`FIGURES` names them for `python -m study plot FIGURE TABLE [TABLE ...] --output a.svg a.pdf a.png`, which reads the
tables, passes them in the order given and calls `save` for every output. A table without rows, or with too few
to draw, gives a figure that says so; one that lacks a column raises `InputError`.
"""

from collections.abc import Callable

from matplotlib.figure import Figure

from study.figures.confidence import domains, gain_confidence, overview, sizes
from study.figures.montecarlo import relative_error, run_time
from study.figures.planning import segments_needed
from study.figures.style import save
from study.figures.summaries import calibration, similarity, size_law, thresholds

FIGURES: dict[str, Callable[..., Figure]] = {
    "gain_confidence": gain_confidence,
    "overview": overview,
    "sizes": sizes,
    "size_law": size_law,
    "domains": domains,
    "thresholds": thresholds,
    "calibration": calibration,
    "similarity": similarity,
    "relative_error": relative_error,
    "run_time": run_time,
    "segments_needed": segments_needed,
}

__all__ = [
    "FIGURES",
    "calibration",
    "domains",
    "gain_confidence",
    "overview",
    "relative_error",
    "run_time",
    "save",
    "segments_needed",
    "similarity",
    "size_law",
    "sizes",
    "thresholds",
]
