"""Trees of treebanks come out as words, tags and the constituents that hold words."""

from __future__ import annotations

import lzma

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairsig import InputError
from pairsig.readers.outputs import trees
from study.corpora import constituency

ICELANDIC = """( (IP-MAT (NP-PRD (NPR-N Sif-sif)
\t\t  (CP-REL *ICH*-1))
\t  (VBDI hét-heita)
\t  (NP-SBJ-2 *con*)
\t  (CP-REL-1 (WNP-3 0) (C er-er))
\t  (, -)
\t  (CODE {COM:a_remark})
\t  (. .-.)) (ID X,.1))

( (META (CODE <heading>) (NP (N-N saga-saga))) (ID X,.2))
( (CODE (CODE <P_1>)))
( (IP-MAT=1 (NP (NUM-N 0-0) (N-D mynda--mynd))) (ID X,.3))
"""


def stripped(text, **options):
    tree = constituency.strip(trees.parse(text), **options)
    return None if tree is None else trees.write(tree)


def read(tmp_path, text, **options):
    path = tmp_path / "saga.nar.psd.xz"
    path.write_bytes(lzma.compress(text.encode()))
    return list(constituency.read(path, **options))


def test_a_file(tmp_path):
    first, second = read(tmp_path, ICELANDIC, lemmas=True)
    assert first.text == "(TOP (IP (NP (NPR-N Sif)) (VBDI hét) (CP (C er)) (, -) (. .)))"
    assert second.text == "(TOP (IP (NP (NUM-N 0) (N-D mynda-))))"
    assert first.document == second.document == "saga.nar"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("( (S (NP-SBJ (-NONE- *PRO*)) (VP (VB go))) )", "(TOP (S (VP (VB go))))"),
        ("(ROOT (NP (CD 0) (SYM *)))", "(TOP (NP (CD 0) (SYM *)))"),  # words, where there are no lemmas
        ("(TOP (S (VB go-on)))", "(TOP (S (VB go-on)))"),
        ("(S (VB go))", "(TOP (S (VB go)))"),
        ("(VB go)", "(TOP (VB go))"),
        ("(S1 (S (VB go)) (. .))", "(TOP (S (VB go)) (. .))"),
        ("( (S (NP-1 (-LRB- -LRB-) (NN-2 x) (-RRB- -RRB-))))", "(TOP (S (NP (-LRB- -LRB-) (NN x) (-RRB- -RRB-))))"),
        ("( (NP (NP-1 (NP=2 (NN x)) (SBAR (-NONE- *ICH*)))))", "(TOP (NP (NN x)))"),
        ("( (NP (ADJP (NP (NN x)))))", "(TOP (NP (ADJP (NP (NN x)))))"),  # not the same label twice in a row
        ("( (LATIN (LATIN x)))", "(TOP (LATIN (LATIN x)))"),  # a tag is no constituent
        ("( (PRO-N-1 hann))", "(TOP (PRO-N hann))"),
        ("( (= =) (- -) (: --))", "(TOP (= =) (- -) (: --))"),
        ("( (-NONE- *))", None),
        ("( (NP (ID 1)))", None),
    ],
)
def test_rules(before, after):
    assert stripped(before) == after


def test_blank():
    assert constituency.blank("(TOP (S (NP (PRO-N það) (-LRB- -LRB-)) (VP (VBZ er))) (. .))") == (
        "(TOP (PRO-N það) (-LRB- -LRB-) (VBZ er) (. .))"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("( (S (VB go)))\n( (S (VB\ngo))", r"line 2: found a tree with 1 more '\(' than '\)'"),
        ("( (S (VB go))))", r"line 1: found '\)' outside a tree"),
        ("( (S (VB go)))\n\ngo", r"line 3: found 'go' outside a tree"),
        ("( (S (VB go)))\n(\n(S (VB go) go))", r"line 2: found the word 'go' beside another node"),
        ("\n( (S (VB go on)))", r"line 2: found the word 'go' beside another node"),
        ("( (S ((VB go) (RP on))))", r"line 1: found a constituent without a label"),
        ("\n" + "(S " * 301 + ")" * 301, r"line 2: found a tree of more than 300 levels"),
    ],
)
def test_bad_input_names_file_and_line(tmp_path, text, message):
    with pytest.raises(InputError, match=r"saga\.nar\.psd\.xz, " + message):
        read(tmp_path, text)


LABEL = st.sampled_from(["NP", "NP-SBJ", "S", "IP-MAT-1", "VP=2", "ID"])
TAG = st.sampled_from(["NN", "PRO-N", "-NONE-", "."])
LEAF = st.builds(lambda tag, word: [tag, word], TAG, st.text("ab-*0", min_size=1))
TREE = st.recursive(LEAF, lambda nodes: st.builds(lambda label, one: [label, *one], LABEL, st.lists(nodes, min_size=1)))


@given(TREE)
@settings(deadline=None)
def test_stripping_twice_is_stripping_once_and_words_are_kept_in_their_order(tree):
    def texts(node):
        if node[0] == "ID":
            return []
        if isinstance(node[1], str):
            return [node[1]] * (node[0] != "-NONE-")
        return [word for child in node[1:] for word in texts(child)]

    words, once = texts(tree), constituency.strip(tree)
    assert ([] if once is None else [word for _, word in trees.words(once)]) == words
    if once is not None:
        assert constituency.strip(once) == once
        assert trees.parse(trees.write(once)) == once
        assert once[0] == "TOP"
