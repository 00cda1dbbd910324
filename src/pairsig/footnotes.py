"""What stands below a table in a paper: how its numbers were made, so that others can make them again."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"}


def of_signatures(signatures: Iterable[str], format: str) -> str:  # noqa: A002
    r"""The signatures of a table's rows as its last lines, those that differ in the metric alone as one.

    They are printed in LaTeX, too, small and below the tabular; "" for other formats, where they are not pasted.

    >>> of_signatures(["metric:f1|test:exact|seed:1", "metric:recall|test:exact|seed:1"], "markdown")
    '\n- `metric:f1,recall|test:exact|seed:1`'
    """
    metrics: dict[str, list[str]] = {}
    for signature in dict.fromkeys(signatures):
        metric, settings = signature.removeprefix("metric:").split("|", 1)
        metrics.setdefault(settings, []).append(metric)
    whole = [f"metric:{','.join(names)}|{settings}" for settings, names in metrics.items()]
    if format == "markdown":
        # The name of a metric may have backticks: more of them than it has in a row end the code.
        fences = ["`" * (1 + max(map(len, re.findall("`+", signature)), default=0)) for signature in whole]
        return "".join(f"\n- {fence}{signature}{fence}" for fence, signature in zip(fences, whole, strict=True))
    if format == "latex":
        return "".join(f"\n\\par{{\\footnotesize\\texttt{{{_escaped(signature)}}}}}" for signature in whole)
    return ""


def _escaped(text: str) -> str:
    return re.sub(r"[\\~^|&%$#_{}]", lambda found: _LATEX.get(found[0], f"\\{found[0]}"), text)
