"""Counts of dependency trees against the evaluation of the CoNLL 2018 shared task, and by hand."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from udtools.udeval import evaluate, load_conllu

from conftest import examples
from pairsig.io.errors import InputError
from pairsig.io.files import open_text
from pairsig.metrics import counts, dependency
from pairsig.readers.outputs import conllu

METRICS = {metric.name: metric for metric in (*dependency.METRICS, *counts.METRICS)}


def text_of(*parses):
    """CoNLL-U of sentences, each a list of `(id, form)` or `(id, form, head, relation)`."""
    rows = []
    for parse in parses:
        for identifier, form, *edge in parse:
            head, deprel = edge or ("_", "_")
            rows.append("\t".join([str(identifier), form, "_", "_", "_", "_", str(head), deprel, "_", "_"]))
        rows.append("")
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    path = tmp_path_factory.mktemp("parses") / "parse.conllu"

    def function(text, **options):
        path.write_text(text, encoding="utf-8", newline="")
        return conllu.read(path, **options)

    return function


def udtools_counts(output, reference):
    scores = evaluate(load_conllu(io.StringIO(reference), "gold", {}), load_conllu(io.StringIO(output), "system", {}))
    uas, las = scores["UAS"], scores["LAS"]
    return {
        "uas_matched": uas.correct,
        "las_matched": las.correct,
        "predicted": uas.system_total,
        "gold": uas.gold_total,
    }, {"conll_uas": 100 * uas.f1, "conll_las": 100 * las.f1}


def score(metric, columns):
    return METRICS[metric].score([columns[column].sum() for column in METRICS[metric].columns])


def lists(columns):
    return {name: column.tolist() for name, column in columns.items()}


# --- gold tokens ---

GOLD = text_of(
    [(1, "She", 2, "nsubj:pass"), (2, "slept", 0, "root"), (3, "...", 2, "punct"), (4, "$", 2, "obl:tmod")],
    [(1, "Stop", 0, "root"), (2, "!?", 1, "punct")],
)
SYSTEM = text_of(
    [(1, "She", 2, "nsubj"), (2, "slept", 0, "root"), (3, "...", 4, "punct"), (4, "$", 2, "obj")],
    [(1, "Stop", 2, "dep"), (2, "!?", 0, "root")],
)


@pytest.mark.parametrize(
    ("function", "options", "correct", "total"),
    [
        (dependency.gold_uas, {}, [3, 0], [4, 2]),
        (dependency.gold_uas, {"punctuation": False}, [3, 0], [3, 1]),  # $ is a symbol, no punctuation
        (dependency.gold_uas, {"deprel_subtypes": True}, [3, 0], [4, 2]),
        (dependency.gold_las, {}, [2, 0], [4, 2]),
        (dependency.gold_las, {"deprel_subtypes": True}, [1, 0], [4, 2]),
        (dependency.gold_las, {"deprel_subtypes": True, "punctuation": False}, [1, 0], [3, 1]),
    ],
)
def test_gold_tokens_by_hand(read, function, options, correct, total):
    columns = function(read(SYSTEM), read(GOLD), **options)
    assert lists(columns) == {"correct": correct, "total": total}


@pytest.mark.parametrize(
    ("word", "is_punctuation"),
    [("«", True), ("—", True), ("。", True), ("_", True), ("%", True), ("+", False), ("€", False), (".a", False)],
)
def test_punctuation_is_unicode_category_p(read, word, is_punctuation):
    sentences = read(text_of([(1, "a", 0, "root"), (2, word, 1, "dep")]))
    (total,) = dependency.gold_uas(sentences, sentences, punctuation=False)["total"]
    assert total == 2 - is_punctuation


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            [(1, "Stop", 0, "root"), (2, "!", 1, "punct")],
            r"sentence 2 \(line 6 of the output, 6 of the reference\): token 2 is '!' in the output and '!\?' in",
        ),
        ([(1, "Stop", 0, "root")], r"sentence 2 .* token 2 is missing in the output and '!\?' in the reference"),
        (
            [(1, "Stop", 0, "root"), (2, "!?", 1, "punct"), (3, "?", 1, "punct")],
            r"token 3 is '\?' in the output and missing in the reference, expected the same tokens",
        ),
    ],
)
def test_other_tokens_than_gold(read, second, message):
    first = [(1, "She", 2, "a"), (2, "slept", 0, "root"), (3, "...", 2, "b"), (4, "$", 2, "c")]
    with pytest.raises(InputError, match=message):
        dependency.gold_las(read(text_of(first, second)), read(GOLD))


def test_other_number_of_sentences_than_gold(read):
    with pytest.raises(InputError, match=r"output has 2 sentences, expected 1 .* first 1 are the same"):
        dependency.gold_uas(read(GOLD), read(GOLD)[:1])


# --- raw text ---


def test_raw_text_by_hand(read):
    gold = text_of(
        [(1, "Wir", 2, "nsubj"), (2, "fahren", 0, "root"), ("3-4", "zum"), (3, "zu", 5, "case"), (4, "dem", 5, "det"),
         (5, "See", 2, "obl"), (6, ".", 2, "punct")],
        [(1, "Er", 2, "nsubj"), (2, "bleibt", 0, "root"), (3, ".", 2, "punct")],
    )  # fmt: skip
    # One sentence; `zum` is not taken apart, `Er bleibt` is one word; the last token is aligned, but its head is not.
    system = text_of(
        [(1, "Wir", 2, "nsubj:pass"), (2, "fahren", 0, "root"), (3, "zum", 4, "case"), (4, "See", 2, "obj"),
         (5, ".", 2, "punct"), (6, "Er bleibt", 2, "conj"), (7, ".", 6, "punct")]
    )  # fmt: skip
    columns = dependency.aligned_attachment(read(system), read(gold))
    assert lists(columns) == {"uas_matched": [4, 0], "las_matched": [3, 0], "predicted": [5, 2], "gold": [6, 3]}
    assert score("conll_uas", columns) == 100 * 8 / 16
    assert score("conll_las", columns) == 100 * 6 / 16


A_B_C_D = [(1, "a", 0, "root"), (2, "b", 1, "x"), (3, "c", 1, "x"), (4, "d", 1, "x")]
MULTIWORD = {
    "words are aligned by lowered forms": (
        [A_B_C_D[:3]], [[("1-3", "abc"), (1, "A", 0, "root"), (2, "x", 1, "x"), (3, "c", 1, "x")]], [2],
    ),
    # y with y, both roots; x with x would be as long, but their heads would be aligned to nothing.
    "of two longest common subsequences the one that skips gold words first": (
        [[("1-2", "xy"), (1, "y", 0, "root"), (2, "x", 1, "x")]],
        [[("1-2", "xy"), (1, "x", 2, "x"), (2, "y", 0, "root")]], [1],
    ),
    "spaces in words are kept": ([[(1, "a b", 0, "root")]], [[("1-1", "ab"), (1, "a b", 0, "root")]], [0]),
    "spaces in words of both": (
        [[("1-1", "ab"), (1, "A B", 0, "root")]], [[("1-1", "ab"), (1, "a b", 0, "root")]], [1],
    ),
    # All of `bcd` begins in the first sentence; its aligned words are counted with their partners.
    "across the end of a gold sentence": (
        [[(1, "a", 3, "d"), ("2-4", "bcd"), (2, "b", 3, "d"), (3, "c", 0, "root"), (4, "d", 3, "x")]],
        [A_B_C_D[:2], [("1-2", "cd"), (1, "c", 0, "root"), (2, "d", 1, "x")]], [0, 2],
    ),
    # `abcd` reaches to the end of the text; that the other's `ab` ends before it does not cut it short.
    "a span does not shrink": ([[("1-2", "ab"), *A_B_C_D]], [[("1-4", "abcd"), *A_B_C_D]], [4]),
    "a span does not shrink in the output": ([[("1-4", "abcd"), *A_B_C_D]], [[("1-2", "ab"), *A_B_C_D]], [4]),
    # Of `b b b` the evaluation compares the last two with the words of the gold token `b` that follows; it takes the
    # first it finds, which begins in the sentence before.
    "one word back before a multiword token": (
        [[(1, "b", 0, "root"), (2, "b", 1, "x"), (3, "b", 1, "x")], [(1, "b", 0, "root")]],
        [[(1, "bbb", 0, "root")], [("1-1", "b"), (1, "b", 0, "root")]], [0, 0],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("system", "gold", "matched"), MULTIWORD.values(), ids=MULTIWORD)
def test_words_of_multiword_tokens(read, system, gold, matched):
    """By hand, and as the CoNLL 2018 evaluation has their sums."""
    system, gold = text_of(*system), text_of(*gold)
    columns = dependency.aligned_attachment(read(system), read(gold))
    assert columns["uas_matched"].tolist() == matched
    assert {name: column.sum() for name, column in columns.items()} == udtools_counts(system, gold)[0]


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u3000"])
def test_unicode_spaces_are_no_text(read, space):
    gold, system = text_of([(1, f"1{space}000", 0, "root")]), text_of([(1, "1000", 0, "root")])
    columns = dependency.aligned_attachment(read(system), read(gold))
    assert columns["las_matched"].tolist() == [1]


def test_other_invisible_characters_are_text(read):
    gold, system = text_of([(1, "a\u200b", 0, "root")]), text_of([(1, "a", 0, "root")])
    with pytest.raises(
        InputError,
        match=r"the first difference between the texts is at character 2 .* found the end in the output, expected",
    ):
        dependency.aligned_attachment(read(system), read(gold))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["ab", "xd", "e f"],
            r"the first difference between the texts is at character 3 \(without spaces\), in sentence 2 of the "
            r"reference \(line 3\): "
            r"found 'xdef' in the output, expected 'cdef'",
        ),
        (["ab", "cd"], r"character 5 .* in sentence 3 .*\(line 5\): found the end in the output, expected 'ef'"),
        (["ab", "cdefg"], r"character 7 .* in sentence 3 .*: found 'g' in the output, expected the end"),
        (["xab"], r"character 1 .* in sentence 1 .*\(line 1\): found 'xab' in the output, expected 'abcdef'"),
    ],
)
def test_other_text_than_gold(read, words, message):
    gold = read(text_of(*([(1, word, 0, "root")] for word in ("a b", "cd", "ef"))))
    with pytest.raises(InputError, match=message):
        dependency.aligned_attachment(read(text_of(*([(1, word, 0, "root")] for word in words))), gold)


def test_empty_reference(read):
    with pytest.raises(InputError, match="the reference has no sentence"):
        dependency.aligned_attachment(read(GOLD), [])


FORM = st.sampled_from(["a", "b", "B", "ab", "a b"])


@st.composite
def pieces(draw, text, cut=0.4):
    """A text cut into pieces."""
    cuts = [index for index in range(1, len(text)) if draw(st.floats(0, 1)) < cut]
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@st.composite
def parses(draw, text):
    """A sentence over the characters of `text`: tokens, some of them with words of their own, and a tree."""
    words, tokens = [], []
    for form in draw(pieces(text, cut=0.6)):
        space = draw(st.sampled_from(["", "", "", " ", "\u3000"]))
        surface = form[:1] + space + form[1:]
        if draw(st.integers(0, 3)):
            tokens.append((len(words), surface, None))
            words.append(surface)
        else:
            inner = draw(st.lists(FORM, min_size=1, max_size=3) | pieces(form))
            tokens.append((len(words), surface, len(inner)))
            words += inner
    order = draw(st.permutations(range(len(words))))
    heads = [0] * len(words)
    for place in range(1, len(words)):
        heads[order[place]] = order[draw(st.integers(0, place - 1))] + 1
    relations = [draw(st.sampled_from(["x", "x:y", "z"])) for _ in words]
    rows = [(index + 1, *row) for index, row in enumerate(zip(words, heads, relations, strict=True))]
    for first, surface, size in reversed(tokens):
        if size is not None:
            rows.insert(first, (f"{first + 1}-{first + size}", surface))
    return rows


@st.composite
def corpora(draw, sentences):
    return [draw(parses(sentence)) for sentence in sentences]


TEXT = st.text("abB", min_size=1, max_size=12)


@given(st.data())
@examples(50)
def test_sums_are_those_of_the_conll_2018_evaluation(read, data):
    text = data.draw(TEXT)
    output, reference = (text_of(*data.draw(corpora(data.draw(pieces(text, cut=0.2))))) for _ in range(2))
    columns = dependency.aligned_attachment(read(output), read(reference))
    expected, scores = udtools_counts(output, reference)
    assert {name: column.sum() for name, column in columns.items()} == expected
    for name, percent in scores.items():
        assert score(name, columns) == percent
        for small, large in METRICS[name].at_most:
            assert np.all(columns[small] <= columns[large])
    assert np.all(columns["las_matched"] <= columns["uas_matched"])


@given(st.data())
@examples(25)
def test_same_sentences_are_scored_as_if_alone(read, data):
    # The full stop keeps the evaluation from stepping back over the end of a sentence (see `_multiword_span`).
    sentences = data.draw(pieces(data.draw(TEXT), cut=0.4))
    output, reference = (
        [[*parse, (len([row for row in parse if row[2:]]) + 1, ".", 1, "x")] for parse in data.draw(corpora(sentences))]
        for _ in range(2)
    )
    columns = dependency.aligned_attachment(read(text_of(*output)), read(text_of(*reference)))
    for index, (system, gold) in enumerate(zip(output, reference, strict=True)):
        expected, _ = udtools_counts(text_of(system), text_of(gold))
        assert {name: column[index] for name, column in columns.items()} == expected


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "treebank", "outputs", "systems"),
    [
        ("conll2018-ud", "en_ewt", "official-submissions/{}/en_ewt.conllu", ["HIT-SCIR-18", "ArmParser"]),
        ("conll2018-ud", "zh_gsd", "official-submissions/{}/zh_gsd.conllu", ["conll18-baseline", "HUJI"]),
        ("conll2018-ud", "de_gsd", "official-submissions/{}/de_gsd.conllu", ["UDPipe-Future", "IBM-NY"]),
        ("conll2017-ud", "zh", "C2L2/{}/output/zh.conllu", ["2017-05-11-00-21-07"]),
    ],
)
def test_real_systems_score_as_in_the_conll_2018_evaluation(data_dir, task, treebank, outputs, systems):
    archive = f"{data_dir}/{task}/{treebank}.tar.xz"
    gold = "gold/zh-ud-test.conllu" if task == "conll2017-ud" else outputs.format("00-gold-standard")
    reference = conllu.read(f"{archive}!{gold}")
    for system in map(outputs.format, systems):
        columns = dependency.aligned_attachment(conllu.read(f"{archive}!{system}"), reference)
        texts = (open_text(f"{archive}!{member}").read() for member in (system, gold))
        expected, scores = udtools_counts(*texts)
        assert {name: column.sum() for name, column in columns.items()} == expected
        assert {name: score(name, columns) for name in scores} == scores
        assert columns["gold"].tolist() == [len(sentence.words) for sentence in reference]
