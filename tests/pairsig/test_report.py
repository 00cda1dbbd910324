"""The report of `pairsig compare --html` and `--plot`: its numbers by brute force, its page in a real browser."""

import base64
import hashlib
import itertools
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import pairsig
import simulate
from against import compare_with_one
from oracles import how
from pairsig import cli, report
from pairsig.comparisons import baseline
from pairsig.core.definitions import find
from pairsig.core.engine import Resampling
from pairsig.core.statistics import Statistics
from pairsig.metrics import registry
from pairsig.readers import inputs
from pairsig.report import evidence
from pairsig.stats.paired import Pair

F1 = registry.metric("f1")
MEAN = registry.metric("mean")
BLEU = registry.metric("bleu")

EVIL = [
    "<script>alert(1)</script>",
    '"><img src=http://evil.example/x onerror=alert(1)>',
    "</style></title></table><script>alert(2)</script>",
    "' onmouseover='alert(3)",
    "turned \u202e around \x07",
    "x" * 400,
    "&lt;b&gt; {{7*7}} ${x} <!-- -->",
]


def parsed(n, seed=0):
    """Counts of F1 of two systems."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(3, 12, n)
    matched = rng.binomial(gold, [[0.85], [0.7]])
    predicted = matched + rng.integers(0, 4, (2, n))
    return np.stack([matched, predicted, np.broadcast_to(gold, (2, n))], axis=2)


def score(metric, totals):
    return float(metric.score(np.asarray(totals, dtype=float)))


def swapped_gains(counts, metric):
    """The gain of the first system after each of the 2ⁿ swaps."""
    sign = 1 if metric.higher_is_better else -1
    gains = []
    for swaps in itertools.product([False, True], repeat=counts.shape[1]):
        both = np.where(np.array(swaps)[None, :, None], counts[::-1], counts).sum(axis=1)
        gains.append(sign * (score(metric, both[0]) - score(metric, both[1])))
    return np.array(gains)


def with_ones(values):
    values = np.asarray(values, dtype=float)
    return np.stack([values, np.ones_like(values)], axis=2)


@pytest.mark.parametrize("metric", ["f1", "aer", "mean"])
def test_a_segment_carries_half_of_what_swapping_it_costs(metric):
    metric = registry.metric(metric)
    rng = np.random.default_rng(1)
    counts = parsed(20) if metric is not MEAN else with_ones(rng.integers(0, 3, (2, 20)))
    if metric.name == "aer":
        counts = np.concatenate([counts[:, :, :1], counts], axis=2)[:, :, : len(metric.columns)]
    counts[1, 3] = counts[0, 3]
    sign = 1 if metric.higher_is_better else -1
    gain = sign * (score(metric, counts[0].sum(axis=0)) - score(metric, counts[1].sum(axis=0)))
    found = evidence.carried(counts, metric)
    for unit in range(20):
        other = counts.copy()
        other[:, unit] = counts[::-1, unit]
        left = sign * (score(metric, other[0].sum(axis=0)) - score(metric, other[1].sum(axis=0)))
        assert found[unit] == pytest.approx((gain - left) / 2, abs=1e-12)
    assert found[3] == 0
    if metric is MEAN:
        assert found.sum() == pytest.approx(gain)


@pytest.mark.parametrize("counts", ["f1", "mean", "mean of decimals", "few differ"])
def test_the_null_distribution_is_that_of_all_swaps(counts):
    """Each bin has the share of the 2ⁿ swaps whose gain is in it, and those that p counts have p."""
    metric = F1 if counts == "f1" else MEAN
    rng = np.random.default_rng(5)
    values = {
        "f1": lambda: parsed(10, seed=3),
        "mean": lambda: with_ones(rng.integers(0, 2, (2, 12))),
        "mean of decimals": lambda: with_ones(rng.integers(0, 90, (2, 10)) / 10),
        "few differ": lambda: with_ones(np.stack([np.ones(11), np.r_[0, 0, 0, np.ones(8)]])),
    }[counts]()
    pair = Pair(metric, values, None)
    order = pair.order[0]
    null = evidence.null(pair, find("exact"), Resampling(10))
    gains = swapped_gains(values[order], metric)
    inside = gains[(gains >= null.edges[0]) & (gains < null.edges[-1])]
    assert null.n_drawn == 0
    # A gain on an edge belongs to the bin above it on the right, and to that below it, by symmetry, on the left.
    expected = np.histogram(np.where(inside > 0, inside + 1e-9, inside - 1e-9), null.edges)[0] / len(gains)
    np.testing.assert_allclose(null.mass, expected, atol=1e-9)
    assert null.mass[null.counted].sum() + (len(gains) - len(inside)) / len(gains) == pytest.approx(
        pairsig.exact_test(*values, metric=metric).pvalue
        if metric is F1
        else np.mean(np.abs(gains) >= abs(pair.difference) - 1e-9)
    )


def test_what_is_drawn_is_what_the_test_counts():
    """The bins that p counts hold the resamples and shuffles that the result counts, those far out excepted."""
    counts = simulate.statistics("bleu", n_systems=2, n_segments=40, spread=0.5, seed=2).counts
    pair = Pair(BLEU, counts, None)
    n = 3_000
    for test in (
        find("randomization"),
        find("randomization", alternative="observed"),
        find("randomization", alternative="less"),
        find("bootstrap", alternative="observed"),
        find("bootstrap", "percentile", "observed"),
    ):
        null = evidence.null(pair, test, Resampling(n, 7))
        if test.draw == "swap":
            result = pairsig.randomization_test(*counts, metric="bleu", n_resamples=n, rng=7, **how(test))
            expected = result.n_greater + result.n_equal
        else:
            result = pairsig.bootstrap_test(*counts, metric="bleu", n_resamples=n, rng=7, **how(test))
            expected = result.n_greater
        assert null.n_drawn == n
        middle = (null.edges[1:] + null.edges[:-1]) / 2
        assert null.edges[-1] == pytest.approx(4.5 * (null.mass @ middle**2) ** 0.5, rel=0.1)  # standard deviations
        assert null.mass[null.counted].sum() * n == pytest.approx(expected, abs=1 + n * (1 - null.mass.sum()))


def table(tmp_path, systems):
    """A file of scores: by system, rows of (segment, score, further columns)."""
    rows = [{"system": system, **row} for system, own in systems.items() for row in own]
    pd.DataFrame(rows).to_json(tmp_path / "scores.jsonl", orient="records", lines=True)
    return str(tmp_path / "scores.jsonl")


@pytest.fixture
def reported(tmp_path, capsys):
    """Run `pairsig compare` on a file of scores; returns the page."""

    def run(systems, *arguments):
        page = tmp_path / "report.html"
        path = table(tmp_path, systems)
        assert cli.main(["compare", path, "--n-resamples", "200", *arguments, "--html", str(page)]) == 0
        return page.read_text(encoding="utf-8")

    return run


def items(seed, n=60, share=0.5, domains=("east", "west", "north")):
    rng = np.random.default_rng(seed)
    return [
        {
            "segment": f"q{i}",
            "domain": domains[i % len(domains)],
            "document": f"d{i // 4}",
            "value": int(rng.random() < share),
        }
        for i in range(n)
    ]


def of(systems, metric=MEAN, **options):
    counts = {name: np.array([[row["value"]] for row in own]) for name, own in systems.items()}
    found = Statistics.from_arrays(counts, ["value"])
    domains = np.array([row["domain"] for row in next(iter(systems.values()))])
    object.__setattr__(found, "domains", domains)
    rows, _ = compare_with_one(found, [metric], ["exact"], n_resamples=100)
    return list(evidence.of_systems(found, metric, rows, unit="segment", resampling=Resampling(100), **options))


def test_domains_are_the_gain_on_each_alone():
    systems = {"a": items(1, share=0.4), "b": items(2, share=0.7)}
    (own,) = of(systems)
    assert own.better == "b"
    for row in own.domains.itertuples():
        a, b = ([item["value"] for item in systems[name] if item["domain"] == row.domain] for name in "ab")
        assert row.gain == pytest.approx(np.mean(b) - np.mean(a))
        alone = pairsig.difference_interval(a, b, metric="mean")
        assert (row.low, row.high) == pytest.approx((-alone.high, -alone.low))  # of b over a
    a, b = (np.array([item["value"] for item in systems[name]]) for name in "ab")
    assert own.outcomes == ((b > a).sum(), (a == b).sum(), (b < a).sum())
    assert own.enough == (b > a).sum() - (b < a).sum()  # of passes and fails: wins less losses


@pytest.mark.parametrize("share", [0.2, 0.8])
def test_domains_of_methods_have_the_gain_of_whichever_is_better(share):
    """The gains on the domains, weighted by their segments, have the mean that is the gain on all."""
    rng = np.random.default_rng(4)
    runs = {name: rng.random((3, 60, 1)) < chance for name, chance in (("a", 0.5), ("b", share))}
    data = Statistics.from_arrays({name: values.astype(int) for name, values in runs.items()}, ["value"])
    object.__setattr__(data, "domains", np.array(["east", "west", "north"] * 20))
    table = pairsig.compare_runs(data, metric="mean").table
    (reported,) = evidence.of_methods(data, MEAN, table, unit="segment", training_sd=None)
    assert reported.better == ("b" if share > 0.5 else "a")
    assert reported.gain > 0
    assert reported.domains["gain"].mean() == pytest.approx(reported.gain)


class Tags(HTMLParser):
    """What there is of markup, and all text."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *own) for own in attributes]

    def handle_data(self, data):
        self.text += data


