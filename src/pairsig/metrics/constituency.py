"""Constituency parsing: labelled brackets (PARSEVAL) with the conventions of evalb."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from pairsig.io.errors import InputError, quoted
from pairsig.io.files import open_text
from pairsig.metrics import Counts, NotedCounts
from pairsig.metrics.counts import of_matches

if TYPE_CHECKING:
    from nltk.tree import Tree

Pairs = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Parameters:
    """Parameters of evalb. The defaults are those compiled into evalb, which delete nothing."""

    labeled: bool = True  # whether matching brackets must have the same label as well as the same span
    delete_label: frozenset[str] = frozenset()  # words with such a tag are deleted; phrases lose only their bracket
    # Tags that are confused with those of quotation marks. If the numbers of words differ, a word `'`, `"` or `/` with
    # such a tag is restored when only one side deletes it.
    quote_label: frozenset[str] = frozenset()
    eq_label: Pairs = frozenset()  # pairs of labels (or tags) that count as equal; not transitive
    eq_word: Pairs = frozenset()  # the same for words
    max_error: int = 10  # sentences whose words may differ from the gold sentence before evalb stops

    @cached_property
    def deleted_brackets(self) -> frozenset[str]:
        """Labels of brackets that do not count: `delete_label`, and labels that `eq_label` equates with them."""
        both_ways = self.eq_label | {(second, first) for first, second in self.eq_label}
        return self.delete_label | {other for label, other in both_ways if label in self.delete_label}


COLLINS = Parameters(
    delete_label=frozenset(["TOP", "-NONE-", ",", ":", "``", "''", "."]),
    eq_label=frozenset([("ADVP", "PRT")]),
)
"""evalb's COLLINS.prm: the scoring of Collins (1997) and of almost all later publications."""

