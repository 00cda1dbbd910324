"""Texts are looked at before their characters are counted: markup is no translation."""

import json
import shlex

import pytest

import pairsig
from pairsig import cli
from pairsig.io.errors import Question
from pairsig.readers import markup

SENTENCES = ["the cat sat on the mat", "it was happy there", "a dog came in", "they left"]
IDS = [f"spk{k}-utt{k:03d}" for k in range(4)]
FORMS = {
    "JSON Lines": [json.dumps({"id": k, "text": text}) for k, text in enumerate(SENTENCES)],
    "JSON arrays": [json.dumps([k, text]) for k, text in enumerate(SENTENCES)],
    "tabs": ["id\ttext", *(f"{k}\t{text}" for k, text in enumerate(SENTENCES))],
    "commas": ["id,text", *(f"{k},{text}" for k, text in enumerate(SENTENCES))],
    "Kaldi": [f"{name} {text}" for name, text in zip(IDS, SENTENCES, strict=True)],
    "Kaldi, plain ids": [f"utt{number:03d} {text}" for number, text in enumerate(SENTENCES)],
    "trn": [f"{text} ({name})" for name, text in zip(IDS, SENTENCES, strict=True)],
    "TREC": [f"q{k} Q0 doc{k} {k} 0.{k} run" for k in range(4)],
    "IOB": ["EU B-ORG", "rejects O", "German B-MISC", "call O"],
    "single tokens": ["yes", "no", "yes", "no"],
}


def written(folder, name, lines):
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


@pytest.mark.parametrize("form", FORMS)
def test_markup_is_asked_for_and_every_answer_works(form, tmp_path, monkeypatch, refusal):
    monkeypatch.chdir(tmp_path)
    suffix = ".jsonl" if form == "JSON Lines" else ".txt"
    other = [line.replace("cat", "bat").replace("yes", "no") for line in FORMS[form]]
    files = [written(tmp_path, f"{name}{suffix}", lines) for name, lines in (("a", FORMS[form]), ("b", other))]
    reference = written(tmp_path, f"reference{suffix}", FORMS[form])
    message = refusal("compare", *files, "--reference", reference, "--metric", "bleu", "--n-resamples", "99")
    assert f"{reference}: found " in message
    commands = [line for line in message.splitlines() if line.startswith("pairsig compare")]
    assert commands
    for command in commands:
        assert cli.main(shlex.split(command)[1:]) == 0


PLAIN = [f"line {letter} of a plain text" for letter in "abcdefghij"]
OBJECT = '{"a": 1}'
NUMBERED = [f"utt-{number} hello" for number in range(20)]


@pytest.mark.parametrize(
    ("lines", "reference", "words"),
    [
        ([OBJECT] * 9 + PLAIN[:1], PLAIN, "JSON in 9 of 10 lines"),
        ([f" {OBJECT} ", " ", " "], PLAIN, "JSON in 1 of 1 lines"),
        ([" q1 Q0 d1 1 0.5 run "] * 2, PLAIN, "a TREC run in 2 of 2"),
        (["id\ttext", "1\ta b"], PLAIN, "cells of a table in 2 of 2"),
        (["id\ttext\tnote", *["1\ta b\tc"] * 9], PLAIN, "cells of a table in 10 of 10"),
        (['"id" , "text"', "1, the cat", "2, the dog"], PLAIN, "cells of a table in 3 of 3 lines"),
        (["yes", "no"], ["yes", " ", "yes"], "one token in each line"),
        (NUMBERED[: markup._FEW], NUMBERED, "utterance ids"),
        (FORMS["Kaldi"], [f"  {line} " for line in FORMS["Kaldi"]], "utterance ids"),
    ],
)
def test_texts_that_are_none_are_asked_about(lines, reference, words):
    with pytest.raises(Question, match=words):
        markup.check_texts("a.txt", lines, reference)


@pytest.mark.parametrize(
    ("lines", "reference"),
    [
        ([OBJECT, *PLAIN[1:]], PLAIN),
        ([OBJECT] * 8 + PLAIN[:2], PLAIN),
        (["{not json"] * 3, PLAIN),
        (['"a quoted line"', "12 34", "[1, 2"], PLAIN),
        (["id\ttext\tnote", *["1\ta b"] * 9], PLAIN),
        (["yes"], ["yes"]),
        (["yes", "no no"], ["yes", "no"]),
        (["yes", "no"], ["yes", "no no"]),
        (NUMBERED[: markup._FEW - 1], NUMBERED),
        ([NUMBERED[0]] * 20, NUMBERED),  # ids differ
        ([" ", ""], PLAIN),
        (["Well, yes, no.", "A, b, c (d)", "[laughs] he said", "state-of-the-art 3-2"], PLAIN),
        (["hello,world"], ["hello,world"]),  # a single line is no table
        (["Hello, it's me", "Well, yes it is", "No, not now"], PLAIN),  # names of columns are words
        (["The 3 cats", "A 4 dogs", "One 5 birds"], ["The 3 cats", "A 4 dogs", "One 5 birds"]),  # ids have a digit
        (["2 cats sat", "2 dogs ran", "3 birds flew"], ["2 cats sat", "2 dogs ran", "3 birds flew"]),
    ],
)
def test_plain_texts_are_not_asked_about(lines, reference):
    markup.check_texts("a.txt", lines, reference)


