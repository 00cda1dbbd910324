"""The report as a single HTML page that loads nothing and in which names of files or segments cannot act as markup."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from importlib.resources import files
from itertools import chain
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from pairsig import __version__
from pairsig.io.errors import escaped
from pairsig.io.rendering import count
from pairsig.report import words
from pairsig.report.evidence import Evidence

MOST_SEGMENTS = 100
"""Number of listed segments, those with the largest contributions; `FEWER` if there are several comparisons."""
FEWER = 40

_OPEN = 3
"""Number of comparisons that are expanded at first."""


def page(comparisons: Sequence[Evidence], notes: Sequence[str] = ()) -> str:
    """The HTML page; `notes` say what was read."""
    style, script = (files("pairsig.report").joinpath(f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    baselines = dict.fromkeys(it.system_a for it in comparisons)
    others = dict.fromkeys(it.system_b for it in comparisons)
    name = ", ".join(baselines)
    limits = [limit for limit in chain.from_iterable(it.signed for it in comparisons) if not math.isnan(limit)]
    return _environment().get_template("page.html.jinja").render(
        comparisons=comparisons,
        title=f"{name} and {next(iter(others))}" if len(others) == 1 else f"{len(others)} systems against {name}",
        one_baseline=len(baselines) == 1,  # the first system with the others, or the others with a baseline
        n_segments=max(len(it.segments) for it in comparisons),
        several_runs=any(max(it.runs) > 1 for it in comparisons),
        ends=(min(0.0, *limits), max(0.0, *limits)),
        style=style,
        notes=list(notes),
        script=script,
        version=__version__,
    )  # fmt: skip


def _environment() -> Environment:
    """What the template can use; every value is escaped, as markup and as invisible characters."""
    environment = Environment(
        loader=PackageLoader("pairsig.report", ""),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
    )
    environment.filters |= {
        "count": count,
        "points": words.points,
        "sentence": lambda note: f"{note[:1].upper()}{note[1:].rstrip('.')}.",
        "sha256": lambda text: f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}",
        "signed": words.signed,
        "zip": lambda first, second: list(zip(first, second, strict=False)),
    }
    environment.tests["nan"] = math.isnan
    environment.globals |= {
        name: getattr(words, name) for name in ("about_p", "about_segments", "headline", "interval")
    }
    environment.globals |= {"MOST_SEGMENTS": MOST_SEGMENTS, "FEWER": FEWER, "OPEN": _OPEN}
    return environment


def _visible(value: Any) -> Any:
    """A value as text in which invisible characters, and those that reverse the writing direction, are escaped."""
    if hasattr(value, "__html__"):  # markup of the template
        return value
    return escaped(str(value))
