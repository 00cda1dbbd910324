"""The sentences of a report."""

from __future__ import annotations

import math

from pairsig.comparisons.wording import equation
from pairsig.report.evidence import Evidence
from pairsig.report.sentences import ALPHA, verdict


def points(value: float, places: int = 2) -> str:
    """A score or a gain, or a dash if it is undefined."""
    return f"{value + 0.0:.{places}f}".replace("-", "−") if math.isfinite(value) else "–"


def signed(value: float, places: int) -> str:
    """A difference with its sign."""
    return ("+" if value > 0 else "") + points(value, places)


def interval(low: float, high: float, places: int) -> str:
    """[low, high] after a blank, or nothing."""
    return "" if math.isnan(low) or math.isnan(high) else f" [{points(low, places)}, {points(high, places)}]"


def headline(evidence: Evidence) -> str:
    """Which system is better and by how much, or that the difference is not significant."""
    if not evidence.better:
        score = points(evidence.score_a, evidence.digits)
        return f"{evidence.system_a} and {evidence.system_b} have the same {evidence.metric}: {score}"
    ahead, behind = (
        (evidence.score_a, evidence.score_b)
        if evidence.ahead == evidence.system_a
        else (evidence.score_b, evidence.score_a)
    )
    gain = f"{points(evidence.gain, evidence.digits)} points of {evidence.metric}"
    sentence = verdict(evidence.system_a, evidence.system_b, evidence.better, evidence.decides, gain)
    return f"{sentence}, {points(ahead, evidence.digits)} against {points(behind, evidence.digits)}"


def about_p(evidence: Evidence) -> list[str]:
    """What the p-value means, and what it does not."""
    _, p, holm = evidence.tests[0]
    units = f"{evidence.unit}s"
    if not evidence.better:
        by_definition = ", and p is 1 by definition" if p == "1" else ""
        return [f"The scores are the same, so no system is better{by_definition}."]
    sentences = [_meaning(evidence, p, units)]
    if not math.isnan(evidence.low):
        sentences.append(
            f"On new {units} from the same source, gains from {points(evidence.low, evidence.digits)} to "
            f"{points(evidence.high, evidence.digits)} points are plausible (95 % interval)"
            + (", so the other system may be the better one." if evidence.low < 0 else ".")
        )
    sentences.append(
        "p is not the probability that the systems are equally good, and a small p does not mean that the gain is "
        "large enough to matter. The gain and its interval show that."
    )
    if evidence.decides >= ALPHA:
        sentences.append(
            "A large p does not show that the systems are equally good: every gain in the interval is plausible. To "
            "test whether they are equally good up to a margin, use --margin."
        )
    sentences.append(
        f"p is about new {units} from the source of this test set. In another domain, language or benchmark, the other "
        "system may be better, however small p is."
    )
    if max(evidence.runs) == 1:
        sentences.append(
            "p is about these outputs. If a system is trained or sampled again, its outputs and its score change. To "
            "test the methods, compare several runs of each with --runs."
        )
    if holm:
        sentences.append(
            "Several pairs of systems are compared, so some p are small by chance alone; p (Holm) is adjusted for this."
        )
    return sentences


def _meaning(evidence: Evidence, p: str, units: str) -> str:
    probability = f"({equation(p)})"
    if evidence.test is None:
        return (
            "p is the probability that the methods, if they were equally good and were run again on a new test set, "
            f"would differ by at least {points(evidence.gain, evidence.digits)} points {probability}."
        )
    return evidence.test.meaning(
        probability,
        units,
        lambda value: points(value, evidence.digits),
        a=evidence.system_a,
        b=evidence.system_b,
        ahead=evidence.ahead,
        behind=evidence.behind,
        statistic=evidence.score_a - evidence.score_b,
        gain=evidence.gain,
    )


def about_segments(evidence: Evidence) -> list[str]:
    """How strongly the systems correlate."""
    if math.isnan(evidence.correlation):
        return []
    return [
        f"The correlation between the systems' contributions per {evidence.unit} is {evidence.correlation:.2f}; "
        "the higher it is, the smaller the gain that a test can detect."
    ]
