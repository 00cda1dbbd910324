"""Read plain text with one segment per line."""

from __future__ import annotations

from pairsig.io.errors import InputError
from pairsig.io.files import AnyPath, text_of
from pairsig.readers import Reader


def read(path: AnyPath, *, skip_lines: int = 0) -> list[str]:
    r"""Read the lines of a file.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`.
    skip_lines
        Number of lines at the top that are not segments, such as the canary of WMT 2024.

    Returns
    -------
    One string per line, without the line end "\n" or "\r\n" (or "\r", if there is no "\n"). Other characters that
    Unicode calls line ends belong to
    the text. The last line needs no line end. Blank lines are segments, since the output of a system may be empty.
    """
    if skip_lines < 0:
        raise InputError(f"{path}: found skip_lines {skip_lines}, expected 0 or more")
    text = text_of(path)
    lines = text.split("\r" if "\r" in text and "\n" not in text else "\n")
    if not lines[-1]:  # what follows the last line end
        lines.pop()
    if not lines:
        raise InputError(f"{path}: found an empty file, expected one segment per line")
    if skip_lines >= len(lines):
        raise InputError(f"{path}: found {len(lines)} lines, expected more than the {skip_lines} that skip_lines skips")
    return [line.removesuffix("\r") for line in lines[skip_lines:]]


READER = Reader(
    read=read,
    content="outputs, one segment per line; needs `--reference`",
    metric="bleu",
    parallel=True,
    recognizes=lambda _: True,  # any file may be text, so the others are asked first
    example="the tea is hot .\n\nit is gone , a\u2028b\n",
)
