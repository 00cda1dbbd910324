"""How much memory is free."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from pairsig.io.errors import InputError


def require(n_bytes: int, noun: str, share: float = 1.0) -> None:
    """Raise an `InputError` if `noun` needs more bytes than this share of what is free."""
    left = int(share * free())
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
