"""Read dependency trees in CoNLL-U or CoNLL-X (ten columns)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pairsig.io.errors import InputError, quoted
from pairsig.io.files import AnyPath, open_text
from pairsig.readers import Reader

# Only plain digits: `int` would also accept a sign, `0_1`, and digits of other scripts.
_NUMBER = re.compile("0|[1-9][0-9]{0,8}")
ONLY_IN_CONLLU = re.compile(r"#|\d+[-.]\d+\t")
_EMPTY_NODE = re.compile(r"(0|[1-9][0-9]{0,8})\.[1-9][0-9]{0,8}")


@dataclass(slots=True)
class Sentence:
    """A parsed sentence: its surface tokens and the words in them.

    A token is one word, or a multiword token such as German `zum` with the words `zu` and `dem`. Empty nodes of
    enhanced graphs are dropped.

    Attributes
    ----------
    forms
        Surface tokens in the order of the text; their characters make up the text.
    multiword
        Whether the file marks each surface token as a range of words (`3-4`).
    words, heads, deprels, misc
        FORM, HEAD (0 for a root, else the number of a word from 1), DEPREL (with its subtype) and MISC of each word.
    tokens
        For each word, the index of its surface token in `forms`.
    comments
        Comment lines before the words: `# key = value`, or `# text` with the value "".
    line
        Line of the first token in the file.
    """

    forms: list[str] = field(default_factory=list)
    multiword: list[bool] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    deprels: list[str] = field(default_factory=list)
    misc: list[str] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    comments: dict[str, str] = field(default_factory=dict)
    line: int = 0

    @property
    def sent_id(self) -> str | None:
        """The identifier in the comments, or None."""
        return self.comments.get("sent_id")


def read(path: AnyPath) -> list[Sentence]:
    """Read sentences, with the checks of the CoNLL 2018 evaluation: each is a tree with one root.

    Parameters
    ----------
    path
        A file, or a member of an archive (`runs.tar.xz!team/en.conllu`).
    """
    return sentences(path, is_conllu=True)


def sentences(path: AnyPath, *, is_conllu: bool) -> list[Sentence]:
    """Read sentences of CoNLL-U, or of CoNLL-X, without multiword tokens and empty nodes.

    Heads of CoNLL-X only have to lie in the sentence, since outputs of the shared tasks of 2006 and 2007 contain
    several roots and cycles.
    """
    parsed: list[Sentence] = []
    block: list[tuple[int, str]] = []
    for number, line in enumerate(open_text(path), start=1):
        content = line.rstrip("\r\n")
        if content:
            block.append((number, content))
        elif block:
            parsed += _parse(block, path, is_conllu)
            block = []
    parsed += _parse(block, path, is_conllu)  # the last blank line may be missing
    if not parsed:
        raise InputError(f"{path}: found no sentence, expected at least one in {'CoNLL-U' if is_conllu else 'CoNLL-X'}")
    return parsed


def _parse(block: Sequence[tuple[int, str]], path: AnyPath, is_conllu: bool) -> list[Sentence]:
    """The sentence on the numbered lines of `block`, or none if all are comments."""
    sentence = Sentence()
    forms, words, heads = sentence.forms, sentence.words, sentence.heads
    lines: list[int] = []  # of each word
    last = 0  # last word of the most recent multiword token
    for number, line in block:
        if line[0] == "#" and not forms:
            key, _, value = line[1:].partition("=")
            sentence.comments[key.strip()] = value.strip()
            continue
        columns = line.split("\t")
        if len(columns) != 10:
            raise _bad(path, number, f"{len(columns)} columns", "10, separated by tabs")
        identifier, form, _, _, _, _, head, deprel, _, misc = columns
        if is_conllu and (match := _EMPTY_NODE.fullmatch(identifier)) and match[1] == str(len(words)):
            continue
        if not form or form.isspace():
            raise _bad(path, number, "an empty FORM", "a word")
        if not forms:
            sentence.line = number

        expected = str(len(words) + 1)
        if identifier != expected:
            first, _, end = identifier.partition("-")
            if not is_conllu or len(words) < last:
                raise _bad(path, number, f"ID {quoted(identifier)}", expected)
            if first != expected or not _NUMBER.fullmatch(end) or int(end) <= len(words):
                raise _bad(path, number, f"ID {quoted(identifier)}", f"{expected} or a range from {expected}")
            last = int(end)
            forms.append(form)
            sentence.multiword.append(True)
            continue
        if len(words) >= last:
            forms.append(form)
            sentence.multiword.append(False)
        if not _NUMBER.fullmatch(head):
            raise _bad(path, number, f"HEAD {quoted(head)}", "0 or the number of a word")
        heads.append(int(head))
        words.append(form)
        sentence.deprels.append(deprel)
        sentence.misc.append(misc)
        sentence.tokens.append(len(forms) - 1)
        lines.append(number)

    if not forms:
        return []
    if len(words) < last:
        raise _bad(path, number, f"the end of the sentence after word {len(words)}", f"a multiword token up to {last}")
    for word, head_number in enumerate(heads):
        if head_number > len(words):
            raise _bad(path, lines[word], f"HEAD {head_number}", f"0 to {len(words)}")
    if is_conllu:
        _check_tree(heads, lines, path)
    return [sentence]


def _check_tree(heads: Sequence[int], lines: Sequence[int], path: AnyPath) -> None:
    """Raise InputError unless `heads` make a tree with one root."""
    roots = [word for word, head in enumerate(heads) if head == 0]
    if not roots:
        raise _bad(path, lines[0], "a sentence without a root", "one HEAD of 0")
    if len(roots) > 1:
        raise _bad(path, lines[roots[1]], f"a sentence with {len(roots)} roots", "one HEAD of 0")
    # Climb from every word to a word that was visited before; if this same climb visited it, there is a cycle.
    climb_of: list[int | None] = [None] * len(heads)
    climb_of[roots[0]] = -1
    for start in range(len(heads)):
        word = start
        if climb_of[word] is not None:
            continue
        while climb_of[word] is None:
            climb_of[word] = start
            word = heads[word] - 1
        if climb_of[word] == start:
            raise _bad(path, lines[word], f"a cycle through word {word + 1}", "a tree")


def _bad(path: AnyPath, line: int, actual: str, expected: str) -> InputError:
    return InputError(f"{path}, line {line}: found {actual}, expected {expected}")


READER = Reader(
    read=read,
    content="parsed sentences of CoNLL-U; needs `--reference`",
    metric="uas",
    recognizes=lambda file: bool(file.rows) and all(row[0] == "#" or row.count("\t") == 9 for row in file.rows),
    example=(
        "# sent_id = 1\n1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_\n1\tzu\tzu\tADP\t_\t_\t3\tcase\t_\t_\n"
        "2\tdem\tder\tDET\t_\t_\t3\tdet\t_\t_\n3\tSee\tSee\tNOUN\t_\t_\t0\troot\t_\t_\n"
        "3.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n# sent_id = 2\n1\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    ),
)