def evil_systems():
    systems = {}
    for number, system in enumerate(EVIL[:3]):
        rng = np.random.default_rng(number)
        systems[system] = [
            {
                "segment": f"{EVIL[i % len(EVIL)]}{i}",
                "domain": EVIL[i % 4],
                "document": f"{EVIL[i // 4 % len(EVIL)]}{i // 4}",
                "value": float(rng.random() < 0.4 + 0.2 * number),
            }
            for i in range(56)
        ]
    return systems


def test_no_name_is_markup(reported):
    text = reported(evil_systems())
    seen = Tags()
    seen.feed(text)
    assert seen.tags.count("script") == seen.tags.count("style") == seen.tags.count("title") == 1
    assert not {"img", "b", "iframe", "link", "base", "object"} & set(seen.tags)
    assert not [own for own in seen.attributes if own[1].startswith("on") or own[1] in ("src", "style")]
    assert all(value.startswith("#") for _, name, value in seen.attributes if name == "href")
    assert "\u202e" not in text
    assert "\x07" not in text
    for name in EVIL[:3]:
        assert name in seen.text
    # Whatever got in nevertheless would neither run nor be fetched.
    (policy,) = re.findall(r'content="(default-src [^"]*)"', text)
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(("content", "scheme", "width"), [("evil", "light", 390), ("two", "dark", 1280)])
def test_in_a_browser(tmp_path, browser, reported, width, scheme, content):
    """It opens offline, fits, sorts, and says nothing on the console."""
    reported(evil_systems() if content == "evil" else {"a": items(1), "b": items(2, share=0.75)})
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    fragments, asked = [], []
    page.on("console", lambda message: fragments.append(message.text))
    page.on("pageerror", lambda error: fragments.append(str(error)))
    page.on("dialog", lambda dialog: fragments.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("th", has_text="Metric").first.is_visible() or content == "two"
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 384) == (scheme == "dark")

    def column():
        return page.evaluate(
            "Array.from(document.querySelector('.scroll table').tBodies[0].rows)"
            ".map(row => parseFloat(row.cells[row.cells.length - 1].dataset.v))"
        )

    before = column()
    header = page.locator(".scroll table").first.locator("th").last
    header.locator("button").click()
    assert column() == sorted(before, reverse=True)
    assert header.get_attribute("aria-sort") == "descending"
    header.locator("button").click()
    assert column() == sorted(before)
    assert fragments == []
    assert [url for url in asked if not url.startswith("file://")] == []
    page.close()


