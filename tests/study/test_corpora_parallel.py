"""Parallel text for word alignment and translation, the links of annotators, and pairs that are held out."""

from __future__ import annotations

import re

import pytest
from sacrebleu.metrics import BLEU

from pairsig import InputError
from study import corpora
from study.corpora import parallel
from study.corpora.segments import Segment


def linked(*arguments, **options):
    return [one.text for one in parallel.read_linked(*arguments, **options)]


def texts(*arguments, **options):
    return [one.text for one in parallel.read_translated(*arguments, **options)]


def test_two_files_make_pairs(file):
    source, target = file("story.en", "the  cat \n2 .\n"), file("story.fr", "le chat\n 2 .\n")
    assert list(parallel.read_linked(source, target)) == [
        Segment("the cat ||| le chat", document="story"),
        Segment("2 . ||| 2 .", document="story"),
    ]
    source, target = file("a.fr", "0\tLe chat .\n1\tOui\n"), file("a.en", "0\tThe  cat .\n1\tYes\n")
    assert texts(source, target, numbered=True) == ["Le chat . ||| The cat .", "Oui ||| Yes"]
    pair, _ = texts(source, target, numbered=True, lowercase=True)
    assert (parallel.source_of(pair), parallel.target_of(pair)) == ("le chat .", "the cat .")


def test_words_end_at_ascii_space_only(file):
    source, target = file("a.en", "10\u00a0000 \u2028 \n"), file("a.fr", "dix\u3000mille\r\n")
    assert linked(source, target) == ["10\u00a0000 \u2028 ||| dix\u3000mille"]


def test_numbered_lines_and_links_the_other_way_around(file):
    """As in ALIBI."""
    source, target = file("en", "0\tthe old cat\n1\tyes\n"), file("fr", "0\tle vieux\n1\toui !\n")
    links = file("links", "0\t0-0 1p1 1p2\n1\t0-0 1p0 \n")
    assert linked(source, target, links, reverse=True, numbered=True) == [
        "the old cat ||| le vieux ||| 0-0 1p1 2p1",
        "yes ||| oui ! ||| 0-0 0p1",
    ]


def test_links_of_the_shared_task(file):
    """They are counted from 1, and pairs without any are not there."""
    source, target = file("en", "a b\na\na\n"), file("fr", "c d\nb\nb\n")
    found = linked(source, target, file("links", "0001 1 1 S\n0001 2 1 P\n0002 1 1 S\n"))
    assert found == ["a b ||| c d ||| 0-0 1p0", "a ||| b ||| 0-0", "a ||| b |||"]
    assert [parallel.without_links(text) for text in found] == ["a b ||| c d", "a ||| b", "a ||| b"]
    assert [parallel.links_of(text) for text in found] == ["0-0 1p0", "0-0", ""]


@pytest.mark.parametrize(
    ("source", "target", "links", "message"),
    [
        ("a\nb\n", "c\n", None, "fr: found 1 sentences, expected 2 as in .*en"),
        ("a\n\n", "b\nc\n", None, "en, line 2: found '', expected words"),
        ("a\nb\n", "b\nc ||| d\n", None, r"fr, line 2: found 'c \|\|\| d', expected words without"),
        ("a\n", "b\n", "0-0\n0-0\n", "links for 2 pairs, expected 1 as in .*en"),
        ("a\n", "b\n", "0-1\n", "pair 1: found a link 0-1 .*a pair of 1 and 1 words"),
    ],
)
def test_bad_input(file, source, target, links, message):
    files = [file("en", source), file("fr", target), *([file("links", links)] if links else [])]
    with pytest.raises(InputError, match=message):
        list(parallel.read_linked(*files))


def test_lines_without_numbers(file):
    with pytest.raises(InputError, match=r"en, line 1: found .*expected a number and a tab at the start"):
        linked(file("en", "a\n"), file("fr", "1\tb\n"), numbered=True)


