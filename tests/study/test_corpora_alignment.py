"""Parallel text, and the links of its annotators."""

from __future__ import annotations

import pytest

from pairsig import InputError
from study.corpora import Segment, alignment


def test_two_files_make_pairs(file):
    source, target = file("story.en", "the  cat \n2 .\n"), file("story.fr", "le chat\n 2 .\n")
    assert list(alignment.read(source, target=target)) == [
        Segment("the cat ||| le chat", document="story"),
        Segment("2 . ||| 2 .", document="story"),
    ]


def test_one_file_of_pairs_is_left_as_it_is(file):
    text = "the cat ||| le chat ||| 0-0 1p1"
    assert [one.text for one in alignment.read(file("a.txt", f"{text}\na ||| b\n"))] == [text, "a ||| b"]


def test_words_end_at_ascii_space_only(file):
    (segment,) = alignment.read(file("a.txt", "10\u00a0000 \u2028 ||| dix\u3000mille\r\n"))
    assert segment.text == "10\u00a0000 \u2028 ||| dix\u3000mille"


def test_numbered_lines_and_links_the_other_way_around(file):
    """As in ALIBI."""
    source, target = file("en", "0\tthe old cat\n1\tyes\n"), file("fr", "0\tle vieux\n1\toui !\n")
    links = file("links", "0\t0-0 1p1 1p2\n1\t0-0 1p0 \n")
    found = alignment.read(source, target=target, links=links, reverse=True, numbered=True)
    assert [one.text for one in found] == [
        "the old cat ||| le vieux ||| 0-0 1p1 2p1",
        "yes ||| oui ! ||| 0-0 0p1",
    ]


def test_links_of_the_shared_task(file):
    """They are counted from 1, and pairs without any are not there."""
    pairs = file("pairs", "a b ||| c d\na ||| b\na ||| b\n")
    links = file("links", "0001 1 1 S\n0001 2 1 P\n0002 1 1 S\n")
    texts = [one.text for one in alignment.read(pairs, links=links)]
    assert texts == ["a b ||| c d ||| 0-0 1p0", "a ||| b ||| 0-0", "a ||| b |||"]
    assert [alignment.blank(text) for text in texts] == ["a b ||| c d", "a ||| b", "a ||| b"]


@pytest.mark.parametrize(
    ("source", "target", "options", "message"),
    [
        ("a\nb\n", "c\n", {}, "fr: found 1 lines, expected 2 as in .*en"),
        ("a\n\n", "b\nc\n", {}, "en, line 2: found '', expected words"),
        ("a\nb\n", "b\nc ||| d\n", {}, r"fr, line 2: found 'c \|\|\| d', expected words without"),
        ("a\n", "1\tb\n", {"numbered": True}, "en, line 1: found .*expected a number and a tab at the beginning"),
        ("a\n", None, {}, r"en, line 1: found 'a', expected source words \|\|\| target words"),
        ("a ||| \n", None, {}, "en, line 1: found"),
        ("a ||| b ||| 0-0 ||| c\n", None, {}, "en, line 1: found"),
        ("a ||| b ||| 0-0\n", None, {"links": "0-0\n"}, "line 1: found links after the pair, expected none"),
        ("a ||| b\n", None, {"links": "0-0\n0-0\n"}, "links for 2 pairs, expected 1 as in .*en"),
        ("a ||| b\n", None, {"links": "0-1\n"}, "pair 1: found a link 0-1 .*a pair of 1 and 1 words"),
    ],
)
def test_bad_input(file, source, target, options, message):
    options = {key: file(key, value) if key == "links" else value for key, value in options.items()}
    if target is not None:
        options["target"] = file("fr", target)
    with pytest.raises(InputError, match=message):
        list(alignment.read(file("en", source), **options))
