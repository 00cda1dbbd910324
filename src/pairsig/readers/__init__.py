"""Files in, segments out.

A reader turns a file into a list with one item a segment. `READERS` names them; `read` imports the one asked
for. Every path may be a plain file, a `.gz` or `.xz` file, or a member of an archive, written
`runs.tar.xz!team/en.conllu`.
"""

from __future__ import annotations

import gzip
import io
import lzma
import re
import tarfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from pairsig.choices import choose, near, options_of
from pairsig.errors import InputError

AnyPath: TypeAlias = str | PathLike[str]

_MEMBER = re.compile(r"(?P<archive>.+?\.(?:tar|tar\.gz|tar\.xz|tgz|txz))!(?P<member>.+)", re.DOTALL)
_UNREADABLE = (OSError, EOFError, lzma.LZMAError, tarfile.TarError, zlib.error)


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


def open_text(path: AnyPath) -> TextIO:
    r"""The text of a file, in memory: plain, `.gz`, `.xz`, or a member of an archive.

    UTF-8, strictly; a byte order mark is dropped. Lines end at "\n" and nowhere else, and nothing is
    translated: corpora hold U+2028, form feeds and lone carriage returns inside segments.
    """
    data = _content(fspath(path)).removeprefix(BOM_UTF8)
    try:
        return io.StringIO(data.decode("utf-8"), newline="\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = data[error.start : error.end].hex(" ")
        raise InputError(f"{path}, line {line}: found bytes {found}, expected UTF-8") from None


def read_documents(path: AnyPath, *, skip_lines: int = 0) -> tuple[list[str], list[str]]:
    """Domains and documents of the segments of a test set, one line `domain<TAB>document` a segment.

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
            raise InputError(f"{path}, line {number}: found {line!r}, expected domain<TAB>document")
        domains.append(fields[0])
        documents.append(fields[1])
    return domains, documents


def _content(path: str) -> bytes:
    """Decompressed content of a file or of a member of an archive."""
    match = _MEMBER.fullmatch(path)
    try:
        if match is None:
            return _decompress(path, Path(path).read_bytes())
        status = Path(match["archive"]).stat()
        members = _members(match["archive"], status.st_mtime_ns, status.st_size)
        if match["member"] not in members:
            raise InputError(f"{match['archive']}: no member {match['member']}{near(match['member'], members)}")
        return _decompress(match["member"], bytes(members[match["member"]]))
    except _UNREADABLE as error:
        reason = getattr(error, "strerror", None) or f"not in the format its name says, or damaged: {error}"
        raise InputError(f"{path}: cannot be read ({reason})") from None


def _decompress(name: str, data: bytes) -> bytes:
    if name.endswith((".gz", ".tgz")):
        return gzip.decompress(data)
    if name.endswith((".xz", ".txz")):
        return lzma.decompress(data)
    return data


# An archive holds the runs of a whole shared task (about 30 MB), read one after the other: decompressing it
# once instead of once a run is a hundred times faster. The time stamp and size in the key make a rewritten
# archive a different one.
@lru_cache(maxsize=4)
def _members(archive: str, mtime_ns: int, size: int) -> Mapping[str, memoryview]:  # noqa: ARG001
    """Contents of the regular files in an archive by name, as views into one buffer."""
    data = _decompress(archive, Path(archive).read_bytes())
    view = memoryview(data)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        return {
            member.name.removeprefix("./"): view[member.offset_data : member.offset_data + member.size]
            for member in tar
            if member.isreg()
        }
