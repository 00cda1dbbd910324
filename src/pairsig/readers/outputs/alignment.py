"""Read word alignments in the `i-j` format of most aligners or in the format of the HLT-NAACL 2003 shared task."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pairsig.io.errors import InputError, quoted
from pairsig.io.files import MAX_LINES, AnyPath
from pairsig.readers import Reader
from pairsig.readers.outputs import text

Link = tuple[int, int]
Links = Sequence[tuple[Link, bool]]
"""Links, each with a flag for sure links."""

_NUMBER = "[0-9]{1,15}"
_PHARAOH_LINK = re.compile(rf"({_NUMBER})([-p])({_NUMBER})")
_LINKS = re.compile(r"(?:\d+[-p]\d+(?:\s+\d+[-p]\d+)*)?\s*")
_NAACL_LINE = re.compile(rf"\s*({_NUMBER})\s+({_NUMBER})\s+({_NUMBER})(?:\s+([SP]))?(?:\s+[0-9.]+)?\s*")


@dataclass(frozen=True)
class Alignment:
    """Links between the words of a sentence and those of its translation.

    Attributes
    ----------
    sure
        Links that the annotators (or the aligner) are sure of, as pairs of word positions from 0.
    possible
        All links, sure or possible.
    """

    sure: frozenset[Link]
    possible: frozenset[Link]

    def __post_init__(self) -> None:
        if not self.sure <= self.possible:
            raise ValueError("every sure link must also be a possible link")


_NOTHING = Alignment(frozenset(), frozenset())


def read(
    path: AnyPath,
    *,
    reverse: bool = False,
    n_segments: int | None = None,
) -> list[Alignment]:
    """Read word alignments in the format in which the first line that is not blank is.

    In the `i-j` format, each line is a sentence pair with links `i-j` (sure) and `ipj` (only possible) of words that
    are counted from 0. The number of the sentence may come first; numbers may start anywhere and must be consecutive.

    In the format of the shared task of 2003, each line is a link, `sentence i j [S|P] [confidence]`, with sentences and
    words counted from 1. A link without a letter is sure. Links to position 0, the NULL word of the shared task, are
    dropped, as in its evaluation without NULL.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`.
    reverse
        Whether to swap the two positions of every link, for a file with the languages in the other order.
    n_segments
        Number of sentence pairs. A file of the shared task does not contain it; without it, the sentence of the last
        link is the last one. The other format is checked against it.

    Returns
    -------
    One alignment per sentence pair, empty for a pair without links.
    """
    lines = text.read(path)
    if _NAACL_LINE.fullmatch(next((line for line in lines if line.strip()), "")):
        segments = _read_naacl(path, lines, n_segments)
    else:
        segments = _read_pharaoh(path, lines)
        if n_segments not in (None, len(lines)):
            raise InputError(f"{path}: found {len(lines)} segments, expected {n_segments} as in n_segments")
    return [_alignment(links, reverse) if links else _NOTHING for links in segments]


def _alignment(links: Links, reverse: bool) -> Alignment:
    """The alignment with these links; a link that is listed as sure and as possible is sure."""
    turned = [((j, i) if reverse else (i, j), is_sure) for (i, j), is_sure in links]
    possible = frozenset(link for link, _ in turned)
    sure = frozenset(link for link, is_sure in turned if is_sure)
    return Alignment(possible if sure == possible else sure, possible)


def _read_pharaoh(path: AnyPath, lines: Sequence[str]) -> list[Links]:
    """Links of each line."""
    segments: list[Links] = []
    first = next(iter(lines[0].split()), "")
    numbered_from = int(first) if re.fullmatch(_NUMBER, first) else None
    for number, line in enumerate(lines, start=1):
        where = f"{path}, line {number}"
        tokens = line.split()
        if numbered_from is not None:
            sentence = str(numbered_from + number - 1)
            if not tokens or tokens[0].lstrip("0") != sentence.lstrip("0"):
                raise InputError(f"{where}: found {quoted(line)}, expected sentence number {sentence} first")
            del tokens[0]
        links: list[tuple[Link, bool]] = []
        for token in tokens:
            match = _PHARAOH_LINK.fullmatch(token)
            if match is None:
                raise InputError(f"{where}: found {quoted(token)}, expected a link i-j or ipj")
            links.append(((int(match[1]), int(match[3])), match[2] == "-"))
        segments.append(links)
    return segments


def _read_naacl(path: AnyPath, lines: Sequence[str], n_segments: int | None) -> list[Links]:
    """Links of each sentence."""
    if n_segments is not None and not 1 <= n_segments <= MAX_LINES:
        raise InputError(f"{path}: found n_segments {n_segments}, expected one from 1 to {MAX_LINES:,}")
    most = n_segments or MAX_LINES
    links: dict[int, list[tuple[Link, bool]]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        match = _NAACL_LINE.fullmatch(line)
        if match is None:
            raise InputError(f"{path}, line {number}: found {quoted(line)}, expected a link as sentence i j [S|P]")
        sentence, link = int(match[1]), (int(match[2]) - 1, int(match[3]) - 1)
        if not 1 <= sentence <= most:
            raise InputError(f"{path}, line {number}: found sentence {sentence}, expected one from 1 to {most}")
        if min(link) >= 0:
            links.setdefault(sentence, []).append((link, match[4] != "P"))
    return [links.get(sentence, ()) for sentence in range(1, (n_segments or max(links, default=0)) + 1)]


READER = Reader(
    read=read,
    content="links `i-j`, one sentence pair per line; needs `--reference`",
    metric="aer",
    parallel=True,
    recognizes=lambda file: bool(file.rows) and all(map(_LINKS.fullmatch, file.rows)),
    example="0-0 1-1 2p1\n\n1-0\n",
)
