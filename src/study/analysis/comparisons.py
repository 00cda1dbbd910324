"""Figures of the comparisons themselves, which require no analysis."""

from __future__ import annotations

from study.analysis.record import Analysis, Figure

ANALYSIS = Analysis(
    figures=(
        Figure(
            "overview",
            "confidence",
            ("comparisons",),
            "Every pair of systems on every dataset: confidence (1 − p) against gain. The line is the expectation for "
            "a pair with the median standard error.",
            "The paper's Figures 2 to 4 show single datasets. All tasks show the same curve: above some gain, "
            "significance is nearly certain. The position of the curve depends on the test set and on the correlation "
            "of the systems.",
            section="3",
        ),
        Figure(
            "correlation",
            "summaries",
            ("comparisons",),
            "Gain against the correlation of two systems; the line is the critical difference at p = 0.05.",
            "The correlation is that of the contributions of the segments to the two scores. The critical difference "
            "falls as the correlation increases.",
            section="3",
            per_dataset=True,
        ),
        Figure(
            "sizes",
            "confidence",
            ("test_sets", "comparisons"),
            "Test sets made of initial segments; lighter colours stand for smaller ones.",
            "This is confidence against gain, as in the paper's Figures 9 and 10. On larger test sets, smaller gains "
            "are significant and the points scatter less; each doubling helps less than the one before. Lines are the "
            "expectation for a pair with the median standard error.",
            section="4.1",
            per_dataset=True,
            needs="initial",
        ),
        Figure(
            "domains",
            "confidence",
            ("test_sets",),
            "Test sets with the same number of segments from each domain.",
            "This is confidence against gain, as in the paper's Figure 11. Lines are the expectation for a pair with "
            "the median standard error in its domain.",
            section="4.2",
            per_dataset=True,
            needs="domain_size",
        ),
    ),
)