def test_drawn(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path = table(tmp_path, {"a$x_1$": items(1), "b": items(2, share=0.75), "c": items(3)})
    assert cli.main(["compare", path, "--n-resamples", "200", "--plot", str(tmp_path / "gains.pdf")]) == 0
    assert (tmp_path / "gains.pdf").stat().st_size > 1_000
    assert sorted(own.name for own in tmp_path.iterdir()) == ["gains.pdf", "scores.jsonl"]


def test_the_same_page_again(reported):
    systems = {"a": items(1), "b": items(2, share=0.75)}
    page = reported(systems, "--threads", "1")
    assert reported(systems, "--threads", "2") == page
    assert "Several pairs of systems are compared" not in page


def few(values):
    return [{"segment": str(i), "value": value} for i, value in enumerate(values)]


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        ({"a": items(1), "b": items(1)}, "have the same"),
        ({"a": few([1]), "b": few([0])}, "<h2>a and b are not significantly different: a is ahead by 1.00 points"),
        ({"a": few([0.5, 0.25, 1 / 3]), "b": few([0, 1, 1])}, "are not significantly different: b is ahead by"),
        ({"a": few([0, 0, 0, 0]), "b": few([1, 1, 1, 1])}, "4 of the 4 segments that favour b"),
        ({"a": few([0] * 6), "b": few([1] * 6)}, "<h2>b is better than a by 1.00 points"),
        ({"a": few([-3.5, 2]), "b": few([1, 1e9])}, "are not significantly different: b is ahead by"),
    ],
)
def test_odd_systems(reported, systems, said):
    text = reported(systems, "--test", "exact,randomization")
    assert said in text
    assert not re.search(r"\b(nan|inf|None)\b", text[: text.index("<script>")])


