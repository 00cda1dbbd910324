"""What base models read and write, sentences turned around, and the list of programs."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from base_models import formats, program, reverse
from pairsig import InputError
from pairsig.readers.outputs.alignment import Alignment

SENTENCE = [
    ["1", "Do", "do", "AUX", "VB", "Mood=Imp", "3", "aux", "_", "_"],
    ["2", "n't", "not", "PART", "RB", "_", "3", "advmod", "_", "_"],
    ["3", "go", "go", "VERB", "VB", "_", "0", "root", "_", "_"],
    ["4", ".", ".", "PUNCT", ".", "_", "3", "punct", "_", "_"],
]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a: found no empty line at the end, expected one; the file may be truncated"),
        ("1\ta\n", "a: found no empty line at the end"),
        (f"{'x	' * 9}x\n\n1\ta\n\n", "a, sentence 2: found 2 columns, expected the 10 of CoNLL-U"),
    ],
)
def test_incomplete_sentences(file, text, message):
    with pytest.raises(InputError, match=message):
        formats.read_sentences(file("a", text))


def test_reversed_sentences_have_the_same_tree(tmp_path):
    turned = reverse.reverse(SENTENCE)
    assert [(word[0], word[1], word[6], word[7]) for word in turned] == [
        ("1", ".", "2", "punct"),
        ("2", "go", "0", "root"),
        ("3", "n't", "2", "advmod"),
        ("4", "Do", "2", "aux"),
    ]
    assert reverse.reverse(turned) == SENTENCE
    unparsed = [[*word[:6], "_", "_", "_", "_"] for word in SENTENCE]
    assert reverse.reverse(reverse.reverse(unparsed)) == unparsed
    source, target, back = (tmp_path / name for name in ("source", "target", "back"))
    formats.write_sentences(source, [SENTENCE, unparsed])
    assert reverse.main([str(source), str(target)]) == reverse.main([str(target), str(back)]) == 0
    assert back.read_bytes() == source.read_bytes() != target.read_bytes()


def test_trees_and_where_one_is_wrong(file):
    assert list(formats.read_trees(file("a", "(TOP (NN x))\n"))) == [["TOP", ["NN", "x"]]]
    for text, message in (
        ("(NN x y)", "line 2: found the word 'x' beside another node"),
        ("(NP (NP))", "line 2: found the constituent 'NP' without words"),
        ("(NN x) (NN y)", "line 2: found 2 trees, expected one"),
        ("", "line 2: found 0 trees, expected one"),
    ):
        with pytest.raises(InputError, match=message):
            list(formats.read_trees(file("b", f"(TOP (NN x))\n{text}\n")))


def test_pairs_with_links(file):
    path = file("a", "the cat ||| le chat ||| 0-0 1p1 1-1 0p1\na ||| b |||\n")
    (first, gold), (second, none) = formats.read_linked_pairs(path)
    assert (first, second) == ((["the", "cat"], ["le", "chat"]), (["a"], ["b"]))
    assert gold == Alignment(frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1), (0, 1)}))
    assert not none.possible


@pytest.mark.parametrize("line", ["a", "a ||| ", "||| b", "a ||| b ||| 0-0 ||| c", ""])
@pytest.mark.parametrize("read", [formats.read_pairs, formats.read_linked_pairs])
def test_a_line_without_a_pair(file, line, read):
    with pytest.raises(InputError, match=r"a, line 2: found '.*', expected source words \|\|\| target words"):
        read(file("a", f"a ||| b ||| 0-0\n{line}\n"))


def test_translations_and_what_will_be_translated(file):
    assert formats.read_translations(file("a", "a b ||| c\nd e\n")) == ([(["a", "b"], ["c"])], [["d", "e"]])
    for text in ("a ||| b ||| c\n", " ||| b\n", "a |||\n", "\n"):
        with pytest.raises(InputError, match=r"line 1: found .*, expected source words \|\|\| target words"):
            formats.read_translations(file("bad", text))


def test_options_of_a_program_go_to_the_functions_that_have_them(capsys):
    called = []

    def train(training_set, model, seed, *, size):
        called.append((str(training_set), str(model), seed, size))

    def predict(model, segments, output):
        called.append((str(model), str(segments), str(output)))

    def run(*arguments):
        options = {"size": {"type": int, "required": True}}
        return program.run("m", options, train=train, predict=predict, arguments=arguments)

    assert run("train", "--train", "t", "--model", "m", "--seed", "7", "--size", "4") == 0
    assert run("predict", "--model", "m", "--input", "i", "--output", "o") == 0
    assert called == [("t", "m", 7, 4), ("m", "i", "o")]
    with pytest.raises(SystemExit):
        run("predict", "--model", "m", "--input", "i", "--output", "o", "--size", "4")
    assert "unrecognized arguments: --size 4" in capsys.readouterr().err


PACKAGES = {"thot": "thot", "udpipe": "ufal.udpipe", "sequence_labelling": "pycrfsuite"}


@pytest.mark.parametrize(
    ("name", "content", "called"),
    [
        ("mst", "no model", "mst"),
        ("joint_hmm", "no model", "joint_hmm"),
        *(("itg", content, "itg") for content in ("no model", "{}", "[]", '{"any": "x"}')),
        pytest.param("thot", "no model", "eflomal", marks=pytest.mark.packages),
        pytest.param("udpipe", "no model", "UDPipe", marks=pytest.mark.packages),
        pytest.param("sequence_labelling", "no model", "gaps and words", marks=pytest.mark.packages),
    ],
)
def test_what_is_no_model_is_reported(file, tmp_path, name, content, called):
    pytest.importorskip(PACKAGES.get(name, "pairsig"))
    program = import_module(f"base_models.{name}")
    given = {"itg": {"hmm": tmp_path}, "thot": {"aligner": "eflomal"}}.get(name, {})
    with pytest.raises(InputError, match=f"model: found no model of {called}"):
        program.predict(Path(file("model", content)), Path(file("input", "a ||| b\n")), tmp_path / "output", **given)
    assert not (tmp_path / "output").exists()
