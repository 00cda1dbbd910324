"""Bytes and text of files: plain, compressed, or members of an archive, within bounds.

Bytes are read here and nowhere else, so that a file that is damaged, hostile or no text at all costs a sentence and not
the machine's memory: no more than `MAX_BYTES` of it, in no more than `MAX_LINES` lines of no more than `MAX_LINE`.

A pipe (`<(zcat a.gz)`, /dev/stdin) gives its bytes once. They are kept, so that it can be read again like a file.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import re
import stat
import tarfile
import time
import zipfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from functools import lru_cache
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, TextIO, TypeAlias

from pairsig.choices import near
from pairsig.errors import InputError, named, reason

AnyPath: TypeAlias = str | PathLike[str]

MAX_BYTES = 2**30
"""Bytes of a file or archive, decompressed. The largest of the study, all runs on a test set, have 8 % of it."""
MAX_LINES = 5_000_000
"""Lines of a file of text, and so segments of a test set. The longest of the study has 250,000."""
MAX_LINE = 10_000_000
"""Bytes of a line, and of a segment that spreads over several: ten novels. The longest of the study has 10,000."""
MAX_JSON = 2**28
"""Bytes of a document of JSON, which is read as a whole. Its objects take ten times the memory where they are small."""
_CHUNK = 2**24
_WAIT = 10.0
"""Seconds that a pipe without a writer is waited for; one with a writer is waited for as long as it takes."""
_ZSTANDARD = 93  # the method's number in a zip archive; `zipfile` knows it from Python 3.14 on

_MEMBER = re.compile(r"(?P<archive>.+?\.(?:tar|tar\.gz|tar\.xz|tgz|txz))!(?P<member>.+)", re.DOTALL)
# A header of an archive that is damaged can be a ValueError, and so is a path with a NUL character.
_UNREADABLE = (
    OSError, EOFError, ValueError, RuntimeError, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, zlib.error
)  # fmt: skip


def open_text(path: AnyPath) -> TextIO:
    r"""The text of a file, in memory: plain, `.gz`, `.xz`, or a member of an archive.

    UTF-8, strictly; a byte order mark is dropped. Lines end at "\n" and nowhere else, and nothing is
    translated: corpora hold U+2028, form feeds and lone carriage returns inside segments.

    Raises
    ------
    InputError
        For what cannot be read, with the line for bytes that are not UTF-8 and for NUL characters (UTF-16 has them),
        and for more than `MAX_BYTES`, `MAX_LINES` or `MAX_LINE`.
    """
    data = content(path).removeprefix(BOM_UTF8)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        found = data[error.start : error.end].hex(" ")
        raise InputError(f"{path}, line {_line(data, error.start)}: found bytes {found}, expected UTF-8") from None
    if (nul := data.find(b"\0")) >= 0:
        raise InputError(f"{path}, line {_line(data, nul)}: found a NUL character, expected UTF-8 text")
    if (lines := data.count(b"\n")) > MAX_LINES:
        raise InputError(f"{path}: found {lines:,} lines, expected no more than {MAX_LINES:,}")
    start = 0
    while len(data) - start > MAX_LINE:
        end = data.rfind(b"\n", start, start + MAX_LINE + 1)
        if end < 0:
            line = _line(data, start)
            raise InputError(
                f"{path}, line {line}: found a line of more than {MAX_LINE:,} bytes, expected shorter ones"
            )
        start = end + 1
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n")


def _line(data: bytes, position: int) -> int:
    """The number of the line that a byte is in."""
    return data.count(b"\n", 0, position) + 1


def content(path: AnyPath) -> bytes:
    """Decompressed content of a file or of a member of an archive, no more than `MAX_BYTES`."""
    name = fspath(path)
    match = _MEMBER.fullmatch(name)
    try:
        if match is None:
            with opened(name) as file:
                return _decompressed(name, file)
        status = Path(match["archive"]).stat()
        members = _members(match["archive"], status.st_mtime_ns, status.st_size)
        if match["member"] not in members:
            raise InputError(f"{match['archive']}: no member {named(match['member'])}{near(match['member'], members)}")
        return _decompressed(match["member"], io.BytesIO(members[match["member"]]))
    except InputError:
        raise
    except _UNREADABLE as error:
        raise _unreadable(path, error) from None


def beginning(path: AnyPath, size: int = 2**16) -> bytes:
    """The first bytes of what `content` returns, by which a format is known; the rest may be damaged."""
    if _MEMBER.fullmatch(fspath(path)):
        return content(path)[:size]
    try:
        with opened(path) as file:
            return _reader(fspath(path), file)(size)
    except InputError:
        raise
    except _UNREADABLE as error:
        raise _unreadable(path, error) from None


def opened(path: AnyPath) -> IO[bytes]:
    """A file to read bytes from; a pipe is read to its end, and can be opened again."""
    status = Path(path).stat()
    if not stat.S_ISFIFO(status.st_mode):
        return Path(path).open("rb")
    known = _PIPES.get((status.st_dev, status.st_ino))
    if known is None or known[0] != status.st_mtime_ns:  # nothing was written since
        data = _of_pipe(fspath(path))
        known = _PIPES[status.st_dev, status.st_ino] = Path(path).stat().st_mtime_ns, data
    return io.BytesIO(known[1])


_PIPES: dict[tuple[int, int], tuple[int, bytes]] = {}
"""What pipes gave, by device and inode, with the time of the last write."""


def _of_pipe(name: str) -> bytes:
    """All that is written to a pipe, after a writer has come."""
    with open(os.open(name, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:  # noqa: PTH123
        until = time.monotonic() + _WAIT
        # Without a writer nothing is read; from one that has not written yet, None.
        while (first := file.read(_CHUNK)) == b"" and not _was_written(file):
            if time.monotonic() > until:
                raise InputError(
                    f"{name}: found a pipe that nothing writes to (waited {_WAIT:g} seconds), expected a file, or a "
                    "program that writes to the pipe"
                )
            time.sleep(0.05)
        os.set_blocking(file.fileno(), True)
        return (first or b"") + _bounded(name, file.read)


def _was_written(file: IO[bytes]) -> bool:
    """Whether a pipe had a writer, who is gone."""
    import select

    poll = select.poll()
    poll.register(file, select.POLLIN)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def read_json(path: AnyPath) -> Any:
    """The document of JSON that a file is."""
    return parse_json(path, content(path))


def parse_json(path: AnyPath, data: bytes) -> Any:
    """A document of JSON; `path` is named in errors. NaN and Infinity are numbers, as Python writes them."""
    if len(data) > MAX_JSON:
        raise InputError(f"{path}: found {len(data):,} bytes of JSON, expected no more than {MAX_JSON:,}")
    try:
        return json.loads(data.removeprefix(BOM_UTF8).decode("utf-8"))
    except UnicodeDecodeError as error:
        found = data[error.start : error.end].hex(" ")
        raise InputError(f"{path}, line {_line(data, error.start)}: found bytes {found}, expected UTF-8") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}, line {error.lineno}: found no JSON ({error.msg}), expected a whole document"
        ) from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, brackets in brackets in brackets
        raise InputError(f"{path}: found no JSON that can be read ({reason(error)})") from None


def zip_members(path: AnyPath) -> Mapping[str, Callable[[], bytes]]:
    """What reads the members of a zip archive, by name: stored, deflated or zstandard, none of more than `MAX_BYTES`.

    What an archive says of the size of a member is not believed.
    """
    if _MEMBER.fullmatch(fspath(path)):
        raise InputError(f"{path}: a zip archive in another archive cannot be read, expected a file of its own")
    try:
        with opened(path) as file, zipfile.ZipFile(file) as archive:
            members = archive.infolist()
    except InputError:
        raise
    except (*_UNREADABLE, NotImplementedError) as error:
        raise _unreadable(path, error) from None

    def reader(member: zipfile.ZipInfo) -> Callable[[], bytes]:
        return lambda: _zip_member(path, member)

    return {member.filename: reader(member) for member in members if not member.is_dir()}


def _zip_member(path: AnyPath, member: zipfile.ZipInfo) -> bytes:
    name = f"{path}!{named(member.filename)}"
    try:
        if member.compress_type != _ZSTANDARD:
            with opened(path) as whole, zipfile.ZipFile(whole) as archive, archive.open(member) as file:
                return _bounded(name, file.read)
        import pyarrow as pa

        with opened(path) as file:
            file.seek(member.header_offset)
            header = file.read(30)
            if header[:4] != b"PK\3\4" or member.flag_bits & 1:
                raise InputError(f"{name}: cannot be read (damaged, or encrypted)")
            file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), io.SEEK_CUR)
            packed = file.read(min(member.compress_size, MAX_BYTES))
        data = _bounded(name, pa.CompressedInputStream(pa.BufferReader(packed), "zstd").read)
        if zlib.crc32(data) != member.CRC:
            raise InputError(f"{name}: cannot be read (its checksum is another: damaged)")
        return data
    except InputError:
        raise
    except (*_UNREADABLE, NotImplementedError) as error:
        raise _unreadable(name, error) from None


def _unreadable(path: AnyPath, error: Exception) -> InputError:
    told = getattr(error, "strerror", None) or f"not in the format its name says, or damaged: {reason(error)}"
    return InputError(f"{path}: cannot be read ({told})")


def _decompressed(name: str, file: IO[bytes]) -> bytes:
    """What is in a file, decompressed as its name says."""
    return _bounded(name, _reader(name, file))


def _reader(name: str, file: IO[bytes]) -> Callable[[int], bytes]:
    """What reads so many bytes of a file, decompressed as its name says."""
    if name.endswith((".gz", ".tgz")):
        return gzip.GzipFile(fileobj=file).read
    if name.endswith((".xz", ".txz")):
        return lzma.LZMAFile(file).read
    return file.read


def _bounded(name: str, read: Callable[[int], bytes]) -> bytes:
    """All that can be read, piece by piece until it is too much."""
    pieces: list[bytes] = []
    size = 0
    while piece := read(_CHUNK):
        size += len(piece)
        if size > MAX_BYTES:
            raise InputError(f"{name}: found more than {MAX_BYTES:,} bytes of content, expected no more")
        pieces.append(piece)
    return b"".join(pieces)


# An archive holds the runs of a whole shared task (up to 90 MB), read one after the other: decompressing it
# once instead of once a run is a hundred times faster. The time stamp and size in the key make a rewritten
# archive a different one.
@lru_cache(maxsize=4)
def _members(archive: str, mtime_ns: int, size: int) -> Mapping[str, memoryview]:  # noqa: ARG001
    """Contents of the regular files in an archive by name, as views into one buffer."""
    with opened(archive) as file:
        data = _decompressed(archive, file)
    view = memoryview(data)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        return {
            member.name.removeprefix("./"): view[member.offset_data : member.offset_data + member.size]
            for member in tar
            if member.isreg()
        }
