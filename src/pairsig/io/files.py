"""Content of files as bytes, text or JSON; files may be plain, compressed, or members of an archive.

All bytes are read here, with limits on bytes (`MAX_BYTES`), lines (`MAX_LINES`) and the length of a line (`MAX_LINE`).
A damaged or hostile file therefore causes an error message instead of filling the memory.
"""

from __future__ import annotations

import fnmatch
import io
import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from os import PathLike, fspath
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO, TypeAlias

from pairsig.io.choices import near
from pairsig.io.errors import InputError, named, reason
from pairsig.io.packages import need

if TYPE_CHECKING:
    import zipfile

AnyPath: TypeAlias = str | PathLike[str]

MAX_BYTES = 2**30
"""Maximum bytes of a decompressed file or archive. The largest one in the study, with all runs, has 8 % of it."""
MAX_LINES = 5_000_000
"""Maximum lines of a text file, and so of segments of a test set. The longest in the study has 250,000."""
MAX_LINE = 10_000_000
"""Maximum bytes of a line, or of a segment that spans several lines. The longest in the study has 10,000."""
MAX_JSON = 2**28
"""Maximum bytes of a JSON document, which is read as a whole. Small objects need ten times their size in memory."""
_CHUNK = 2**24
_ZSTANDARD = 93  # number of the method in a zip archive; `zipfile` supports it from Python 3.14 on

_MEMBER = re.compile(r"(?P<archive>.+?\.(?:tar|tar\.gz|tar\.xz|tgz|txz|zip))!(?P<member>.+)", re.DOTALL)
# A damaged header of an archive can cause a ValueError, and so does a path with a NUL character.
_UNREADABLE = (OSError, EOFError, ValueError, RuntimeError)
_DECOMPRESSION = ("_lzma", "tarfile", "zipfile", "zlib")
"""Modules whose errors mean the same. They are imported for the files that need them."""


def open_text(path: AnyPath) -> TextIO:
    r"""The text of a file, in memory; the file may be plain, `.gz`, `.xz`, or a member of an archive.

    The text must be UTF-8; a byte order mark is dropped. Lines end only at "\n", and no line end is
    translated, since corpora contain U+2028, form feeds and lone carriage returns inside segments.
    """
    data = _checked(path)
    _decoded(path, data)
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n")


def text_of(path: AnyPath) -> str:
    """All of a text, see `open_text`, which is decoded once."""
    return _decoded(path, _checked(path))


def _checked(path: AnyPath) -> bytes:
    """The bytes of a text without a byte order mark, and with lines within the limits."""
    data = content(path).removeprefix(BOM_UTF8)
    _check_lines(path, data)
    return data


def _check_lines(path: AnyPath, data: bytes) -> None:
    """Refuse text with NUL characters, with too many lines or with too long ones."""
    if (nul := data.find(b"\0")) >= 0:
        raise InputError(f"{path}, line {_line(data, nul)}: found a NUL character, expected UTF-8 text")
    if (lines := data.count(b"\n")) > MAX_LINES:
        raise InputError(f"{path}: found {lines:,} lines, expected at most {MAX_LINES:,}")
    start = 0
    while len(data) - start > MAX_LINE:
        end = data.rfind(b"\n", start, start + MAX_LINE + 1)
        if end < 0:
            line = _line(data, start)
            raise InputError(
                f"{path}, line {line}: found a line of more than {MAX_LINE:,} bytes, expected shorter lines"
            )
        start = end + 1


def _decoded(path: AnyPath, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        invalid = data[error.start : error.end].hex(" ")
        utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        raise InputError(
            f"{path}, line {_line(data, error.start)}: found {'UTF-16' if utf16 else f'bytes {invalid}'}, "
            "expected UTF-8\n"
            "save the file again as UTF-8"
        ) from None


def _line(data: bytes, position: int) -> int:
    """Number of the line that contains the byte at `position`."""
    return data.count(b"\n", 0, position) + 1


def content(path: AnyPath) -> bytes:
    """Decompressed content of a file or of a member of an archive, no more than `MAX_BYTES`."""
    name = fspath(path)
    match = _MEMBER.fullmatch(name)
    with _reading(path):
        if match is None:
            with opened(name) as file:
                return _decompressed(name, file)
        status = Path(match["archive"]).stat()
        members = _members(match["archive"], status.st_mtime_ns, status.st_size)
        if match["member"] not in members:
            suggestion = near(match["member"], members)
            raise InputError(f"{match['archive']}: found no member {named(match['member'])} in the archive{suggestion}")
        return _decompressed(match["member"], io.BytesIO(members[match["member"]]))


def matching(path: AnyPath) -> list[str]:
    """The members of an archive that match a pattern, `treebank.zip!combined/wsj_00*.mrg`; else the path itself."""
    name = fspath(path)
    match = _MEMBER.fullmatch(name)
    if match is None or not set("*?[") & set(match["member"]):
        return [name]
    with _reading(path):
        status = Path(match["archive"]).stat()
        members = fnmatch.filter(_members(match["archive"], status.st_mtime_ns, status.st_size), match["member"])
    if not members:
        raise InputError(f"{match['archive']}: found no member that matches {named(match['member'])} in the archive")
    return [f"{match['archive']}!{member}" for member in sorted(members)]


def beginning(path: AnyPath, size: int = 2**16) -> bytes:
    """The first bytes of what `content` returns, enough to recognise a format; the rest is not checked."""
    if _MEMBER.fullmatch(fspath(path)):
        return content(path)[:size]
    with _reading(path), opened(path) as file:
        return _reader(fspath(path), file)(size)


def opened(path: AnyPath) -> IO[bytes]:
    """Open a file to read bytes; a pipe is refused, since its format is looked at before it is read."""
    if Path(path).is_fifo():
        raise InputError(f"{path}: found a pipe, which can be read only once, expected a file")
    return Path(path).open("rb")


def read_json(path: AnyPath) -> Any:
    """The JSON document in a file."""
    return parse_json(path, content(path))


def parse_json(path: AnyPath, data: bytes) -> Any:
    """The JSON document in `data`; `path` is named in errors. NaN and Infinity are numbers, as Python writes them."""
    if len(data) > MAX_JSON:
        raise InputError(f"{path}: found {len(data):,} bytes of JSON, expected at most {MAX_JSON:,}")
    text = _decoded(path, data.removeprefix(BOM_UTF8))
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}, line {error.lineno}: found invalid JSON ({error.msg}), expected a complete document"
        ) from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, or deeply nested brackets
        raise InputError(f"{path}: found invalid JSON ({reason(error)}), expected a complete document") from None


