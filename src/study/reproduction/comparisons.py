"""Figures of all pairs of systems, drawn from comparisons; no table belongs to them."""

from __future__ import annotations

from study.analysis.record import Analysis, Figure

_PAIRS = ("comparisons", "thresholds", "reproduction", "overlay")
_SIZES = ("test_sets", "comparisons", "reproduction")
_LINES = (
    "Solid lines are the expectation for a pair with the median standard error of its kind, among the pairs drawn. "
    "Dashed lines are the thresholds in the table `thresholds`. Dotted lines are the paper's thresholds, multiplied by "
    "the square root of the ratio of the two numbers of segments."
)


def _counterpart(number: int, function: str, tables: tuple[str, ...], subject: str, caption: str) -> Figure:
    """Declare the counterpart of a figure of the 2012 paper."""
    return Figure(
        f"figure_{number}",
        "confidence",
        tables,
        f"Counterpart of the paper's Figure {number}. {caption}",
        _LINES,
        section="3" if number < 9 else "4.1" if number < 11 else "4.2",
        function=function,
        once=True,
        needs={"sizes": "initial", "domains": "domain_size"}.get(function),
        subject=f"Figure {number}. {subject}",
    )


ANALYSIS = Analysis(
    figures=(
        Figure(
            "overview",
            "confidence",
            ("comparisons",),
            "Median confidence (1 − p) against the gain, divided by the critical difference of its dataset.",
            "Each line is a dataset, and each dot the median of at least five pairs with about the same gain. The "
            "black line is the expectation for a pair with the median standard error. Pairs with smaller standard "
            "errors lie above it.",
            section="3",
        ),
        _counterpart(
            2, "gain_confidence", _PAIRS, "Summarization",
            "Systems of REALSumm stand in for those of TAC 2008.",
        ),
        _counterpart(
            3, "gain_confidence", _PAIRS, "Dependency parsing",
            "Systems of CoNLL 2017 for Chinese stand in for those of CoNLL 2007.",
        ),
        _counterpart(
            4, "gain_confidence", _PAIRS, "Translation",
            "German to English at WMT 2010, the paper's own test set and systems.",
        ),
        _counterpart(
            5, "gain_confidence", _PAIRS, "Retrained parsers",
            "English parsers, retrained on resampled training sets, and published ones of CoNLL 2018.",
        ),
        _counterpart(
            6, "gain_confidence", _PAIRS, "Retrained translation systems",
            "Retrained systems and published ones of WMT 2010, German to English, on the paper's own test set.",
        ),
        _counterpart(
            7, "full_sets", _PAIRS, "Retrained aligners",
            "Word aligners trained on full-size training sets. The aligner ITG uses posteriors of a joint HMM.",
        ),
        _counterpart(
            8, "gain_confidence", _PAIRS, "Retrained constituency parsers",
            "Icelandic parsers stand in for English ones.",
        ),
        _counterpart(
            9, "sizes", _SIZES, "Translation",
            "Initial segments of the paper's own test set, German to English at WMT 2010.",
        ),
        _counterpart(
            10, "sizes", _SIZES, "Parsing",
            "Icelandic texts stand in for the Brown corpus.",
        ),
        _counterpart(
            11, "domains", ("test_sets",), "Parsing",
            "Six Icelandic sources stand in for sections of the Wall Street Journal and the Brown corpus.",
        ),
        Figure(
            "gain_confidence",
            "confidence",
            _PAIRS,
            "Each dot is a pair of systems. Solid lines: expectation for a pair with the median standard error of its "
            "kind; dashed lines: thresholds.",
            "This is confidence (1 − p) against gain, as in the paper's Figures 2 to 8. " + _LINES,
            section="3",
            per_dataset=True,
        ),
        Figure(
            "correlation",
            "summaries",
            ("comparisons",),
            "Gain against the correlation of two systems; the line is the critical difference at p = 0.05.",
            "The correlation is that of the contributions of the segments to the two scores.",
            section="3",
            per_dataset=True,
        ),
        Figure(
            "sizes",
            "confidence",
            _SIZES,
            "Test sets made of initial segments; lighter colours stand for smaller ones.",
            "This is confidence against gain, as in the paper's Figures 9 and 10. " + _LINES,
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
)  # fmt: skip
