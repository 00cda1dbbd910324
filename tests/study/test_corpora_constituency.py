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


def test_long_sentences_may_go(tmp_path):
    assert [segment.text.count("Sif") for segment in read(tmp_path, ICELANDIC, lemmas=True, max_words=4)] == [0]
    assert len(read(tmp_path, ICELANDIC, lemmas=True, max_words=5)) == 2


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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("NP-SBJ-1", "NP-SBJ"),
        ("IP-MAT=1", "IP-MAT"),
        ("NP-1-SBJ", "NP-SBJ"),
        ("WNP-NaN", "WNP"),
        ("NP-1-2", "NP"),
        ("N21-A", "N21-A"),
        ("IP-MAT-10", "IP-MAT"),
    ],
)
def test_indices_go_even_if_function_tags_stay(before, after):
    assert stripped(f"({before} (NN x) (NN y))", functions=True) == f"(TOP ({after} (NN x) (NN y)))"


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


@given(TREE, st.booleans())
@settings(deadline=None)
def test_stripping_twice_is_stripping_once_and_words_are_kept_in_their_order(tree, functions):
    def texts(node):
        if node[0] == "ID":
            return []
        if isinstance(node[1], str):
            return [node[1]] * (node[0] != "-NONE-")
        return [word for child in node[1:] for word in texts(child)]

    words, once = texts(tree), constituency.strip(tree, functions=functions)
    assert ([] if once is None else [word for _, word in trees.words(once)]) == words
    if once is not None:
        assert constituency.strip(once, functions=functions) == once
        assert trees.parse(trees.write(once)) == once
        assert once[0] == "TOP"


CORPORA = {
    # Trees that are there, segments and words. IcePaHC: 73,034 trees have an ID, 17 have none (most are a full stop);
    # of all, 538 are headings (META), 75 remarks (CODE), 2 translations, and 3 have nothing but empty categories.
    "icepahc/finished": ({"lemmas": True}, 73051, 72433, 1014655),
    "craft-treebank/structural-annotation/treebank/penn": ({}, 30830, 30830, 793651),
    "gum-const/const": ({}, 4636, 4636, 98363),
}


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("folder", CORPORA)
def test_public_corpora(data_dir, folder):
    options, n_trees, n_segments, n_words = CORPORA[folder]
    files = sorted(path for path in (data_dir / folder).iterdir() if path.suffix in (".gz", ".xz"))
    texts = [segment.text for path in files for segment in constituency.read(path, **options)]
    blanks = [constituency.blank(text) for text in texts]
    assert len(texts) == n_segments <= n_trees
    assert sum(blank.count("(") - 1 for blank in blanks) == n_words
    for text, blank in list(zip(texts, blanks, strict=True))[::20]:
        tree = trees.parse(text)
        assert constituency.strip(tree) == tree
        assert trees.words(trees.parse(blank)) == trees.words(tree)


@pytest.mark.data
def test_words_are_those_that_nltk_finds(data_dir):
    path = data_dir / "craft-treebank/structural-annotation/treebank/penn/11532192.tree.gz"
    theirs = [[pair for pair in tree.pos() if pair[1] != "-NONE-"] for tree in trees.read(path)]
    ours = [trees.words(trees.parse(segment.text)) for segment in constituency.read(path)]
    assert [[(word, tag) for tag, word in sentence] for sentence in ours] == theirs