def test_raw_text_is_tokenized_as_bleu_does(file):
    """Scores of tokenized text without a tokenizer are those of raw text with it."""
    raw = [
        ('Was soll\'s, die "Konditorei" kostet 3,50 €?', "What's up? The (old) shop-owner pays 3.50."),
        ("Ja.", "Yes!"),
    ]
    source, target = (
        file(f"a.{side}", "".join(f"{pair[k]}\r\n" for pair in raw)) for k, side in enumerate(("de", "en"))
    )
    pairs = texts(source, target, lowercase=True, tokenize="13a")
    assert pairs[0].endswith(" ||| what's up ? the ( old ) shop-owner pays 3.50 .")
    output = ["what's up, the shop-owner pays 3.5 (now).", "yes"]
    tokenized = texts(file("x", "x\n" * 2), file("b", "".join(f"{line}\n" for line in output)), tokenize="13a")
    once, twice = (
        BLEU(lowercase=True, tokenize=name, force=True).corpus_score(outputs, [references])
        for name, outputs, references in (
            ("13a", output, [pair[1] for pair in raw]),
            ("none", [parallel.target_of(pair) for pair in tokenized], [parallel.target_of(pair) for pair in pairs]),
        )
    )
    assert (once.counts, once.totals, once.ref_len) == (twice.counts, twice.totals, twice.ref_len)


def test_an_unknown_tokenizer_is_refused(file):
    with pytest.raises(InputError, match="unknown tokenizer '13b', expected one of"):
        texts(file("a", "a\n"), file("b", "b\n"), tokenize="13b")


@pytest.mark.parametrize(
    ("french", "english", "written"),
    [
        ("l’ aîné eut le moulin", "x", "le aîné eut le moulin ||| x"),
        ("jusqu' au soir , qu'il vit", "x", "jusque à le soir , que il vit ||| x"),
        ("y a -t-il du pain ?", "x", "y a il de le pain ? ||| x"),
        ("peut-être aujourd'hui , dit -il", "x", "peut - être aujourd' hui , dit - il ||| x"),
        ("aux armes des rois , m. Hamel", "x", "à les armes de les rois , m . hamel ||| x"),
        ("d' autres s’ en vont", "x", "de autres se en vont ||| x"),
        ("x", "the city's well-known “ cat ”", "x ||| the city ' s well - known \" cat ''"),
        ("x", "they did n't", "x ||| they didn ' t"),
        ("x", "don't – ever", "x ||| don ' t - ever"),
    ],
)
def test_text_is_written_as_in_the_hansards(file, french, english, written):
    source, target = file("a.fr", f"{french}\n"), file("a.en", f"{english}\n")
    assert texts(source, target, lowercase=True, hansards="fr-en") == [written]


def test_unknown_languages_are_refused(file):
    with pytest.raises(InputError, match="found hansards=fr-de, expected two of fr, en joined by a hyphen"):
        texts(file("a", "a\n"), file("b", "b\n"), hansards="fr-de")


def treebank(*sentences):
    lines = [
        [f"{number}\t{word}\t_\t_\t_\t_\t0\t_\t_\t_" for number, word in enumerate(words.split(), start=1)]
        for words in sentences
    ]
    return "".join("\n".join(one) + "\n\n" for one in lines)


def test_treebanks(file):
    source, target = file("fr.conllu", treebank("de le roi", "oui")), file("en.conllu", treebank("the king 's", "yes"))
    assert texts(source, target, hansards="fr-en") == ["de le roi ||| the king ' s", "oui ||| yes"]
    with pytest.raises(InputError, match=r"one.conllu: found 1 sentences, expected 2 as in .*fr.conllu"):
        texts(source, file("one.conllu", treebank("a")))


def taken(path, **selection):
    return [one.text for one in corpora.read("mt", [f"{path}+{path}"], {}, **selection)]


def test_every_third_segment_is_held_out_unless_its_text_is_in_the_training_set(file):
    """Pairs 3, 6, 9, ... after those skipped; pair 6 is also pair 1, pair 9 is also pair 3."""
    words = ["skip", "a", "b", "c", "d", "e", "a", "f", "g", "c", "h", "i", "j", "k"]
    path = file("words", "".join(f"{word}\n" for word in words))
    names = [name.split(" ")[0] for name in taken(path, skip=1, hold_out=3)]
    assert names == ["a", "b", "d", "e", "f", "g", "h", "i", "k"]
    test_set = [name.split(" ")[0] for name in taken(path, skip=1, held_out=3)]
    assert test_set == ["c", "c", "j"]
    assert taken(path, skip=1, held_out=3, first=1) == ["c ||| c"]
    with pytest.raises(InputError, match="found hold_out=2 and held_out=3, expected only one of them"):
        taken(path, hold_out=2, held_out=3)


def test_as_many_files_as_a_task_has(file):
    for task, n_files, expected in (("mt", 1, "SOURCE+TARGET"), ("mt", 3, "SOURCE+TARGET"), ("dependency", 2, "FILE")):
        with pytest.raises(InputError, match=f"for the task {task}, expected {re.escape(expected)}"):
            corpora.read(task, ["+".join([file("a", "a\n")] * n_files)], {})
