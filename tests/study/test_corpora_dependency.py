"""Dependency treebanks: what is left of CoNLL-U, and what a parser sees."""

import pytest

from pairsig.io.errors import InputError
from study.corpora import dependency

FILE = """\
# newdoc id = weblog-one
# sent_id = weblog-one-0001
# text = Don't go.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t3:aux\tA=1
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
3.1\tgone\tgo\tVERB\tVB\t_\t_\t_\t_\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# newdoc id = email-two
# sent_id = email-two-0001
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_
"""


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "bank.conllu"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_words_only(treebank):
    first, second = dependency.read(treebank, genre=True)
    assert [line.split("\t")[1] for line in first.text.split("\n")] == ["Do", "n't", "go", "."]
    assert first.text.split("\n")[0] == "1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t_\t_"
    assert (first.document, first.domain) == ("weblog-one", "weblog")
    assert (second.document, second.domain) == ("email-two", "email")
    assert [one.domain for one in dependency.read(treebank)] == ["", ""]


def test_a_parser_sees_words_and_tags_and_no_tree(treebank):
    text = dependency.blank(next(dependency.read(treebank)).text)
    assert text.split("\n")[0] == "1\tDo\tdo\tAUX\tVB\tMood=Imp\t_\t_\t_\t_"
    for line in text.split("\n"):
        assert line.split("\t")[6:] == ["_"] * 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1\tDo\tdo\tAUX", "1\tDo\tAUX", r"line 5: found 9 columns, expected the 10 of CoNLL-U"),
        ("2\tn't", "5\tn't", r"line 6: found word '5' with head '3', expected word 2 and a head"),
        ("\t0\troot", "\t_\troot", r"line 7: found word '3' with head '_', expected word 3 and a head"),
    ],
)
def test_errors_name_the_line(treebank, old, new, message):
    treebank.write_text(FILE.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        list(dependency.read(treebank))
