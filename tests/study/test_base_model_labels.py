"""Trees with neutral labels for parsers of English, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base_models import labels
from pairsig.readers.outputs.trees import parse, words, write

TREE = "(TOP (IP-MAT (NP-SBJ (PRO-N hann)) (-LRB- x) (BEDI var) (, ,)))"


NAMES = st.sampled_from(["NP", "IP-MAT", "-LRB-", ",", "S", "VB"])
TREES = st.recursive(
    st.tuples(NAMES, st.sampled_from(["a", "b-c", "."])).map(list),
    lambda children: st.tuples(NAMES, st.lists(children, min_size=1, max_size=3)).map(lambda t: [t[0], *t[1]]),
    max_leaves=8,
)


def test_a_program_that_takes_no_tags_finds_them_at_the_end_of_words(tmp_path):
    """Trees below TOP, head rules (fields, label, from left to right), and what it prints shown again."""
    trees, written, rules, shown = (tmp_path / name for name in ("trees", "written", "rules", "shown"))
    trees.write_text(f"{TREE}\n(TOP (FRAG-1 (N já)))\n", encoding="utf-8")
    assert labels.main(["hide", str(trees), str(written), "--form", "tagged-trees"]) == 0
    tagged = "(TOP (·IP·MAT (·NP·SBJ (·PRO·N hann@@@·PRO·N)) (··LRB· x@@@··LRB·) (·BEDI var@@@·BEDI) (·, ,@@@·,)))"
    assert written.read_text(encoding="utf-8").splitlines()[0] == tagged
    assert labels.main(["heads", str(trees), str(rules)]) == 0
    expected = ["2 TOP 1", "2 ·FRAG·1 1", "2 ·IP·MAT 1", "2 ·NP·SBJ 1"]
    assert rules.read_text(encoding="utf-8").splitlines() == expected
    assert labels.main(["show", str(written), str(shown), "--input", str(trees)]) == 0
    assert shown.read_text(encoding="utf-8") == trees.read_text(encoding="utf-8")


@given(TREES)
def test_every_tree_comes_back(tree):
    tree = ["TOP", tree]
    assert labels.show(parse(write(labels.hide(tree))), words(tree)) == tree


@pytest.mark.parametrize(
    ("form", "expected"),
    [("tagged", "hann@@@·PRO·N var@@@·BEDI\n"), ("columns", "hann\t·PRO·N\nvar\t·BEDI\n\n")],
)
def test_forms_of_the_input(tmp_path, form, expected):
    flat, output = tmp_path / "flat", tmp_path / "output"
    flat.write_text("(TOP (PRO-N hann) (BEDI var))\n", encoding="utf-8")
    assert labels.main(["hide", str(flat), str(output), "--form", form]) == 0
    assert output.read_text(encoding="utf-8") == expected


@pytest.mark.parametrize(
    ("parsed", "message"),
    [
        ("(ROOT (·N a))\n(ROOT (·N b))\n", "found 2 trees, expected 1"),
        ("(ROOT (·N a) (·N b))\n", "line 1: found a tree with 2 words, expected 1 as in the input"),
        ("(ROOT (·N a)) (·N b)\n", "line 1: found 2 trees, expected one"),
        ("(ROOT (·N a)\n", "line 1: found a tree with 1 more '(' than ')'"),
    ],
)
def test_what_cannot_be_shown_is_reported(tmp_path, capsys, parsed, message):
    (tmp_path / "parsed").write_text(parsed, encoding="utf-8")
    (tmp_path / "flat").write_text("(TOP (N a))\n", encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("parsed", "output")]
    assert labels.main(["show", *paths, "--input", str(tmp_path / "flat")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "output").exists()