def zip_members(path: AnyPath) -> Mapping[str, Callable[[], bytes]]:
    """Functions that read the members of a zip archive, by name: stored, deflated or zstandard.

    No member may exceed `MAX_BYTES`; the sizes that the archive declares are not trusted.
    """
    import zipfile

    if _MEMBER.fullmatch(fspath(path)):
        raise InputError(f"{path}: found a zip archive inside another archive, expected a file; extract it first")
    with _reading(path), opened(path) as file, zipfile.ZipFile(file) as archive:
        members = archive.infolist()

    def reader(member: zipfile.ZipInfo) -> Callable[[], bytes]:
        return lambda: _zip_member(path, member)

    return {member.filename: reader(member) for member in members if not member.is_dir()}


def _zip_member(path: AnyPath, member: zipfile.ZipInfo) -> bytes:
    import zipfile
    import zlib

    name = f"{path}!{named(member.filename)}"
    with _reading(name):
        if member.compress_type != _ZSTANDARD:
            with opened(path) as whole, zipfile.ZipFile(whole) as archive, archive.open(member) as file:
                return _bounded(name, file.read)
        need("pyarrow")
        import pyarrow as pa

        with opened(path) as file:
            file.seek(member.header_offset)
            header = file.read(30)
            if header[:4] != b"PK\3\4" or member.flag_bits & 1:
                raise InputError(f"{name}: cannot be read (damaged or encrypted)")
            file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), io.SEEK_CUR)
            packed = file.read(min(member.compress_size, MAX_BYTES))
        data = _bounded(name, pa.CompressedInputStream(pa.BufferReader(packed), "zstd").read)
        if zlib.crc32(data) != member.CRC:
            raise InputError(f"{name}: cannot be read (damaged: its checksum is wrong)")
        return data


@contextmanager
def _reading(path: AnyPath) -> Iterator[None]:
    """Turn errors of reading a file into an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if not isinstance(error, _UNREADABLE) and type(error).__module__ not in _DECOMPRESSION:
            raise
        details = getattr(error, "strerror", None) or f"damaged, or not in the format of its suffix: {reason(error)}"
        raise InputError(f"{path}: cannot be read ({details})") from None


def _decompressed(name: str, file: IO[bytes]) -> bytes:
    """Content of a file, decompressed according to its suffix."""
    return _bounded(name, _reader(name, file))


def _reader(name: str, file: IO[bytes]) -> Callable[[int], bytes]:
    """A function that reads a number of bytes from a file, decompressed according to its suffix."""
    if name.endswith((".gz", ".tgz")):
        import gzip

        return gzip.GzipFile(fileobj=file).read
    if name.endswith((".xz", ".txz")):
        import lzma

        return lzma.LZMAFile(file).read
    return file.read


def _bounded(name: str, read: Callable[[int], bytes]) -> bytes:
    """All that `read` returns, in chunks; an error if it exceeds `MAX_BYTES`."""
    pieces: list[bytes] = []
    size = 0
    while piece := read(_CHUNK):
        size += len(piece)
        if size > MAX_BYTES:
            raise InputError(f"{name}: found more than {MAX_BYTES:,} bytes of content, expected at most that many")
        pieces.append(piece)
    return b"".join(pieces)


# An archive may contain the runs of a whole shared task (up to 90 MB), which are read one after the other.
# Decompressing it once instead of once per run is a hundred times faster. The time stamp and the size are part
# of the cache key, so that a rewritten archive is read again.
@lru_cache(maxsize=4)
def _members(archive: str, mtime_ns: int, size: int) -> Mapping[str, memoryview]:  # noqa: ARG001
    """Contents of the regular files in an archive, by name, as views into one buffer."""
    if archive.endswith(".zip"):
        return {name: memoryview(read()) for name, read in zip_members(archive).items()}
    import tarfile

    with opened(archive) as file:
        data = _decompressed(archive, file)
    view = memoryview(data)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        return {
            member.name.removeprefix("./"): view[member.offset_data : member.offset_data + member.size]
            for member in tar
            if member.isreg()
        }
