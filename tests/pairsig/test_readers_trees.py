"""Reading bracketed trees: where they end, what nltk makes of them, and one sentence for what is no tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tree import Tree

from conftest import examples
from pairsig.io.errors import InputError
from pairsig.readers.outputs import trees


def write(directory, text):
    path = directory / "parses.mrg"
    path.write_bytes(text.encode())
    return path


CAT = Tree("S", [Tree("NP", [Tree("NN", ["cats"])]), Tree("VP", [Tree("VBP", ["purr"])])])
GO = Tree("S", [Tree("VB", ["go"])])


def test_trees_end_where_their_brackets_balance(tmp_path):
    text = """
(S (NP (NN cats))
   (VP
\t(VBP purr)))  (S (VB go))

( (S (VB go)) )
"""
    assert trees.read(write(tmp_path, text)) == [CAT, GO, Tree("", [GO])]


def test_one_per_line(tmp_path):
    lines = ["(S (VB go))", "", "(())", "  ", "( ( ) )", "(S (VB go)) (S (VB go))", "() (S (VB go))", "(S (VB go))"]
    read = trees.read(write(tmp_path, "\r\n".join(lines)), one_per_line=True)
    assert read == [GO, None, None, None, None, Tree(None, [GO, GO]), Tree(None, [GO]), GO]


def test_failed_parses_among_trees_over_lines(tmp_path):
    assert trees.read(write(tmp_path, "(())\n\n(S\n(VB go))\n(\n)")) == [None, GO, None]


@pytest.mark.parametrize("space", ["\u00a0", "\u3000", "\u2028", "\x85", "\x1c"])
def test_only_ascii_space_parts_words(tmp_path, space):
    (tree,) = trees.read(write(tmp_path, f"(NP{space}X (CD 10{space}000)\v(NN {space}))"))
    assert tree == Tree(f"NP{space}X", [Tree("CD", [f"10{space}000"]), Tree("NN", [space])])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(" * 10**6, r"line 1: found a tree of more than 500 levels, expected at most"),
        ("(S (VB " + "go" * 10**6, r"line 1: found a tree with 2 more"),
        ("go" * 10**6, r"line 1: found '(go){30}…' \(2,000,000 characters\) outside a tree"),
        ("(S (VB go))\n" + 501 * "(S\n" + "(VB go)" + 501 * ")", r"line 2: found a tree of more than 500 levels"),
    ],
)
def test_trees_without_end_are_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=rf"parses\.mrg, {message}"):
        trees.read(write(tmp_path, text))


def test_a_tree_that_does_not_end(tmp_path, monkeypatch):
    monkeypatch.setattr("pairsig.readers.outputs.trees.MAX_LINE", 100)
    assert trees.read(write(tmp_path, "(S\n" + "(VB go)\n" * 10 + ")\n" + "(S (VB go))\n" * 20))[1:] == [GO] * 20
    with pytest.raises(InputError, match="line 2: found a tree of more than 100 characters, expected a shorter one"):
        trees.read(write(tmp_path, "(S (VB go))\n(S\n" + "(VB go)\n" * 20))


LABEL = st.text("ABÄ-=.|*\u200b", min_size=1, max_size=4)
NESTED = st.recursive(
    st.builds(lambda tag, word: Tree(tag, [word]), LABEL, LABEL),
    lambda children: st.builds(Tree, LABEL, st.lists(children, min_size=1, max_size=3)),
    max_leaves=12,
)


@given(st.lists(NESTED, min_size=1, max_size=4), st.integers(10, 80), st.sampled_from(["\n", "\n\n", " ", ""]))
@examples(30)
def test_reads_what_was_written_over_lines(tmp_path_factory, written, margin, between):
    text = between.join(tree.pformat(margin=margin) for tree in written)
    assert trees.read(write(tmp_path_factory.getbasetemp(), text)) == written


@given(st.lists(NESTED | st.none(), min_size=1, max_size=5).filter(any))
@examples(30)
def test_reads_what_was_written_one_per_line(tmp_path_factory, written):
    text = "".join(("" if tree is None else tree.pformat(margin=10**6)) + "\n" for tree in written)
    assert trees.read(write(tmp_path_factory.getbasetemp(), text), one_per_line=True) == written


def listed(tree):
    return tree if isinstance(tree, str) else [tree.label(), *map(listed, tree)]


@given(st.lists(NESTED, min_size=1, max_size=4), st.integers(10, 80))
@examples(30)
def test_nested_lists_are_the_trees_of_nltk_with_their_first_lines(written, margin):
    texts = [tree.pformat(margin=margin) for tree in written]
    lines = "\n".join(["(())", *texts]).split("\n")
    found = list(trees.nodes(enumerate(lines, start=1), "a"))
    assert found == [
        (2 + sum(text.count("\n") + 1 for text in texts[:number]), listed(tree)) for number, tree in enumerate(written)
    ]
    for (_, tree), theirs in zip(found, written, strict=True):
        assert trees.parse(trees.write(tree)) == tree
        assert trees.words(tree) == [(tag, word) for word, tag in theirs.pos()]


def test_one_tree_in_a_line():
    with pytest.raises(InputError, match="a, line 7: found 2 trees, expected one"):
        trees.parse("(S (VB go)) (S (VB go))", "a", 7)
