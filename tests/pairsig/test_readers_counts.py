"""Readers of counts that other programs have made: evalb, sigf, art, tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pairsig import readers
from pairsig.io.errors import InputError
from pairsig.readers import align
from pairsig.readers.counts import art, evalb, sigf


def pair(a, b, names=("A", "B")):
    (both,) = align.align((a, b), names)
    return both


def write(directory, name, content):
    path = directory / name
    path.write_bytes(content.encode())
    return path


def scores(read):
    """Every metric of the file by name, from the sums of its columns."""
    found = {}
    for metric in read.metrics:
        totals = [read.values[column].sum() for column in metric.columns]
        found[metric.name] = metric.score(totals + [len(read.items)] * metric.averaged).item()
    return found


def refuses(reader, path, match, **options):
    with pytest.raises(InputError, match=match) as caught:
        readers.read(reader, path, **options)
    assert str(path) in str(caught.value)


# Registry and pairing.


def test_unknown_reader():
    with pytest.raises(InputError, match=r"unknown reader 'evalbb', expected one of .*; did you mean evalb\?"):
        readers.read("evalbb", "a")


def test_pair_is_statistics_of_both(tmp_path):
    a = sigf.read(write(tmp_path, "a", "2 3 2\n2 2 2\n0 1 1\n"))
    b = sigf.read(write(tmp_path, "b", "0 3 2\n1 2 2\n0 1 1\n"))
    both = pair(a, b)
    assert both.systems == ("A", "B")
    assert both.segments.tolist() == ["1", "2", "3"]
    assert [metric.name for metric in both.metrics] == ["f1", "precision", "recall"]
    assert both.of(both.metrics[0]).tolist() == [[[2, 3, 2], [2, 2, 2], [0, 1, 1]], [[0, 3, 2], [1, 2, 2], [0, 1, 1]]]
    assert both.notes == ()


def test_pair_needs_two_names_and_a_metric_in_common(tmp_path):
    a = sigf.read(write(tmp_path, "a", "1\n"))
    b = sigf.read(write(tmp_path, "b", "1 1 1\n"))
    with pytest.raises(InputError, match="called A, A, expected different names"):
        pair(a, b, ("A", "A"))
    with pytest.raises(InputError, match=r"no metric in common, .*a has mean; \S+b has f1, precision, recall"):
        pair(a, b)


def test_f1_of_ratios():
    totals = np.array([[1, 2, 1, 4], [0, 2, 0, 4], [0, 0, 3, 4], [0, 0, 0, 0], [2.5, 3, 2.25, 3]])
    expected = [100 * 2 * 0.5 * 0.25 / 0.75, 0, 0, 0, 100 * 2 * (2.5 / 3) * 0.75 / (2.5 / 3 + 0.75)]
    assert art.f1_of_ratios(totals) == pytest.approx(expected)
    assert art.f1_of_ratios(totals.reshape(5, 1, 4)).shape == (5, 1)


# sigf


class TestSigf:
    def test_singletons(self, tmp_path):
        read = sigf.read(write(tmp_path, "a", "3\n-1.5\n4e0\n\n\n"))
        assert read.values["value"].tolist() == [3, -1.5, 4]
        assert scores(read) == {"mean": pytest.approx(5.5 / 3)}
        assert read.items == ("1", "2", "3")

    def test_separators(self, tmp_path):
        read = sigf.read(write(tmp_path, "a", "1\t2  3\r\n 0 2 2 \r\n"))
        assert [read.values[name].tolist() for name in ("matched", "predicted", "gold")] == [[1, 0], [2, 2], [3, 2]]
        assert read.values["matched"].dtype == np.int64

    @pytest.mark.parametrize("gold", [2, 0])
    def test_other_gold_is_noted(self, gold, tmp_path):
        a = sigf.read(write(tmp_path, "a", f"1 1 1\n0 1 {gold}\n"))
        b = sigf.read(write(tmp_path, "b", "1 1 1\n1 1 3\n"))
        (note,) = pair(a, b).notes
        assert note.startswith(f"gold is {gold} for A and 3 for B on segment 2, expected the same: check that all ")


# art


class TestArt:
    # The numbers of art's own test of its aggregators.
    def test_average(self, tmp_path):
        read = art.read(write(tmp_path, "a", "1\n5\n3\n0\n"))
        assert scores(read) == {"mean": 9 / 4}

    def test_dividing_sums(self, tmp_path):
        read = art.read(write(tmp_path, "a", "2 3\n4 12\n22 500\n3.1 4.355\n"))
        assert scores(read) == {"ratio": pytest.approx(100 * 31.1 / 519.355, rel=1e-14)}

    def test_f_1(self, tmp_path):
        read = art.read(write(tmp_path, "a", "2 3 7 8\n4 12 33 50\n22 500 12.3 15.9\n3.1 4.355 1 2\n"))
        recall, precision = 31.1 / 519.355, 53.3 / 75.9
        f1 = 2 * recall * precision / (recall + precision)
        expected = {"f1_ratio": 100 * f1, "precision_ratio": 100 * precision, "recall_ratio": 100 * recall}
        assert scores(read) == pytest.approx(expected, rel=1e-14)
        assert list(expected) == [metric.name for metric in read.metrics]

    def test_other_recall_denominators_are_noted(self, tmp_path):
        a = art.read(write(tmp_path, "a", "1 2 1 2\n"))
        b = art.read(write(tmp_path, "b", "1 3 1 4\n"))
        (note,) = pair(a, b).notes
        assert note.startswith("recall_denominator is 2 for A and ")


# evalb: rendered as print_head, individual_result and print_total of evalb.c do.

RULE = "=" * 76
HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    f" ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n{RULE}\n"
)


def percent(part, whole):
    return 100 * part / whole if whole else 0.0


def row(number, length, status, matched, gold, test, crossing, words, tags):
    return (
        f"{number:4d}  {length:3d}    {status:d}  {percent(matched, gold):6.2f} {percent(matched, test):6.2f}   "
        f"{matched:3d}    {gold:3d}  {test:3d}    {crossing:3d}   {words:4d}  {tags:4d}   {percent(tags, words):6.2f}\n"
    )


def part_of_summary(title, rows):
    valid = [r for r in rows if r[2] == 0]
    matched, gold, test, crossing, words, tags = (sum(r[i] for r in valid) for i in range(3, 9))
    items = [("Bracketing Recall", percent(matched, gold)), ("Bracketing Precision", percent(matched, test))]
    items.append(("Bracketing FMeasure", percent(2 * matched, gold + test) if matched else math.nan))
    items.append(("Complete match", percent(sum(r[3] == r[4] == r[5] for r in valid), len(valid))))
    items.append(("Average crossing", crossing / len(valid) if valid else 0))
    items.append(("No crossing", percent(sum(r[6] == 0 for r in valid), len(valid))))
    items.append(("2 or less crossing", percent(sum(r[6] <= 2 for r in valid), len(valid))))
    items.append(("Tagging accuracy", percent(tags, words)))
    numbers = [("sentence", len(rows)), ("Error sentence", sum(r[2] == 1 for r in rows))]
    numbers += [("Skip  sentence", sum(r[2] == 2 for r in rows)), ("Valid sentence", len(valid))]
    text = "".join(f"{'Number of ' + name:<25} = {value:6d}\n" for name, value in numbers)
    return f"\n-- {title} --\n" + text + "".join(f"{name:<25} = {value:6.2f}\n" for name, value in items)


def listing(rows):
    valid = [r for r in rows if r[2] == 0]
    matched, gold, test, crossing, words, tags = (sum(r[i] for r in valid) for i in range(3, 9))
    brackets = (
        f"                {percent(matched, gold):6.2f} {percent(matched, test):6.2f} {matched:6d} {gold:5d} {test:5d}"
    )
    total = f"{brackets}  {crossing:5d}" if gold and test else ""
    total += f"  {words:5d} {tags:5d}   {percent(tags, words):6.2f}\n=== Summary ===\n"
    short = [r for r in rows if r[1] <= 40]
    summary = part_of_summary("All", rows) + part_of_summary("len<=40", short)
    return HEAD + "".join(row(*r) for r in rows) + f"{RULE}\n{total}{summary}"


# Sentence 3 failed; sentence 2 is longer than 40 words.
RUN = [
    (1, 6, 0, 3, 4, 5, 1, 5, 4),
    (2, 41, 0, 30, 30, 30, 0, 38, 38),
    (3, 5, 1, 0, 0, 0, 0, 5, 0),
    (4, 2, 0, 1, 1, 1, 0, 2, 2),
]
OTHER = [
    (1, 6, 0, 4, 4, 4, 0, 5, 5),
    (2, 41, 2, 0, 0, 0, 0, 0, 0),
    (3, 5, 1, 0, 0, 0, 0, 0, 0),
    (4, 2, 0, 0, 1, 1, 0, 2, 1),
]


BAD_LISTINGS = [
    (listing(RUN), "(S (NP x))\n", "found no sentence, expected a listing of evalb"),
    ("   75.00  60.00     3 ", "   75.00  60.00     x ", r", line 4: found '1    6    0 .*\), expected the 12 columns"),
    ("   1    6    0", "   1    6    3", ", line 4: found '1    6    3 .*expected the 12 columns"),
    ("   4    2    0", "   1    2    0", r", line 7: found sentence 1 again \(first in line 4\)"),
    ("75.00  60.00", "76.00  60.00", ", line 4: found recall 76.00 for 3 out of 4, expected 75.00"),
    ("75.00  60.00", "75.00  61.00", ", line 4: found precision 61.00 for 3 out of 5, expected 60.00"),
    ("  3      4    5 ", "  5      4    5 ", ", line 4: found recall 75.00 for 5 out of 4, expected at most"),
    ("97.14  94.44     34", "97.14  94.44     35", ", line 9: found matched 35, expected 34 from the sentences above"),
    ("Recall         =  97.14", "Recall         =  97.15", ", line 17: found Bracketing Recall 97.15, expected 97.14"),
    ("Recall         =  80.00", "Recall         =  70.00", ", line 31: found Bracketing Recall 70.00, expected 80.00"),
    (row(*RUN[1]), "", ", line 8: found matched 34, expected 4 from the sentences above: the listing is incomplete"),
    (row(*RUN[2]), "", "found Number of sentence 4, expected 3"),
    (f"{RULE}\n      ", f"{RULE}\n{row(*RUN[0])}      ",
     "line 9: found a sentence below the totals, expected .* single run"),
    ("-- All --", row(5, 2, 0, 1, 1, 1, 0, 2, 2) + "-- All --", "line 12: found a sentence below the totals"),
    ("   1    6    0", f"{'1' * 5000}    6    0", r"line 4: found '1{60}…' .*, expected the 12 columns"),
    ("   1    6    0", "   1    6    0" + "0" * 2_000_000, r"line 4: found '1    6    0.*…' \(2,000,0"),
    ("len<=40", "len<=" + "4" * 5000, "found Number of sentence 3, expected 4"),
]  # fmt: skip
"""Parts of `listing(RUN)`, what replaces them, and words of the message."""


class TestEvalb:
    @pytest.mark.data
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            # Recall and precision as their summaries print them.
            ("sample/sample.rsl", (87.76, 90.53)),
            ("bug/bug.rsl-new", (62.83, 57.72)),
            ("bug/bug.rsl-old", (0.00, 0.00)),
        ],
    )
    def test_real_listings(self, data_dir, name, expected):
        printed = scores(evalb.read(data_dir / "evalb-sample/EVALB" / name))
        assert [printed[name] for name in ("recall", "precision")] == pytest.approx(expected, abs=0.005 + 1e-9)

    def test_messages_between_rows_are_passed_over(self, tmp_path):
        content = listing(RUN).replace("   3    5    1", "3 : Length unmatch (4|5)\n   3    5    1")
        read = evalb.read(write(tmp_path, "a", content))
        assert read.lines == (4, 5, 7, 8)

    def test_without_summary(self, tmp_path):
        read = evalb.read(write(tmp_path, "a", HEAD + row(*RUN[0])))
        assert len(read.notes) == 1
        assert "the listing may be incomplete" in read.notes[0]

    def test_sentence_that_failed_in_one_run(self, tmp_path):
        a, b = evalb.read(write(tmp_path, "a", listing(RUN))), evalb.read(write(tmp_path, "b", listing(OTHER)))
        both = pair(a, b)
        # Sentence 3 failed in both; 2 in B only, where evalb leaves it out of the totals.
        assert both.segments.tolist() == ["1", "2", "4"]
        recall = next(metric for metric in both.metrics if metric.name == "recall")
        found = recall.score(both.of(recall).sum(axis=1))
        assert found.tolist() == [scores(a)["recall"], scores(b)["recall"]]
        assert both.notes[-1].startswith(
            "B was not scored on 1 of 4 segments on which other systems were (2); their counts are 0 for B"
        )
        assert len(both.notes) == 3

    @pytest.mark.parametrize(
        ("rows", "words"),
        [
            (RUN[:3], "has 3, expected the same ones in the same order; item 4 is in one of them only"),
            ([*RUN[:3], (4, 2, 0, 1, 2, 1, 0, 2, 2)], "segment 4 has gold 2, expected 1 as in .*a, line 7: are"),
        ],
    )
    def test_listings_of_other_test_sets(self, rows, words, tmp_path):
        a, b = (evalb.read(write(tmp_path, name, listing(of))) for name, of in (("a", RUN), ("b", rows)))
        with pytest.raises(InputError, match=words):
            pair(a, b)

    def test_runs_that_share_no_sentence(self, tmp_path):
        read = evalb.read(write(tmp_path, "a", listing([RUN[2]])))
        with pytest.raises(InputError, match=r"found no scored segment in"):
            pair(read, read)

    @pytest.mark.parametrize(("old", "new", "match"), BAD_LISTINGS)
    def test_bad_input(self, tmp_path, old, new, match):
        assert old in listing(RUN)
        refuses("evalb", write(tmp_path, "a", listing(RUN).replace(old, new, 1)), match)

    def test_without_totals_there_are_none_to_check(self, tmp_path):
        content = listing(RUN).replace("97.14  94.44     34", f"97.14  94.44     {'3' * 5000}")
        assert evalb.read(write(tmp_path, "a", content)).items == ("1", "2", "3", "4")
