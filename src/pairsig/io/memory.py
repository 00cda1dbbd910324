"""How much memory is free, and how much of it the process may use."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pairsig.io.errors import InputError

_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?) ?([KMGT])(?:i?B)?", re.IGNORECASE)


@dataclass(frozen=True)
class Memory:
    """A memory limit in bytes, for the process with the interpreter, libraries and data that are already loaded."""

    limit: int

    @classmethod
    def of(cls, amount: Memory | int | str | None = None) -> Memory:
        """A limit from bytes or from a size such as "4G". Default: what is used already, and half of what is free."""
        if amount is None:
            return cls(_taken() + free() // 2)
        if isinstance(amount, Memory):
            return amount
        limit = parse(amount) if isinstance(amount, str) else amount
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise InputError(f"found the memory {amount!r}, expected a number of bytes, or a size such as 500M or 4G")
        return cls(limit)

    @classmethod
    def whole(cls) -> Memory:
        """A limit of what is used already and all that is free."""
        return cls(_taken() + free())

    @property
    def left(self) -> int:
        """Bytes below the limit that the process does not use yet."""
        return max(0, self.limit - _taken())

    def require(self, n_bytes: int, noun: str) -> None:
        """Raise an `InputError` if `what` needs more bytes than are left."""
        left = self.left
        if n_bytes > left:
            raise too_little(n_bytes, left, noun)


def too_little(needed: int, left: int, noun: str) -> InputError:
    """The error if memory does not suffice."""
    return InputError(
        f"{noun}: at least {shown(needed)} of memory are needed, and {shown(left)} are left; "
        "raise the limit (--memory, memory=) or compare fewer systems"
    )


def parse(text: str) -> int:
    """The bytes of a size such as 500M, 4G or 1.5 GiB; K, M, G and T are powers of 1024."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise InputError(f"found the memory {text!r}, expected a size such as 500M or 4G")
    number, unit = match.groups()
    return round(float(number) * 2.0 ** (10 * (1 + "KMGT".index(unit.upper()))))


def shown(n_bytes: int) -> str:
    """A size as it is printed."""
    return f"{n_bytes / 2**30:,.1f} GiB" if n_bytes >= 2**30 else f"{-(-n_bytes // 2**20):,} MiB"


def free() -> int:
    """Free bytes of the machine. Containers and jobs of a cluster may have less, which `--memory` says."""
    import psutil

    return int(psutil.virtual_memory().available)


def _taken() -> int:
    import psutil

    return int(psutil.Process().memory_info().rss)


@contextmanager
def without_collector() -> Iterator[None]:
    """Do not look for cycles among objects, which takes a third of the time in which large logs are read."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
