"""The report as a single HTML page that loads nothing and in which names of files or segments cannot act as markup."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

import numpy as np

from pairsig import __version__
from pairsig.io.rendering import count
from pairsig.report.evidence import Evidence, Null
from pairsig.report.flips import flipped, passed_or_failed
from pairsig.report.words import about_p, about_segments, caption, headline, interval, points, signed

MOST_SEGMENTS = 100
"""Number of listed segments, those with the largest contributions; `FEWER` if there are several comparisons."""
FEWER = 40

_OPEN = 3
"""Number of comparisons that are expanded at first."""


def page(found: Sequence[Evidence]) -> str:
    """The HTML page."""
    style, script = (files("pairsig.report").joinpath(f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    first = found[0]
    bases = dict.fromkeys(own.system_a for own in found)
    others = dict.fromkeys(own.system_b for own in found)
    base = ", ".join(bases)
    title = f"{base} and {first.system_b}" if len(others) == 1 else f"{len(others)} systems against {base}"
    segments = max(len(own.segments) for own in found)
    metrics = ", ".join(dict.fromkeys(own.metric for own in found))
    runs = " · methods with several runs" if max(max(own.runs) for own in found) > 1 else ""
    body = [
        f"<header><h1>{_text(title)}</h1>",
        f'<p class="soft">{_text(metrics)} · {count(segments)} segments · unit: {first.unit}{runs}</p></header>',
    ]
    if len(found) == 1:
        body.append(f"<main>{_comparison(first, MOST_SEGMENTS)}</main>")
    else:
        body.append(_overview(found))
        for place, own in enumerate(found):
            shown, name = " open" * (place < _OPEN), f"{own.metric}: {own.system_a} and {own.system_b}"
            content = f"<summary>{_text(name)}</summary>{_comparison(own, FEWER)}"
            body.append(f'<details id="c{place}"{shown}>{content}</details>')
    body.append(f'<footer class="soft">Made by pairsig {_text(__version__)}. This file needs no network.</footer>')
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            # Only this style and this script are allowed, so that markup in a name could neither run nor load anything.
            f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{_hash(style)}'; "
            f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'\">",
            f"<title>{_text(title)} – pairsig</title>",
            f"<style>{style}</style></head><body>",
            *body,
            f"<script>{script}</script></body></html>",
            "",
        ]
    )


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _text(content: object) -> str:
    """Text for HTML, with markup, invisible characters and those that reverse the writing direction escaped."""
    return escape("".join(c if c.isprintable() else repr(c)[1:-1] for c in str(content)), quote=True)


def _overview(found: Sequence[Evidence]) -> str:
    """All comparisons in one table."""
    ends = [end for own in found for end in _signed(own) if not math.isnan(end)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    adjusted = any(holm for own in found for *_, holm in own.tests)
    of_b = len({own.system_a for own in found}) == 1  # the first system with the others, or the others with a baseline
    head = [("System", "name"), ("Metric", ""), ("Score", "n wide"), ("A − B [95 %]", "n"), ("", "picture wide")]
    # A phone has room for only one p-value.
    head += [("p", "n wide"), ("p (Holm)", "n")] if adjusted else [("p", "n")]
    rows = []
    for place, own in enumerate(found):
        difference, least, most = _signed(own)
        system, score = (own.system_b, own.score_b) if of_b else (own.system_a, own.score_a)
        _, p, holm = own.tests[0]
        cells = [
            (system, f'<a href="#c{place}">{_text(system)}</a>'),
            (own.metric, _text(own.metric)),
            (score, points(score, own.digits)),
            (difference, _text(f"{signed(difference, own.digits)}{interval(least, most, own.digits)}")),
            (difference, _whisker(difference, least, most, low, high)),
            (own.p, _text(p)),
            (holm, _text(holm)),
        ]
        rows.append(cells[: len(head)])
    a, b = (found[0].system_a, "the system of the row") if of_b else ("the system of the row", found[0].system_b)
    note = f"A is {a}, and B {b}. The column p is for: {found[0].tests[0][0]}."
    if adjusted:
        note += " p (Holm) is adjusted for the number of systems; use it, not p, to find the systems that differ."
    return f'<h2>At a glance</h2>{_table(head, rows)}<p class="note">{_text(note)}</p>'


def _signed(own: Evidence) -> tuple[float, float, float]:
    """The score of system A minus that of system B, and its interval."""
    if own.score_a >= own.score_b or not own.better:
        return own.gain, own.low, own.high
    return -own.gain, -own.high, -own.low


def _comparison(own: Evidence, most: int) -> str:
    won, tied, lost = own.outcomes
    label, p, _ = own.tests[0]
    gain = f"{points(own.gain, own.digits)}{interval(own.low, own.high, own.digits)}"
    facts = [
        ("Gain", gain, "points [95 % interval]" if not math.isnan(own.low) else "points; no interval"),
        ("p", p, label),
        ("Won, tied, lost", f"{count(won)} / {count(tied)} / {count(lost)}", f"segments, for {own.ahead}"),
    ]
    if not math.isnan(own.correlation):
        facts.append(("Correlation", f"{own.correlation:.2f}", "of the systems' segment contributions (1: identical)"))
    description = "".join(
        f"<div><dt>{_text(a)}</dt><dd>{_text(b)}<small>{_text(c)}</small></dd></div>" for a, b, c in facts
    )
    parts = [
        f"<h2>{_text(headline(own))}</h2>",
        f'<dl class="facts">{description}</dl>',
        f"<blockquote><p>{_text(own.sentence)}</p></blockquote>",
        "<h3>What p means, and what it does not</h3>",
        _list([*about_p(own), *map(_sentence, own.notes)]),
        _null(own),
        _parts(own),
        _outcomes(own),
        _domains(own),
        _carrying(own, most),
        _flipped(own, most),
        _tests(own),
    ]
    return "\n".join(part for part in parts if part)


def _list(sentences: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{_text(sentence)}</li>" for sentence in sentences) + "</ul>"


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:].rstrip('.')}."


def _null(own: Evidence) -> str:
    if own.null is None:
        return ""
    pictures = "".join(
        f'<div class="{kind}">{_null_svg(own.null, own.gain, own.digits, width)}</div>'
        for kind, width in (("wide", 760), ("narrow", 350))
    )
    return (
        f"<h3>If neither system were better</h3><figure>{pictures}"
        '<ul class="key"><li class="k-null">gains by chance alone</li>'
        '<li class="k-extreme">gains that p counts</li></ul>'
        f"<figcaption>{_text(caption(own))}</figcaption></figure>"
    )


def _null_svg(null: Null, gain: float, places: int, width: int) -> str:
    height, left, right, top, bottom = 230, 12, 12, 28, 40
    reach = max(abs(null.edges[0]), null.edges[-1], 1.06 * gain)
    density = null.mass / np.diff(null.edges)
    highest = float(density.max()) or 1.0

    def x(value: float) -> float:
        return float(left + (value + reach) / (2 * reach) * (width - left - right))

    base = height - bottom
    bars = []
    sides = zip(null.edges[:-1], null.edges[1:], density / highest, null.counted, strict=True)
    for low, high, share, counted in sides:
        tall = share * (base - top)
        if tall <= 0:
            continue
        kind = "extreme" if counted else "null"
        span = max(0.6, x(high) - x(low) - 0.5)
        bars.append(
            f'<rect class="{kind}" x="{x(low):.1f}" y="{base - tall:.1f}" width="{span:.1f}" height="{tall:.1f}"/>'
        )
    ticks = [
        f'<line class="axis" x1="{x(at):.1f}" x2="{x(at):.1f}" y1="{base}" y2="{base + 5}"/>'
        f'<text x="{x(at):.1f}" y="{base + 18}" text-anchor="middle">{_text(_plain(at))}</text>'
        for at in _ticks(-reach, reach, 8 if width > 500 else 5)
    ]
    anchor = "end" if x(gain) > 0.6 * width else "start"
    shift = -6 if anchor == "end" else 6
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="null distribution of the gain">'
        f'{"".join(bars)}<line class="axis" x1="{left}" x2="{width - right}" y1="{base}" y2="{base}"/>{"".join(ticks)}'
        f'<text x="{width / 2:.0f}" y="{height - 5}" text-anchor="middle">gain, in points</text>'
        f'<line class="seen" x1="{x(gain):.1f}" x2="{x(gain):.1f}" y1="{top - 8}" y2="{base}"/>'
        f'<text class="strong" x="{x(gain) + shift:.1f}" y="{top - 2}" text-anchor="{anchor}">'
        f"{_text(f'observed: {points(gain, places)}')}</text></svg>"
    )


def _parts(own: Evidence) -> str:
    if not own.parts:
        return ""
    kinds = ("ahead", "behind", "tied")
    shares = [(name, share, kind) for (name, share), kind in zip(own.parts, kinds, strict=False)]
    key = "".join(f'<li class="k-{kind}">{_text(f"{100 * share:.0f} % {name}")}</li>' for name, share, kind in shares)
    return (
        "<h3>Why a gain between one run of each method varies: shares of its variance</h3>"
        f'<figure class="bar">{_bar([(share, kind) for _, share, kind in shares])}<ul class="key">{key}</ul></figure>'
    )


def _bar(parts: Sequence[tuple[float, str]]) -> str:
    whole, at, rects = math.fsum(size for size, _ in parts) or 1.0, 0.0, []
    for size, kind in parts:
        span = 1000 * size / whole
        rects.append(f'<rect class="{kind}" x="{at:.2f}" y="0" width="{span:.2f}" height="10"/>')
        at += span
    return f'<svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">{"".join(rects)}</svg>'


def _outcomes(own: Evidence) -> str:
    won, tied, lost = own.outcomes
    n = max(1, len(own.segments))

    def description(n_segments: int, what: str) -> str:
        return _text(f"{count(n_segments)} ({100 * n_segments / n:.0f} %) {what}")

    return (
        "<h3>Segment by segment</h3>"
        f'<figure class="bar">{_bar([(won, "ahead"), (tied, "tied"), (lost, "behind")])}'
        f'<ul class="key"><li class="k-ahead">{description(won, f"{own.ahead} better")}</li>'
        f'<li class="k-tied">{description(tied, "no difference")}</li>'
        f'<li class="k-behind">{description(lost, f"{own.behind} better")}</li></ul></figure>'
        f"{_list(about_segments(own))}"
    )


def _domains(own: Evidence) -> str:
    table = own.domains
    if not len(table):
        return ""
    ends = table[["gain", "low", "high"]].to_numpy(dtype=np.float64)
    low, high = min(0.0, float(np.nanmin(ends))), max(0.0, float(np.nanmax(ends)))
    rows = [
        [
            (row.domain, _text(row.domain)),
            (row.n_segments, count(row.n_segments)),
            (row.gain, _text(f"{signed(row.gain, own.digits)}{interval(row.low, row.high, own.digits)}")),
            (row.gain, _whisker(row.gain, row.low, row.high, low, high)),
        ]
        for row in table.itertuples(index=False)
    ]
    head = [("Domain", "name"), ("Segments", "n wide"), ("Gain [95 %]", "n"), ("", "picture")]
    note = (
        f"The gain of {own.ahead} on the segments of each domain. Each 95 % interval is for a single domain, so the "
        "most extreme domain is also the least reliable one. There is no interval if the systems differ on too few "
        "segments."
    )
    return f'<h3>By domain</h3>{_table(head, rows)}<p class="note">{_text(note)}</p>'


def _whisker(gain: float, low: float, high: float, least: float, most: float) -> str:
    """A gain with its interval, on an axis from the smallest to the largest value of all rows."""
    span = (most - least) or 1.0

    def x(value: float) -> float:
        return 6 + 188 * (value - least) / span

    reach = "" if math.isnan(low) or low == high else (
        f'<line class="reach" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="10" y2="10"/>'
    )  # fmt: skip
    return (
        f'<svg viewBox="0 0 200 20" aria-hidden="true"><line class="zero" x1="{x(0):.1f}" '
        f'x2="{x(0):.1f}" y1="0" y2="20"/>{reach}<circle class="dot" cx="{x(gain):.1f}" cy="10" r="4"/></svg>'
    )


def _flipped(own: Evidence, most: int) -> str:
    """Items that only one system passes, or, of other items with a text, those that change most."""
    flips_only = passed_or_failed(own.segments)
    texts = [name for name in ("input", "target") if (own.segments[name] != "").any()]
    if not flips_only and not texts:
        return ""
    sign = 1 if own.ahead == own.system_a else -1
    segments = own.segments.assign(carried=sign * own.segments["carried"])
    found = flipped(segments, most if flips_only else None)
    parts = []
    for direction, winner, loser in (("lost", own.system_b, own.system_a), ("gained", own.system_a, own.system_b)):
        rows = found[found["direction"] == direction]
        n = int(((segments["carried"] > 0) == (direction == "gained"))[segments["carried"] != 0].sum())
        if not n:
            continue
        what = f"{winner} passes and {loser} fails" if flips_only else f"{winner} scores better than {loser}"
        limit = f" ({count(len(rows))} of them {'is' if len(rows) == 1 else 'are'} shown)" if len(rows) < n else ""
        head = [("Item", "name"), *((name.capitalize(), "name wide") for name in texts)]
        cells = [[(cell, _text(cell)) for cell in row] for row in rows[["segment", *texts]].itertuples(index=False)]
        parts.append(f'<p class="note">{_text(f"{count(n)}: {what}{limit}")}</p>{_table(head, cells, "scroll")}')
    title = "Items that flipped" if flips_only else "Items that changed most"
    return f"<h3>{title}</h3>{''.join(parts)}" if parts else ""


def _carrying(own: Evidence, most: int) -> str:
    table = own.segments[own.segments["carried"] != 0]
    if not len(table):
        return ""
    shown = table.sort_values("carried", key=lambda size: -size.abs(), kind="stable").head(most)
    labels = [name for name in ("document", "domain") if (own.segments[name] != "").any()]
    head = [("Segment", "name"), *((name.capitalize(), "wide") for name in labels)]
    head += [(own.system_a, "n"), (own.system_b, "n"), ("Contribution", "n")]
    # Sort keys have all digits, since rounded numbers would tie.
    rows = [
        [
            *((row[name], _text(row[name])) for name in ("segment", *labels)),
            *((row[name], points(row[name])) for name in ("score_a", "score_b")),
            (row["carried"], _text(f"{row['carried']:+.3g}".replace("-", "−"))),
        ]
        for row in shown.to_dict("records")
    ]
    which = (
        f"The {count(len(shown))} segments with the largest contributions, of {count(len(table))} on which the "
        "systems differ."
        if len(shown) < len(table)
        else "All segments on which the systems differ."
    )
    note = (
        f"{which} Click on a column to sort. Scores are the {own.metric} of the segment alone. The contribution of a "
        f"segment, in points, is half of the decrease of the gain if the two outputs were swapped on it: + favours "
        f"{own.ahead}, − favours {own.behind}."
    )
    return f'<h3>Segments that contribute most</h3><p class="note">{_text(note)}</p>{_table(head, rows, "scroll")}'


def _table(head: Sequence[tuple[str, str]], rows: Sequence[Sequence[tuple[object, str]]], box: str = "table") -> str:
    """A sortable table; a column has a title and classes, and a cell its sort key and its HTML."""
    titles = "".join(
        f'<th scope="col" class="{kind}">'
        + (f'<button type="button">{_text(title)}</button>' if title else "")
        + "</th>"
        for title, kind in head
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="{kind}" data-v="{_text(key)}">{html}</td>'
            for (_, kind), (key, html) in zip(head, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    table = f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="{box}"><table class="sortable">{table}</table></div>'


def _tests(own: Evidence) -> str:
    adjusted = any(holm for *_, holm in own.tests)
    rows = "".join(
        f'<tr><td>{_text(label)}</td><td class="n">{_text(p)}</td>'
        + (f'<td class="n">{_text(holm)}</td>' if adjusted else "")
        + "</tr>"
        for label, p, holm in own.tests
    )
    head = '<th>Test</th><th class="n">p</th>' + '<th class="n">p (Holm)</th>' * adjusted
    signed = "".join(f"<li><code>{_text(line)}</code></li>" for line in own.signatures)
    return (
        f'<h3>All tests</h3><div class="table"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        + (
            f'<h3>Signature</h3><p class="note">All settings that reproduce these numbers.</p><ul>{signed}</ul>'
            if signed
            else ""
        )
    )


def _ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers between `low` and `high`."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    return [place * step for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _plain(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")
