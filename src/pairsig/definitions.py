"""The tests there are, as values: what is drawn, what of it is extreme, and how p follows from the counts.

Nothing else knows tests by name. The engine counts what `borders` say, `p_value` is the only place that divides, and
`--help`, docstrings, results and pages print `formula`. A test is found by its name and variant with `find`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pairsig.choices import choose, one_of
from pairsig.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

SYMBOLS = "δ >= 0 is the gain of the better system, * a resample, ' a shuffle, b the number of resamples"
"""What the formulas are written with."""


@dataclass(frozen=True)
class Test:
    """A test of two systems.

    Attributes
    ----------
    name, variant
        What it is called.
    draw
        What a draw is: a `resample` of the units with replacement, or a `swap` of the systems' counts on some of them.
    borders
        What of the draws is extreme: sign · gain > multiple · δ for any of these (sign, multiple), the gain being that
        of the better system over the other.
    strict
        Ties with a border do not count, and p has no + 1.
    exact
        All draws are gone through, not b of them: p has no Monte Carlo error.
    formula, source
        The p-value in the letters of `SYMBOLS`, and who has it so.
    """

    __test__ = False  # not a pytest class

    name: str
    variant: str
    draw: Literal["resample", "swap"]
    borders: tuple[tuple[int, int], ...]
    strict: bool
    exact: bool
    formula: str
    source: str

    @property
    def drawn(self) -> Test:
        """The test that draws what this one goes through, and has its p-value as b grows; of one that draws, itself."""
        return next(test for test in TESTS if (test.draw, test.variant, test.exact) == (self.draw, self.variant, False))

    @property
    def two_sided(self) -> bool:
        """Whether it asks for a difference in either direction, as one must who has looked which system won."""
        return len(self.borders) > 1

    def extreme(self, n_greater: NDArray[Any], n_equal: NDArray[Any]) -> NDArray[Any]:
        """How many of the draws p counts, of those beyond a border and those that tie with it."""
        return n_greater if self.strict else n_greater + n_equal

    def p_value(self, extreme: NDArray[Any], n_resamples: Any) -> NDArray[Any]:
        """`formula`, from how many of the resamples are extreme."""
        plus = 0 if self.strict else 1
        p: NDArray[Any] = (extreme + plus) / (n_resamples + plus)
        return p


_GT2, _PERCENTILE, _AROUND = ((1, 2),), ((-1, 0),), ((1, 2), (-1, 0))
_ONE, _BOTH = ((1, 1),), ((1, 1), (-1, 1))
_EVERY_RESAMPLE, _EVERY_SWAP = "over all nⁿ resamples", "over all 2ⁿ swaps"

TESTS = (
    Test("exact", "two-sided", "swap", _BOTH, False, True, f"p = P(|δ'| >= δ) {_EVERY_SWAP}", "Zmigrod et al. 2022"),
    Test("exact", "one-sided", "swap", _ONE, False, True, f"p = P(δ' >= δ) {_EVERY_SWAP}", "in the observed direction"),
    Test(
        "randomization", "two-sided", "swap", _BOTH, False, False,
        "p = (#{|δ'| >= δ} + 1) / (b + 1)", "Noreen 1989; sigf; art",
    ),
    Test(
        "randomization", "one-sided", "swap", _ONE, False, False,
        "p = (#{δ' >= δ} + 1) / (b + 1)", "Bikel's comparator",
    ),
    Test(
        "bootstrap", "gt2", "resample", _GT2, True, False,
        "p = #{δ* > 2δ} / b", "Berg-Kirkpatrick et al. 2012, Figure 1",
    ),
    Test("bootstrap", "percentile", "resample", _PERCENTILE, True, False, "p = #{δ* < 0} / b", "Koehn 2004"),
    Test(
        "bootstrap", "two-sided", "resample", _AROUND, False, False,
        "p = (#{|δ* − δ| >= δ} + 1) / (b + 1)", "Noreen 1989, shifted",
    ),
    Test(
        "exact-bootstrap", "gt2", "resample", _GT2, True, True,
        f"p = P(δ* > 2δ) {_EVERY_RESAMPLE}", "Berg-Kirkpatrick et al. 2012 at b = ∞",
    ),
    Test(
        "exact-bootstrap", "percentile", "resample", _PERCENTILE, True, True,
        f"p = P(δ* < 0) {_EVERY_RESAMPLE}", "Koehn 2004 at b = ∞",
    ),
    Test(
        "exact-bootstrap", "two-sided", "resample", _AROUND, False, True,
        f"p = P(|δ* − δ| >= δ) {_EVERY_RESAMPLE}", "Noreen 1989, shifted, at b = ∞",
    ),
)  # fmt: skip
"""Every test, in the order of tables and of `--help`: those that keep their level first; the default variant first."""


def names(*, exact: bool | None = None) -> tuple[str, ...]:
    """Names of the tests: all of them, or those that are exact, or those that draw."""
    return tuple(dict.fromkeys(test.name for test in TESTS if exact is None or test.exact == exact))


def variants(name: str) -> tuple[str, ...]:
    """Variants of a test, the default first."""
    return tuple(test.variant for test in TESTS if test.name == name)


def find(name: str, variant: str | None = None) -> Test:
    """The test of that name and variant (by default the first).

    Raises
    ------
    InputError
        If there is none; the message lists those that there are.
    """
    choose(name, names(), "test")
    for test in TESTS:
        if test.name == name and test.variant == (variant or test.variant):
            return test
    known = one_of(str(variant), variants(name))
    raise InputError(f"test {name} has no variant {variant!r}, expected {known}")


def formulas(*chosen: str) -> str:
    """A line a variant of the tests of these names (by default of all): what `--help` prints."""
    shown = [test for test in TESTS if test.name in (chosen or names())]
    widths = [max(len(getattr(test, field)) for test in shown) for field in ("name", "variant", "formula")]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(columns, widths, strict=True)) + f"  ({test.source})"
        for test in shown
        for columns in [(test.name, test.variant, test.formula)]
    ]
    return f"formulas ({SYMBOLS}):\n" + "\n".join(f"  {line}" for line in lines) + "\n"
