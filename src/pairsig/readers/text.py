"""Plain text, one segment a line."""

from __future__ import annotations

from pairsig.errors import InputError
from pairsig.files import AnyPath, open_text


def read(path: AnyPath, *, skip_lines: int = 0) -> list[str]:
    r"""Lines of a file.

    Parameters
    ----------
    path
        A file, or a member of an archive; see `pairsig.readers`.
    skip_lines
        Lines at the top that are no segments, such as the canary of WMT 2024.

    Returns
    -------
    One string a line, without its end: "\n", or "\r\n". Other characters that Unicode calls line ends are
    text. A last line without end is a line; blank lines are segments (a system may have produced nothing).
    """
    if skip_lines < 0:
        raise InputError(f"{path}: found skip_lines {skip_lines}, expected 0 or more")
    lines = open_text(path).read().split("\n")
    if not lines[-1]:  # what follows the last line end
        lines.pop()
    if not lines:
        raise InputError(f"{path}: found an empty file, expected one segment a line")
    if skip_lines >= len(lines):
        raise InputError(f"{path}: found {len(lines)} lines, {skip_lines} of them skipped, expected segments below")
    return [line.removesuffix("\r") for line in lines[skip_lines:]]
