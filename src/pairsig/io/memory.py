"""How much memory is free, and how much of it the process may use."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pairsig.io.errors import InputError


@dataclass(frozen=True)
class Memory:
    """A memory limit in bytes, for the process with the interpreter, libraries and data that are already loaded."""

    limit: int

    @classmethod
    def half(cls) -> Memory:
        """A limit of what is used already and half of what is free."""
        return cls(_taken() + free() // 2)

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
        "use a machine with more, or compare fewer systems"
    )


def shown(n_bytes: int) -> str:
    """A size as it is printed."""
    return f"{n_bytes / 2**30:,.1f} GiB" if n_bytes >= 2**30 else f"{-(-n_bytes // 2**20):,} MiB"


def free() -> int:
    """Free bytes of the machine."""
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
