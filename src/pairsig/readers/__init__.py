"""Files in, segments out.

A reader turns a file into a list with one item a segment. `READERS` names them; `read` imports the one asked
for. Every path may be a plain file, a `.gz` or `.xz` file, or a member of an archive, written
`runs.tar.xz!team/en.conllu`.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pairsig.choices import choose, options_of
from pairsig.errors import InputError, quoted
from pairsig.files import AnyPath


@dataclass(frozen=True)
class Reader:
    """A way to read segments.

    Attributes
    ----------
    name
        The word for it in sheets and on the command line.
    module
        Where its function `read(path, **options)` is; imported when needed.
    segment
        What one segment is, for `--help`.
    """

    name: str
    module: str
    segment: str

    @property
    def function(self) -> Callable[..., Sequence[Any]]:
        """The function `read` of its module."""
        read: Callable[..., Sequence[Any]] = import_module(self.module).read
        return read


READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("text", "pairsig.readers.text", "a line"),
        Reader("alignment", "pairsig.readers.alignment", "the word alignment of a sentence pair"),
        Reader("trees", "pairsig.readers.trees", "a bracketed tree"),
        Reader("conllu", "pairsig.readers.conllu", "a sentence of CoNLL-U or CoNLL-X"),
    )
}
"""The readers by name."""


def read(reader: str, path: AnyPath, **options: Any) -> Sequence[Any]:
    """Segments of the file `path`, read by the reader of that name.

    Parameters
    ----------
    reader
        A name in `READERS`.
    path
        A file, or a member of an archive (`runs.tar.xz!team/en.conllu`).
    options
        Those of the `read` function of the reader's module.

    Raises
    ------
    InputError
        For an unknown reader or option, and for anything the file has wrong.
    """
    function = READERS[choose(reader, READERS, "reader")].function
    for option in options:
        choose(option, options_of(function), f"option of reader {reader}:")
    segments: Sequence[Any] = function(path, **options)
    return segments


def read_documents(path: AnyPath, *, skip_lines: int = 0) -> tuple[list[str], list[str]]:
    """Domains and documents of the segments of a test set, one line `domain<TAB>document` a segment.

    A document `-` is one that is not known, "": a test over documents refuses it.

    Parameters
    ----------
    path
        A file such as WMT's `en-de.docs`.
    skip_lines
        Lines at the top that belong to no segment.

    Returns
    -------
    domains, documents
        Equally many strings.
    """
    from pairsig.readers import text

    domains, documents = [], []
    for number, line in enumerate(text.read(path, skip_lines=skip_lines), start=skip_lines + 1):
        fields = line.split("\t")
        if len(fields) != 2:
            raise InputError(f"{path}, line {number}: found {quoted(line)}, expected domain<TAB>document")
        domains.append(fields[0])
        documents.append("" if fields[1] == "-" else fields[1])
    return domains, documents