@pytest.mark.parametrize(
    ("path", "lines", "answers"),
    [
        ("a.jsonl", ['{"id": 1, "text": "x", "note": "y"}'] * 3, [{"column": "text"}, {"column": "note"}]),
        ("a.jsonl", ['{"n": 1, "text": "a"}', '{"other": "b"}'], [{"column": "text"}]),
        ("a.jsonl", ['["x", {"y": "z"}]'] * 3, []),
        ("a.txt", ['{"text": "x"}'] * 3, []),
    ],
)
def test_the_fields_of_the_first_object_that_have_texts_are_offered(path, lines, answers):
    with pytest.raises(Question) as caught:
        markup.check_texts(path, lines, lines)
    assert list(caught.value.answers) == [*answers, {"text-as-is": True}]


def test_a_column_is_paired_by_id(tmp_path, monkeypatch, answer, refusal):
    """The order of lines in JSON Lines does not matter, and the score is that of the plain texts."""
    monkeypatch.chdir(tmp_path)
    rows = list(enumerate(SENTENCES))
    worse = [(k, text.replace("the", "a")) for k, text in rows]

    def lines(of):
        return [json.dumps({"id": k, "text": text}) for k, text in of]

    plain = [written(tmp_path, f"{n}.txt", [t for _, t in of]) for n, of in (("a", rows), ("b", worse), ("r", rows))]
    forms = (("a", rows[::-1]), ("b", worse), ("r", rows))
    mixed = [written(tmp_path, f"{n}.jsonl", lines(of)) for n, of in forms]
    of_plain, of_mixed = (
        answer(*files[:2], "--reference", files[2], "--metric", "bleu", "--n-resamples", "99", *more)[0][0]
        for files, more in ((plain, []), (mixed, ["--column", "text"]))
    )
    compared = ["score_a", "score_b", "pvalue"]
    assert [of_plain[name] for name in compared] == [of_mixed[name] for name in compared]
    assert of_plain["score_a"] == pytest.approx(100)
    written(tmp_path, "b.jsonl", lines(worse[:3]))
    message = refusal("compare", *mixed[:2], "--reference", mixed[2], "--column", "text", "--metric", "bleu")
    assert "found 3 different items, r.jsonl has 4" in message


def test_several_references_in_a_line(tmp_path, monkeypatch, answer, refusal):
    monkeypatch.chdir(tmp_path)
    a, b = written(tmp_path, "a.txt", SENTENCES), written(tmp_path, "b.txt", [s.replace("the", "a") for s in SENTENCES])
    second = [text.replace("the", "that") for text in SENTENCES]
    one = written(tmp_path, "r.txt", [f"{x}\t{y}" for x, y in zip(SENTENCES, second, strict=True)])
    two = [written(tmp_path, "r1.txt", SENTENCES), written(tmp_path, "r2.txt", second)]
    of_line, of_files = (
        answer(a, b, "--reference", *references, "--metric", "bleu", "--n-resamples", "99", *more)[0][0]
        for references, more in (([one], ["--num-refs", "2"]), (two, []))
    )
    compared = ["score_a", "score_b", "pvalue"]
    assert [of_line[name] for name in compared] == [of_files[name] for name in compared]
    message = refusal("compare", a, b, "--reference", one, "--num-refs", "3", "--metric", "bleu")
    assert "r.txt, line 1: found 2 references, expected 3" in message


@pytest.mark.parametrize("form", ["JSON Lines", "tabs", "Kaldi"])
def test_extract_asks_the_same(form, tmp_path, monkeypatch, refusal):
    monkeypatch.chdir(tmp_path)
    suffix = ".jsonl" if form == "JSON Lines" else ".txt"
    output, reference = (written(tmp_path, f"{name}{suffix}", FORMS[form]) for name in ("a", "reference"))
    message = refusal(
        "extract", output, "--reference", reference, "--metric", "bleu", "--system", "a", "--output", "a.tsv"
    )
    assert f"{reference}: found " in message
    assert not (tmp_path / "a.tsv").exists()
    commands = [line for line in message.splitlines() if line.startswith("pairsig extract")]
    assert any("--text-as-is" in command for command in commands)
    for command in commands:
        assert cli.main(shlex.split(command)[1:]) == 0
        assert (tmp_path / "a.tsv").exists()


def test_extract_reads_columns_and_several_references(tmp_path, monkeypatch):
    """The counts are those of the plain texts with two files of references."""
    monkeypatch.chdir(tmp_path)
    others = [line.upper() for line in SENTENCES]
    output = written(tmp_path, "a.jsonl", [json.dumps({"id": k, "text": SENTENCES[k]}) for k in (2, 0, 3, 1)])
    ordered = written(tmp_path, "b.jsonl", [json.dumps({"id": k, "text": SENTENCES[k]}) for k in range(4)])
    plain = written(tmp_path, "a.txt", SENTENCES)
    both = written(tmp_path, "both.txt", [f"{one}\t{other}" for one, other in zip(SENTENCES, others, strict=True)])
    second = written(tmp_path, "second.txt", others)
    expected = pairsig.extract(plain, [plain, second], metric="bleu", system="a").counts
    assert (pairsig.extract(plain, [both], metric="bleu", system="a", num_refs=2).counts == expected).all()
    by_id = pairsig.extract(output, [ordered], metric="bleu", system="a", column="text").counts
    assert (by_id == pairsig.extract(plain, [plain], metric="bleu", system="a").counts).all()
