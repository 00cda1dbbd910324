"""All tests of two systems, as values: what is drawn, which draws are extreme, and how p follows from their number.

This is the one module that knows tests by name. The borders of a test say which draws are counted, only `Test.pvalue`
divides, and `--help`, results and reports print the formula and the words of a test. `find` looks a test up by its
name, method and alternative. A new alternative or method is a row of `_EVENTS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from pairsig.io.choices import choose
from pairsig.io.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

SYMBOLS = (
    "d is score(a) − score(b), δ >= 0 the gain of the better system,\n"
    "* marks a resample, ' a shuffle, and b is the number of resamples"
)
"""The symbols of the formulas."""

DEFAULT_METHOD = "shifted"
DEFAULT_ALTERNATIVE = "two-sided"
DEFAULT_TEST = "exact"
"""The test by default, or `Test.monte_carlo` where it does not exist.

Both control the false-positive rate for any n if the outputs are exchangeable."""


@dataclass(frozen=True)
class Named:
    """Name, method and alternative of a test. The method is "" if the test has only one."""

    method: str
    alternative: str
    name: str = field(default="", kw_only=True)

    @property
    def signature(self) -> str:
        """The test as signatures name it."""
        method = f"|method:{self.method}" if self.method else ""
        return f"test:{self.name}{method}|alternative:{self.alternative}"


@dataclass(frozen=True)
class Test(Named):
    """A test of two systems.

    The alternative is "two-sided", "greater" or "less" for score(a) − score(b), or "observed" for the direction that
    the test set shows. The bootstrap's method is how it turns resamples into a p-value: "shifted" or "percentile".
    """

    __test__ = False  # not a pytest class

    share: str  # the event whose probability is p, in the symbols of `SYMBOLS`
    # The borders where the alternative is that the better system is better: a draw is extreme if
    # sign · gain > multiple · δ for any of these (sign, multiple), the gain being that of the better system.
    favoured: tuple[tuple[int, int], ...]
    event: str  # `share` in words; `meaning` fills in the names and numbers
    strict: bool = False  # whether draws on the border do not count; p then has no + 1, either
    sides: int = 1  # by how much the share of extreme draws is multiplied
    often: str = ""  # on what share of test sets it finds equal systems different, if more than 5 % by design
    draw: Literal["resample", "swap"] = "swap"  # units with replacement, or the systems' counts on some of them
    exact: bool = False  # whether p is that of all possible draws, without Monte Carlo error
    title: str = ""  # what a paper calls the test
    source: str = ""  # where the formula comes from; "" for variants

    @property
    def formula(self) -> str:
        """The p-value in the letters of `SYMBOLS`."""
        sampled = f"#{{{self.share}}} / b" if self.strict else f"(#{{{self.share}}} + 1) / (b + 1)"
        share = f"P({self.share})" if self.exact else sampled
        return f"p = {share}" if self.sides == 1 else f"p = min(1, {self.sides} {share})"

    @property
    def monte_carlo(self) -> Test:
        """The Monte Carlo test that estimates this p-value; the test itself if it draws."""
        return find("randomization", None, self.alternative) if self.exact else self

    @property
    def two_sided(self) -> bool:
        """Whether a difference in either direction is evidence against the null hypothesis."""
        return self.alternative == "two-sided"

    @property
    def directed(self) -> bool:
        """Whether the alternative fixes the direction in advance ("greater" or "less")."""
        return self.alternative in ("greater", "less")

    @property
    def label(self) -> str:
        """The test as tables print it: without the method and the alternative where these are the defaults."""
        words = [self.name, self.method, self.alternative]
        return " ".join(word for word in words if word not in ("", DEFAULT_METHOD, DEFAULT_ALTERNATIVE))

    @property
    def warning(self) -> str:
        """A warning if the direction of the test is that of the observed difference; else nothing."""
        if not self.often:
            return ""
        return (
            f"{self.label} is one-sided in the direction of the better system: if the systems were equally good, it "
            f"would report p < 0.05 on {self.often} instead of 5 %"
        )

    def in_a_paper(self, n_resamples: int) -> str:
        """The test as a paper names it, with its sides and what it drew."""
        name = f"{'two' if self.two_sided else 'one'}-sided {self.title}"
        if self.directed:
            name = f"{name} (alternative: {self.alternative})"
        return name if self.exact else f"{name} with {n_resamples:,} {_DRAWN[self.draw]}"

    def meaning(self, p: str, units: str, points: Callable[[float], str], **systems: Any) -> str:
        """What the p-value of two systems is the probability of, as a sentence.

        `p` is the p-value in parentheses, `units` are "segments" or "documents", and `points` writes a number of
        points. `systems` are `a`, `b`, `ahead` and `behind`, names, and the numbers `statistic` and `gain`.
        """
        numbers = {name: systems.pop(name) for name in ("statistic", "gain")}
        event = self.event.format(
            difference=f"the score of {systems['a']} minus that of {systems['b']}",
            **{name: f"{points(value)} points" for name, value in numbers.items()},
            **{f"twice_{name}": f"{points(2 * value)} points" for name, value in numbers.items()},
            **systems,
        )
        times = "twice " if self.sides == 2 else ""
        return f"p is {times}the probability that {event} {_HOW[self.draw].format(units=units)} {p}."

    def favours(self, difference: float, higher_is_better: bool) -> bool:
        """Whether the alternative is that the better system is better.

        `difference` is by how much A is better than B. Where they are equal, A stands for the better one.
        """
        if not self.directed:
            return True
        better_is_greater = (difference >= 0) == higher_is_better
        return better_is_greater == (self.alternative == "greater")

    def borders(self, favoured: bool = True) -> tuple[tuple[int, int], ...]:
        """Which draws are extreme; `favoured` is what `favours` returns. See the attribute `favoured`."""
        return self.favoured if favoured else tuple((-sign, -multiple) for sign, multiple in self.favoured)

    def extreme(self, n_greater: NDArray[Any], n_equal: NDArray[Any]) -> NDArray[Any]:
        """How many draws count in p, from the numbers of those beyond a border and of those on it."""
        return n_greater if self.strict else n_greater + n_equal

    def pvalue(self, extreme: NDArray[Any], n_resamples: Any) -> NDArray[Any]:
        """`formula`, from the number of extreme resamples."""
        import numpy as np

        plus = 0 if self.strict else 1
        p: NDArray[Any] = self.sides * (extreme + plus) / (n_resamples + plus)
        return p if self.sides == 1 else np.minimum(p, 1.0)


_DRAWN = {"swap": "shuffles", "resample": "resamples"}
_HOW = {
    "swap": "if the two outputs were swapped at random on each of these {units}",
    "resample": "on test sets drawn with replacement from the {units} of this one",
}
"""How draws are made, in words."""


_EVENTS = {
    "swap": (
        Test("", "two-sided", "|δ'| >= δ", ((1, 1), (-1, 1)), "they would differ by {gain} or more"),
        Test("", "greater", "d' >= d", ((1, 1),), "{difference} would be at least {statistic}"),
        Test("", "less", "d' <= d", ((1, 1),), "{difference} would be at most {statistic}"),
    ),
    "resample": (
        Test("shifted", "two-sided", "|δ* − δ| >= δ", ((1, 2), (-1, 0)), "the gain changes by {gain} or more"),
        Test(
            "shifted", "greater", "d* − d >= d", ((1, 2),),
            "{difference} is at least {twice_statistic}, twice the observed difference,",
        ),
        Test(
            "shifted", "less", "d* − d <= d", ((1, 2),),
            "{difference} is at most {twice_statistic}, twice the observed difference,",
        ),
        Test(
            "shifted", "observed", "δ* > 2δ", ((1, 2),),
            "{ahead} leads by more than {twice_gain}, twice the observed gain,",
            strict=True, often="10 to 21 % of test sets",
        ),
        Test(
            "percentile", "two-sided", "δ* <= 0", ((-1, 0),), "{behind} is at least as good as {ahead}", sides=2
        ),
        Test("percentile", "greater", "d* <= 0", ((-1, 0),), "{difference} is at most 0"),
        Test("percentile", "less", "d* >= 0", ((-1, 0),), "{difference} is at least 0"),
        Test(
            "percentile", "observed", "δ* < 0", ((-1, 0),), "{behind} wins",
            strict=True, often="9 to 26 % of test sets (up to 48 % if few segments differ)",
        ),
    ),
}  # fmt: skip
"""The tests of each kind of draw, without a name. The two "observed" ones are those of footnote 2 of the 2012 paper."""

_SOURCES = {
    ("exact", "", "two-sided"): "Zmigrod et al. 2022",
    ("randomization", "", "two-sided"): "Noreen 1989; sigf; art",
    ("bootstrap", "shifted", "two-sided"): "Noreen 1989",
    ("bootstrap", "shifted", "observed"): "Berg-Kirkpatrick et al. 2012, Figure 1",
    ("bootstrap", "percentile", "two-sided"): "Efron and Tibshirani 1993",
    ("bootstrap", "percentile", "observed"): "Koehn 2004",
}


_DRAWS: tuple[tuple[str, Literal["resample", "swap"], str], ...] = (
    ("exact", "swap", "exact permutation test"),
    ("randomization", "swap", "approximate randomization"),
    ("bootstrap", "resample", "paired {method} bootstrap"),
)
"""Names of tests, what they draw, and what papers call them."""

TESTS: tuple[Test, ...] = tuple(
    replace(
        event,
        name=name,
        draw=draw,
        exact=name == "exact",
        title=title.format(method=event.method),
        source=_SOURCES.get((name, event.method, event.alternative), ""),
    )
    for name, draw, title in _DRAWS
    for event in _EVENTS[draw]
)
"""Every test, in the order of tables and of `--help`: those that control the false-positive rate come first."""


def names() -> tuple[str, ...]:
    """Names of the tests."""
    return tuple(dict.fromkeys(test.name for test in TESTS))


def methods(name: str) -> tuple[str, ...]:
    """Methods of a test, the default first; none if the test has no choice."""
    return tuple(dict.fromkeys(test.method for test in TESTS if test.name == name and test.method))


def find(name: str, method: str | None = None, alternative: str | None = None) -> Test:
    """The test with this name, method (default: shifted, of the bootstrap) and alternative (default: two-sided)."""
    choose(name, names(), "test")
    known = methods(name)
    if method and not known:
        raise InputError(f"the {name} test has no methods to choose from, found method {method!r}; leave it out")
    method = choose(method, known, f"method of the {name} test:") if method else (*known, "")[0]
    sides = {test.alternative: test for test in TESTS if (test.name, test.method) == (name, method)}
    return sides[choose(alternative or DEFAULT_ALTERNATIVE, sides, f"alternative of the {name} test:")]


def formulas() -> str:
    """One line per test, for docs/p-values.md."""
    rows = [(test.name, test.method, test.alternative, test.formula) for test in TESTS]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        + (f"  ({test.source})" if test.source else "")
        for row, test in zip(rows, TESTS, strict=True)
    ]
    return f"formulas, where {SYMBOLS}:\n" + "\n".join(f"  {line.rstrip()}" for line in lines) + "\n"
