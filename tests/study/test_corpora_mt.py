"""Parallel text for machine translation, and pairs that are held out."""

from __future__ import annotations

import pytest
from sacrebleu.metrics import BLEU

from pairsig import InputError
from study import corpora
from study.corpora import mt


def texts(*arguments, **options):
    return [one.text for one in mt.read(*arguments, **options)]


def test_two_files_make_pairs(file):
    source, target = file("a.fr", "0\tLe chat .\n1\tOui\n"), file("a.en", "0\tThe  cat .\n1\tYes\n")
    assert texts(source, target=target, numbered=True) == ["Le chat . ||| The cat .", "Oui ||| Yes"]
    assert texts(source, target=target, numbered=True, lowercase=True)[0] == "le chat . ||| the cat ."
    (pair, _) = texts(source, target=target, numbered=True)
    assert (mt.blank(pair), mt.gold(pair)) == ("Le chat .", "The cat .")


def test_raw_text_is_tokenized_as_bleu_does(file):
    """Scores of tokenized text without a tokenizer are those of raw text with it."""
    raw = [
        ('Was soll\'s, die "Konditorei" kostet 3,50 €?', "What's up? The (old) shop-owner pays 3.50."),
        ("Ja.", "Yes!"),
    ]
    source, target = (
        file(f"a.{side}", "".join(f"{pair[k]}\r\n" for pair in raw)) for k, side in enumerate(("de", "en"))
    )
    pairs = texts(source, target=target, lowercase=True, tokenize="13a")
    assert pairs[0].endswith(" ||| what's up ? the ( old ) shop-owner pays 3.50 .")
    output = ["what's up, the shop-owner pays 3.5 (now).", "yes"]
    tokenized = texts(file("b", "".join(f"x ||| {line}\n" for line in output)), tokenize="13a")
    once, twice = (
        BLEU(lowercase=True, tokenize=name, force=True).corpus_score(outputs, [references])
        for name, outputs, references in (
            ("13a", output, [pair[1] for pair in raw]),
            ("none", [mt.gold(pair) for pair in tokenized], [mt.gold(pair) for pair in pairs]),
        )
    )
    assert (once.counts, once.totals, once.ref_len) == (twice.counts, twice.totals, twice.ref_len)


def test_an_unknown_tokenizer_is_refused(file):
    with pytest.raises(InputError, match="unknown tokenizer '13b', expected one of"):
        texts(file("a.txt", "a ||| b\n"), tokenize="13b")


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
    assert texts(source, target=target, lowercase=True, hansards="fr-en") == [written]


def test_unknown_languages_are_refused(file):
    with pytest.raises(InputError, match="found hansards=fr-de, expected two of fr, en joined by a hyphen"):
        texts(file("a.txt", "a ||| b\n"), hansards="fr-de")


def treebank(*sentences):
    lines = [
        [f"{number}\t{word}\t_\t_\t_\t_\t0\t_\t_\t_" for number, word in enumerate(words.split(), start=1)]
        for words in sentences
    ]
    return "".join("\n".join(one) + "\n\n" for one in lines)


def test_treebanks(file):
    source, target = file("fr.conllu", treebank("de le roi", "oui")), file("en.conllu", treebank("the king 's", "yes"))
    assert texts(source, target=target, hansards="fr-en") == ["de le roi ||| the king ' s", "oui ||| yes"]
    with pytest.raises(InputError, match=r"has 2 sentences, .* has 1, expected equally many"):
        texts(source, target=file("one.conllu", treebank("a")))


def taken(path, **selection):
    return [one.text for one in corpora.read("mt", [path], {}, **selection)]


def test_every_third_segment_is_held_out_unless_its_text_is_in_the_training_set(file):
    """Pairs 3, 6, 9, ... after those skipped; pair 6 is also pair 1, pair 9 is also pair 3."""
    words = ["skip", "a", "b", "c", "d", "e", "a", "f", "g", "c", "h", "i", "j", "k"]
    path = file("pairs", "".join(f"{word} ||| x\n" for word in words))
    names = [name.split(" ")[0] for name in taken(path, skip=1, hold_out=3)]
    assert names == ["a", "b", "d", "e", "f", "g", "h", "i", "k"]
    test_set = [name.split(" ")[0] for name in taken(path, skip=1, held_out=3)]
    assert test_set == ["c", "c", "j"]
    assert taken(path, skip=1, held_out=3, first=1) == ["c ||| x"]
    with pytest.raises(InputError, match="found hold_out=2 and held_out=3, expected only one of them"):
        taken(path, hold_out=2, held_out=3)
