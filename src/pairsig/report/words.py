"""What a report says in sentences."""

from __future__ import annotations

import math

from pairsig.definitions import Test
from pairsig.report.evidence import Evidence
from pairsig.sentences import ALPHA, told
from pairsig.versus import equation


def number(count: int) -> str:
    """A count, with commas."""
    return f"{count:,}"


def points(value: float, places: int = 2) -> str:
    """A score or a gain, or a dash where there is none."""
    return f"{value + 0.0:.{places}f}".replace("-", "−") if math.isfinite(value) else "–"


def signed(value: float, places: int) -> str:
    """A gain that may be one of the other system, with its sign."""
    return ("+" if value > 0 else "") + points(value, places)


def interval(low: float, high: float, places: int) -> str:
    """[low, high] after a blank, or nothing."""
    return "" if math.isnan(low) or math.isnan(high) else f" [{points(low, places)}, {points(high, places)}]"


def gain_of(own: Evidence) -> str:
    """The gain and its interval."""
    return f"{points(own.gain, own.digits)}{interval(own.low, own.high, own.digits)}"


def headline(own: Evidence) -> str:
    """Who is better, by how much, or that it was not shown."""
    if not own.better:
        return f"{own.system_a} and {own.system_b} have the same {own.metric}: {points(own.score_a, own.digits)}"
    ahead, behind = _scores(own)
    gain = f"{points(own.gain, own.digits)} points of {own.metric}"
    verdict = told(own.system_a, own.system_b, own.better, own.decides, gain)
    return f"{verdict}, {points(ahead, own.digits)} against {points(behind, own.digits)}"


def _scores(own: Evidence) -> tuple[float, float]:
    both = own.score_a, own.score_b
    return both if own.ahead == own.system_a else (both[1], both[0])


def about_p(own: Evidence) -> list[str]:
    """What p says, and what it does not."""
    _, p, holm = own.tests[0]
    units = f"{own.unit}s"
    if not own.better:
        return ["The scores are the same, so no system is better, and p is 1 by definition."]
    says = _says(own, p, units)
    sentences = [f"It says: {says}"]
    if not math.isnan(own.low):
        sentences.append(
            f"The interval says how large the gain may be on {units} like these: from {points(own.low, own.digits)} to "
            f"{points(own.high, own.digits)} points"
            + (", so the other system may be the better one." if own.low < 0 else ".")
        )
    sentences.append(
        "It does not say how probable it is that the systems are equal, nor that a gain is large enough to matter: "
        "that is for you to say, from the gain and its interval."
    )
    if own.decides >= ALPHA:
        sentences.append(
            "A p that is not small does not show that the systems are equally good: the interval has all gains that "
            "would not surprise. Whether they are equally good up to a margin is another test (--margin)."
        )
    sentences.append(
        f"It is about other {units} from the source of this test set. On another domain, language or benchmark the "
        "better system may be the other one, however small p is (--like, pairsig transfer)."
    )
    if max(own.runs) == 1:
        sentences.append(
            "It is about these outputs. A system that is trained or sampled again has others, and may score otherwise; "
            "with several runs of each that is tested too (--runs)."
        )
    if holm:
        sentences.append(
            "Several systems are held against the first one, and some p are small by chance alone; p (Holm) takes that "
            "into account."
        )
    return sentences


def _says(own: Evidence, p: str, units: str) -> str:
    cases = f"in a share {equation(p)} of cases"
    gain = f"{points(own.gain, own.digits)} points"
    if own.test is None:
        return (
            "if the two methods were equally good, and both were run again on another test set, a gain of at least "
            f"{gain}, of either one, would come up {cases}."
        )
    if own.test.draw == "swap":
        whose = "of either one" if own.test.two_sided else f"of {own.ahead}"
        return (
            f"if on each of these {units} it were chance which of the two outputs is whose, a gain of at least {gain}, "
            f"{whose}, would come up {cases}."
        )
    drawn = f"on test sets drawn with replacement from the {units} of this one"
    if own.test.variant == "percentile":
        return f"{drawn}, {own.behind} wins {cases}."
    if own.test.variant == "gt2":
        twice = f"{points(2 * own.gain, own.digits)} points, twice the gain"
        return f"{drawn}, {own.ahead} is ahead by more than {twice}, {cases}."
    return f"{drawn}, the gain is at least {gain} away from the one that was seen {cases}."


def caption(own: Evidence) -> str:
    """Below the law of the gain."""
    null = own.null
    assert null is not None
    test: Test | None = own.test
    units = f"{own.unit}s"
    if null.swaps:
        how = f"the law over all 2ⁿ ways to swap the two outputs on {units}, exactly"
        if null.n_drawn:
            how = f"{number(null.n_drawn)} shuffles, in which the two outputs are swapped on half of the {units}"
        where = f"To the right {own.ahead} is ahead, to the left {own.behind}."
    else:
        how = f"{number(null.n_drawn)} test sets drawn with replacement from this one, less the gain that was seen"
        where = f"To the right {own.ahead} is further ahead than it was."
    counted = "on both sides" if null.extreme == "both" else "on one side" if test else ""
    return f"{how[0].upper()}{how[1:]}. {where} p counts what is at least as far out as the gain, {counted}."


def about_segments(own: Evidence) -> list[str]:
    """How many segments carry the gain, and how alike the systems are."""
    sentences = []
    won = own.outcomes[0]
    few = own.enough
    if few and won:
        sentences.append(
            f"{number(few)} of the {number(won)} segments that speak for {own.ahead} carry as much as the whole gain: "
            f"without {'it' if few == 1 else 'them'} {own.ahead} would be no better."
        )
    if not math.isnan(own.likeness):
        sentences.append(
            f"The systems' contributions from the {own.unit}s correlate with {own.likeness:.2f}; the more alike two "
            "systems are, the smaller a gain can be told from none."
        )
    return sentences