_COLUMNS = ("matched", "predicted", "gold")
_NUMBERS = ("LABELED", "CUTOFF_LEN", "MAX_ERROR", "DEBUG", "DISC_ONLY")
_LABELS = ("DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "QUOTE_LABEL")
_PAIRS = ("EQ_LABEL", "EQ_WORD")
_KEYWORDS = (*_NUMBERS, *_LABELS, *_PAIRS)
_NUMBER = re.compile("[0-9]{1,9}")
_QUOTES = frozenset("'\"/")


def read_parameters(path: str | PathLike[str]) -> Parameters:
    """Read a parameter file of evalb, with one `KEYWORD value` per line; lines that begin with `#` are comments.

    DEBUG, CUTOFF_LEN and DELETE_LABEL_FOR_LENGTH (of evalb's summary) are ignored. DISC_ONLY (from disco-dop's evalb)
    must be 0, since bracketed trees have no discontinuous constituents.
    """
    parameters: dict[str, Any] = {}
    for number, line in enumerate(open_text(path), start=1):
        if line.startswith("#") or not line.strip():
            continue
        keyword, *values = line.split()
        name = keyword.lower()

        def bad(content: str, expected: str, line: int = number) -> InputError:
            return InputError(f"{path}, line {line}: found {content}, expected {expected}")

        if keyword not in _KEYWORDS:
            raise bad(f"keyword {quoted(keyword)}", f"one of {', '.join(_KEYWORDS)}")
        wanted = 2 if keyword in _PAIRS else 1
        if len(values) != wanted:
            raise bad(f"{len(values)} values for {keyword}", str(wanted))
        if keyword == "DELETE_LABEL_FOR_LENGTH":
            continue
        if keyword in _LABELS:
            parameters[name] = parameters.get(name, frozenset()) | {values[0]}
        elif keyword in _PAIRS:
            parameters[name] = parameters.get(name, frozenset()) | {(values[0], values[1])}
        elif not _NUMBER.fullmatch(values[0]):
            raise bad(f"{keyword} {quoted(values[0])}", "a number")
        elif keyword == "DISC_ONLY" and int(values[0]):
            raise bad(f"DISC_ONLY {values[0]}", "0, since the trees here have no discontinuous constituents")
        elif keyword in ("LABELED", "MAX_ERROR"):
            parameters[name] = bool(int(values[0])) if keyword == "LABELED" else int(values[0])
    return Parameters(**parameters)


def parseval(
    output: Sequence[Tree | None],
    reference: Sequence[Tree | None],
    *,
    parameters: Parameters | str | PathLike[str] | None = None,
    skip_failed: bool = False,
) -> Counts:
    """Count matching, predicted and gold brackets in every sentence, by the conventions of evalb.

    With their sums M, P and G: precision = 100·M/P, recall = 100·M/G, F1 = 100·2M/(P + G) (Black et al. 1991; Sekine
    and Collins 1997, evalb of 2006).

    Words with a deleted tag are removed first, then brackets without words and brackets with a deleted label. Labels of
    brackets end before their first `-` or `=`; tags are not shortened. A gold bracket is matched by the first unused
    predicted bracket with the same span and an equal or equivalent label; of (NP (NP ...)) against (NP ...), one
    matches. An outer bracket with an empty label counts, as in evalb.

    A sentence fails if the output has no words (no parse) or words that differ from the reference. None of its brackets
    match: it adds 0 to M, the brackets of the output (none without a parse) to P, and the brackets of the reference to
    G. A failure therefore never raises the score. evalb leaves such sentences out of all three sums, which favours a
    system that fails on difficult sentences; `skip_failed` does the same. (According to evalb's README there should be
    no such sentences; its parameter MAX_ERROR limits their number.)

    Parameters
    ----------
    output, reference
        Trees in the same order, with one word and one tag per preterminal. None is a failed parse.
    parameters
        An evalb parameter file, or `Parameters`. Default: `COLLINS`.
    skip_failed
        Whether to set all counts of a failed sentence to 0, as in evalb. The scores of two systems may then be based on
        different sentences. More than `max_error` + 1 sentences whose words differ are refused, as in evalb.

    Returns
    -------
    Columns `matched`, `predicted` and `gold`, int64 of shape (sentences,). A note reports the number of failed
    sentences. A sentence without words in the reference did not fail, and adds nothing to the sums.
    """
    if parameters is None:
        parameters = COLLINS
    elif not isinstance(parameters, Parameters):
        parameters = read_parameters(parameters)
    if len(output) != len(reference):
        raise InputError(
            f"the output has {len(output)} trees, expected {len(reference)} as in the reference; "
            f"{_first_difference(output, reference)}"
        )
    counts = NotedCounts({name: np.zeros(len(reference), dtype=np.int64) for name in _COLUMNS})
    errors: list[str] = []
    missing: list[str] = []
    for index, trees in enumerate(zip(output, reference, strict=True)):
        row, has_parse, reason = _count_sentence(*trees, parameters, index + 1, skip_failed=skip_failed)
        if reason:
            errors.append(f"sentence {index + 1} ({reason})")
        elif not has_parse and _Parse(trees[1], parameters, "").words:
            missing.append(f"sentence {index + 1}")
        for name, value in zip(_COLUMNS, row, strict=True):
            counts[name][index] = value
    if len(errors) > parameters.max_error + 1:  # evalb checks after the comparison, so it allows one more
        raise InputError(
            f"found {len(errors)} sentences with words that differ from the reference, first {errors[0]}, expected at "
            f"most {parameters.max_error + 1}; check the tokenization, or raise MAX_ERROR in evalb's parameters"
        )
    if errors or missing:
        counts.notes = (_failures(errors, missing, len(reference), skip_failed=skip_failed),)
    return counts


def _count_sentence(
    system_tree: Tree | None, gold_tree: Tree | None, parameters: Parameters, number: int, *, skip_failed: bool
) -> tuple[tuple[int, int, int], bool, str]:
    """The columns of a sentence, whether it has a parse, and why its words differ from the reference, if they do."""
    system = _Parse(system_tree, parameters, f"tree {number} of the output")
    gold = _Parse(gold_tree, parameters, f"tree {number} of the reference")
    has_parse = bool(system.words)
    reason = _word_difference(system, gold, parameters) if has_parse else ""
    if has_parse and not reason:
        return _compare(system, gold, parameters), has_parse, reason
    if skip_failed:
        return (0, 0, 0), has_parse, reason
    # Parse again, since the comparison may have restored quotation marks.
    ours, theirs = _Parse(system_tree, parameters, ""), _Parse(gold_tree, parameters, "")
    return (0, len(ours.scored_brackets()), len(theirs.scored_brackets())), has_parse, reason


def _failures(errors: Sequence[str], missing: Sequence[str], n_sentences: int, *, skip_failed: bool) -> str:
    """A note on sentences whose words differ and on those without a parse."""
    description = [f"{len(errors)} with words that differ from the reference, first {errors[0]}"] if errors else []
    description += [f"{len(missing)} without a parse, first {missing[0]}"] if missing else []
    fate = "none of their brackets match, but their gold brackets count; use the option skip_failed to leave them out"
    if skip_failed:
        fate = "they are left out with their gold brackets, as in evalb"
    n_failed = len(errors) + len(missing)
    return f"{n_failed} of {n_sentences} sentences failed ({'; '.join(description)}): {fate}"


@dataclass(eq=False)  # two quotation marks in a row may have equal attributes
class _Quote:
    """A quotation mark in a parse, deleted or not, and its place in the tree."""

    word: str
    tag: str
    position: int  # among the remaining words
    bracket: int  # the first bracket that opens after it
    open: list[int]  # the brackets around it


@dataclass
class _Bracket:
    label: str
    start: int
    end: int


class _Parse:
    """Words and brackets of a tree without the words that have deleted tags."""

    def __init__(self, tree: Tree | None, parameters: Parameters, name: str) -> None:
        self.parameters = parameters
        self.words: list[str] = []
        self.brackets: list[_Bracket] = []  # in the order they open
        self.quotes: list[_Quote] = []

        open_brackets: list[int] = []
        # Nodes to visit, the next one last; the index of a bracket marks its end.
        agenda: list[Any] = [] if tree is None else [tree]
        while agenda:
            node = agenda.pop()
            if isinstance(node, int):
                self.brackets[node].end = len(self.words)
                open_brackets.pop()
            elif isinstance(node, str):
                raise InputError(f"{name}: found word {quoted(node)} beside another node, expected a word with one tag")
            elif len(node) == 1 and isinstance(node[0], str):
                self._add_word(node[0], node.label(), open_brackets)
            elif node.label() is None:  # a line with several trees
                agenda += reversed(node)
            else:
                open_brackets.append(len(self.brackets))
                agenda.append(len(self.brackets))
                agenda += reversed(node)
                self.brackets.append(_Bracket(node.label(), len(self.words), -1))

    def _add_word(self, word: str, tag: str, open_brackets: list[int]) -> None:
        if tag in self.parameters.quote_label and word in _QUOTES:
            self.quotes.append(_Quote(word, tag, len(self.words), len(self.brackets), open_brackets.copy()))
        if tag not in self.parameters.delete_label:
            self.words.append(word)

    def put_back(self, quote: _Quote) -> None:
        self.words.insert(quote.position, quote.word)
        for bracket in self.brackets[quote.bracket :]:
            bracket.start += 1
            bracket.end += 1
        for index in quote.open:
            self.brackets[index].end += 1
        for later in self.quotes[self.quotes.index(quote) :]:
            later.position += 1

    def scored_brackets(self) -> list[_Bracket]:
        """The brackets that count, with shortened labels."""
        cut = (
            _Bracket(bracket.label.partition("-")[0].partition("=")[0], bracket.start, bracket.end)
            for bracket in self.brackets
            if bracket.start < bracket.end
        )
        return [bracket for bracket in cut if bracket.label not in self.parameters.deleted_brackets]


def _word_difference(system: _Parse, gold: _Parse, parameters: Parameters) -> str:
    """How the words of a sentence differ from those of the reference, or ""."""
    if len(system.words) != len(gold.words):
        _put_quotes_back(system, gold, parameters.delete_label)
    if len(system.words) != len(gold.words):
        return f"{len(system.words)} words, expected {len(gold.words)}"
    same = _equality(parameters.eq_word)
    for ours, theirs in zip(system.words, gold.words, strict=True):
        if not same(ours, theirs):
            return f"word {quoted(ours)}, expected {quoted(theirs)}"
    return ""


def _put_quotes_back(system: _Parse, gold: _Parse, deleted: frozenset[str]) -> None:
    """Restore deleted quotation marks if the other side has one in the same place that is not deleted."""
    for ours in system.quotes:
        position = ours.position  # the original position: evalb does not update it when it restores others
        for theirs in gold.quotes:
            if theirs.position == position and theirs.tag in deleted and ours.tag not in deleted:
                gold.put_back(theirs)
            elif theirs.position == position and ours.tag in deleted and theirs.tag not in deleted:
                system.put_back(ours)


def _compare(system: _Parse, gold: _Parse, parameters: Parameters) -> tuple[int, int, int]:
    """The columns of a sentence whose words are the same."""
    same = _equality(parameters.eq_label)
    ours, theirs = system.scored_brackets(), gold.scored_brackets()
    free: dict[tuple[int, int], list[str]] = defaultdict(list)
    for bracket in ours:
        free[bracket.start, bracket.end].append(bracket.label)
    matched = 0
    for bracket in theirs:
        labels = free[bracket.start, bracket.end]
        for index, label in enumerate(labels):
            if not parameters.labeled or same(bracket.label, label):
                del labels[index]
                matched += 1
                break
    return matched, len(ours), len(theirs)


@cache
def _equality(pairs: Pairs) -> Callable[[str, str], bool]:
    """A test whether two strings are equal or form one of the pairs in either order."""
    in_either_order = pairs | {(second, first) for first, second in pairs}
    return lambda first, second: first == second or (first, second) in in_either_order


def _first_difference(output: Sequence[Tree | None], reference: Sequence[Tree | None]) -> str:
    for number, trees in enumerate(zip(output, reference, strict=False), start=1):
        ours, theirs = ([] if tree is None else tree.leaves() for tree in trees)
        if ours != theirs and ours:
            start, expected = (quoted(" ".join(words[:5])) for words in (ours, theirs))
            return f"the first difference is in tree {number}, {start} instead of {expected}"
    return f"the words of the first {min(len(output), len(reference))} trees are the same"


METRICS = of_matches(
    ("parseval", "parseval_precision", "parseval_recall"),
    how=", labelled brackets as evalb counts them",
    reader="trees",
    extractor=parseval,
)
