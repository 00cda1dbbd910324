"""Segments of corpora, and resampled training sets."""

from __future__ import annotations

import numpy as np
import pytest

from pairsig import InputError
from study import corpora

WHOLE = [f"s{i}" for i in range(1000)]


def test_a_resampled_set_is_drawn_with_replacement():
    drawn = corpora.resampled(WHOLE, "ewt", "full-1", 2012)
    assert len(drawn) == 1000
    assert set(drawn) < set(WHOLE)
    # Each of the n is missing with probability (1 - 1/n)^n; 632 of 1,000 are expected, with a standard deviation of 10.
    assert abs(len(set(drawn)) - 1000 * (1 - (1 - 1 / 1000) ** 1000)) < 50


def test_the_same_seed_and_name_draw_the_same_set_anywhere():
    # The words of PCG64 (O'Neill 2014) seeded so are fixed for ever by numpy's promise for bit generators.
    words = np.random.PCG64([2012, *b"ewt/half-3"]).random_raw(3)
    expected = [WHOLE[int(word) * 1000 // 2**64] for word in words]
    assert corpora.resampled(WHOLE, "ewt", "half-3", 2012)[:3] == expected == ["s758", "s563", "s252"]


def test_the_whole_set_is_taken_as_it_is():
    assert corpora.resampled(WHOLE, "ewt", "whole-1", 2012) == list(WHOLE)


@pytest.mark.parametrize(
    ("task", "texts"), [("constituency", ["(TOP (A a))", "(TOP)"]), ("dependency", ["1\ta\n2\tb", "1\tc"])]
)
def test_a_file_of_segments_is_cut_as_it_was_joined(tmp_path, task, texts):
    path = tmp_path / "segments.txt"
    path.write_text(corpora.join(task, texts), encoding="utf-8")
    assert corpora.cut(task, path) == texts
    path.write_text(corpora.join(task, texts)[:-1], encoding="utf-8")
    with pytest.raises(InputError, match=r"segments\.txt: found an incomplete segment at the end.*truncated"):
        corpora.cut(task, path)


def test_what_can_be_read_of_a_corpus(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.mrg").write_text(
            f"(S (A {name}1) (B b))\n(S (A {name}2))\n(S (A {name}3))\n", encoding="utf-8"
        )
    files = [f"saga={tmp_path / 'one.mrg'}", str(tmp_path / "two.mrg")]
    found = corpora.read("constituency", files, {"max_words": "1"}, skip=1, first=2)
    assert [(one.domain, one.document, one.text) for one in found] == [
        ("saga", "one", "(TOP (S (A one3)))"),
        ("", "two", "(TOP (S (A two3)))"),
    ]
    with pytest.raises(InputError, match=r"corpora of the task constituency: 'max', expected .*max_words"):
        corpora.read("constituency", files, {"max": "1"})
    with pytest.raises(InputError, match=r"one\.mrg: found no segment after the first 3, expected at least one"):
        corpora.read("constituency", files, {}, skip=3)
    with pytest.raises(InputError, match="unknown task 'parsing', expected one of dependency, constituency, alignment"):
        corpora.read("parsing", files, {})
