"""Reading CoNLL-U: what the shared task's program reads and refuses, and sentences with their places in the file."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from udtools.udeval import UDError, load_conllu

from conftest import examples
from pairsig.io.errors import InputError
from pairsig.readers.outputs import conllu, conllx


def row(identifier, form, head="_", deprel="_", misc="_"):
    return "\t".join([str(identifier), form, "_", "_", "_", "_", str(head), deprel, "_", misc])


def write(directory, *lines, end="\n\n"):
    path = directory / "parse.conllu"
    path.write_bytes(("\n".join(lines) + end).encode())
    return path


# "Kim went to-the lake": the third token is two words, and an empty node follows the first word.
LAKE = (
    "# sent_id = lake-1",
    "# checked twice",
    "# text = a = b",
    row(1, "Kim", 2, "nsubj"),
    row("1.1", "gone"),
    row(2, "went", 0, "root"),
    row("3-4", "zum", misc="SpaceAfter=No"),
    row(3, "zu", 5, "case"),
    row(4, "dem", 5, "det:def", "Note=x"),
    row(5, "See", 2, "obl"),
)


def test_sentence_with_multiword_token_and_empty_node(tmp_path):
    (sentence,) = conllu.read(write(tmp_path, *LAKE))
    assert sentence == conllu.Sentence(
        forms=["Kim", "went", "zum", "See"],
        multiword=[False, False, True, False],
        words=["Kim", "went", "zu", "dem", "See"],
        heads=[2, 0, 5, 5, 2],
        deprels=["nsubj", "root", "case", "det:def", "obl"],
        misc=["_", "_", "_", "Note=x", "_"],
        tokens=[0, 1, 2, 2, 3],
        comments={"sent_id": "lake-1", "checked twice": "", "text": "a = b"},
        line=4,
    )
    assert sentence.sent_id == "lake-1"


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n\n\n"])
def test_blank_lines_and_line_ends_are_forgiven(tmp_path, end):
    path = write(tmp_path, row(1, "Go", 0), "\r", "", row(1, "on", 0) + "\r", "", "# the end", end=end)
    assert [sentence.words for sentence in conllu.read(path)] == [["Go"], ["on"]]


def test_number_sign_is_a_word_and_unicode_line_ends_are_text(tmp_path):
    (sentence,) = conllu.read(write(tmp_path, row(1, "#", 0), row(2, "a\u2028b\x85c", 1)))
    assert sentence.words == ["#", "a\u2028b\x85c"]


def test_conllx_takes_any_graph(tmp_path):
    path = write(tmp_path, row(1, "a", 0), row(2, "b", 0), row(3, "c", 4), row(4, "d", 3))
    (sentence,) = conllx.read(path)
    assert sentence.heads == [0, 0, 4, 3]


FORM = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r\0"), min_size=1, max_size=4).filter(
    lambda form: form.strip()
)


@st.composite
def sentences(draw):
    """A sentence and its lines."""
    sentence = conllu.Sentence(comments={f"key {i}": f"{i} = {i}" for i in range(draw(st.integers(0, 2)))})
    sizes = draw(st.lists(st.integers(0, 3), min_size=1, max_size=5))  # 0: a token that is no range
    n_words = sum(max(size, 1) for size in sizes)
    order = draw(st.permutations(range(n_words)))
    heads = [0] * n_words
    for place in range(1, n_words):
        heads[order[place]] = order[draw(st.integers(0, place - 1))] + 1
    sentence.heads = heads
    lines = [f"# {key} = {value}" for key, value in sentence.comments.items()]
    for size in sizes:
        form = draw(FORM)
        if size:
            first = len(sentence.words) + 1
            lines.append(row(f"{first}-{first + size - 1}", form))
        for _ in range(max(size, 1)):
            word = draw(FORM) if size else form
            number, deprel, misc = len(sentence.words) + 1, draw(st.sampled_from(["dep", "a:b"])), f"M={size}"
            lines.append(row(number, word, heads[number - 1], deprel, misc))
            sentence.words.append(word)
            sentence.deprels.append(deprel)
            sentence.misc.append(misc)
            sentence.tokens.append(len(sentence.forms))
        sentence.forms.append(form)
        sentence.multiword.append(size > 0)
    return sentence, lines


@given(st.lists(sentences(), min_size=1, max_size=3))
@examples(30)
def test_reads_what_was_written(tmp_path_factory, written):
    line = 1
    for sentence, lines in written:
        sentence.line = line + len(sentence.comments)
        line += len(lines) + 1
    path = write(tmp_path_factory.getbasetemp(), *["\n".join(lines) + "\n" for _, lines in written])
    assert conllu.read(path) == [sentence for sentence, _ in written]


@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.integers(-1, n + 1), min_size=n, max_size=n)))
@examples(80)
def test_accepts_the_graphs_the_evaluation_accepts(tmp_path_factory, heads):
    lines = [row(number, "a", head) for number, head in enumerate(heads, start=1)]
    try:
        load_conllu(io.StringIO("\n".join(lines) + "\n\n"), "", {})
        is_accepted = True
    except UDError:
        is_accepted = False
    path = write(tmp_path_factory.getbasetemp(), *lines)
    if is_accepted:
        assert conllu.read(path)[0].heads == heads
    else:
        with pytest.raises(InputError, match=r"found (HEAD|a cycle|a sentence with)"):
            conllu.read(path)