def test_documents_and_runs(tmp_path, reported):
    pytest.importorskip("matplotlib")
    text = reported({"a": items(1), "b": items(2, share=0.75)}, "--unit", "document")
    assert " documents with 60 segments" in text
    runs = {"a": [], "b": []}
    for system, share in (("a", 0.5), ("b", 0.7)):
        for run in range(3):
            runs[system] += [{**row, "run": run} for row in items(10 * run + ord(system), share=share)]
    text = reported(runs, "--plot", str(tmp_path / "r.svg"))
    assert "over runs and test sets, p = " in text  # the sentence of --format sentence
    assert "Why a gain between one run of each method varies" in text


def test_a_domain_column_of_a_table_is_read(file):
    a, b = (file(f"{name}.csv", f"segment,domain,value\n1,x,1\n2,{name},0\n") for name in "yz")
    (found,) = inputs.read_files([a, file("same.csv", "segment,domain,value\n1,x,1\n2,y,1\n")], "table")
    assert found.domains.tolist() == ["x", "y"]
    with pytest.raises(pairsig.InputError, match=r"line 3: item 2 belongs to domain .z., but to .y. in"):
        inputs.read_files([a, b], "table")


def test_what_is_a_bound_is_said_to_be_one(reported):
    """p = 0 of 1,000 resamples is no 0, adjusted or not."""
    systems = {"a": items(1, share=0.1), "b": items(2, share=0.9), "c": items(3, share=0.95)}
    seen = Tags()
    seen.feed(reported(systems, "--test", "bootstrap", "--alternative", "observed", "--n-resamples", "1000"))
    assert "Several pairs of systems are compared" in seen.text
    assert re.search(r"resamples, p < 0\.00\d+ \(< 0\.00\d+ adjusted by Holm for 2 comparisons\), n = 60", seen.text)


def test_a_margin_alone_is_no_test(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "reference"):
        (tmp_path / name).write_text("".join(f"{name} was here with {i} of us\n" for i in range(20)))
    words = ["compare", "a", "b", "--reader", "text", "--reference", "reference", "--test", "exact", "--margin", "1"]
    assert cli.main([*words, "--html", "r.html"]) == 2
    assert "found only the test against the margin for bleu" in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()


def test_gains_are_printed_with_the_digits_that_count():
    (own,) = of({"a": items(1, n=600), "b": items(2, n=600, share=0.55)})
    assert own.digits == 3
    assert re.search(rf"by {own.gain:.3f} points of mean", report.page([own]))


def test_what_was_computed_is_printed_even_if_the_report_fails(tmp_path, monkeypatch, capsys):
    path = table(tmp_path, {"a": items(1), "b": items(2)})

    def full(*_):
        raise OSError(28, "No space left on device", "r.html")

    monkeypatch.setattr(report, "write", full)
    assert cli.main(["compare", path, "--html", str(tmp_path / "r.html")]) == 2
    out, err = capsys.readouterr()
    assert "exact" in out
    assert "r.html: No space left on device" in err


def test_too_many_comparisons_for_a_picture_are_refused_before_they_are_computed(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    path = table(tmp_path, {f"s{number}": items(number) for number in range(14)})
    monkeypatch.setattr(baseline, "compare_with_one", None)
    assert cli.main(["compare", path, "--plot", str(tmp_path / "p.svg")]) == 2
    assert "found 13 comparisons, expected at most 12 in a figure" in capsys.readouterr().err
