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
def test_markup_is_asked_for_and_every_answer_works(form, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    suffix = ".jsonl" if form == "JSON Lines" else ".txt"
    other = [line.replace("cat", "bat").replace("yes", "no") for line in FORMS[form]]
    files = [written(tmp_path, f"{name}{suffix}", lines) for name, lines in (("a", FORMS[form]), ("b", other))]
    reference = written(tmp_path, f"reference{suffix}", FORMS[form])
    words = ["compare", *files, "--reference", reference, "--metric", "bleu", "--n-resamples", "99"]
    assert cli.main(words) == 2
    message = capsys.readouterr().err
    assert f"{reference}: found " in message
    commands = [line for line in message.splitlines() if line.startswith("pairsig compare")]
    assert commands
    for command in commands:
        assert cli.main(shlex.split(command)[1:]) == 0
        capsys.readouterr()


def test_blanks_around_the_ids_of_a_reference_do_not_matter():
    lines = FORMS["Kaldi"]
    with pytest.raises(Question, match="utterance ids"):
        markup.check_texts("a.txt", lines, [f"  {line} " for line in lines])


@pytest.mark.parametrize(
    "lines",
    [
        ["hello,world"],  # a single line is no table
        ["Hello, it's me", "Well, yes it is", "No, not now"],  # names of columns are words
        ["The 3 cats", "A 4 dogs", "One 5 birds"],  # ids have a digit
        ["a1 the cat", "b2 the dog"],  # two ids may be chance
        ["2 cats sat", "2 dogs ran", "3 birds flew"],  # ids differ
    ],
)
def test_texts_that_are_like_markup_in_part(lines):
    markup.check_texts("a.txt", lines, lines)


def test_blanks_and_quotation_marks_around_names_of_columns_do_not_matter():
    with pytest.raises(Question, match="found cells of a table in 3 of 3 lines"):
        markup.check_texts("a.txt", ['"id" , "text"', "1, the cat", "2, the dog"], ["the cat", "the dog"])


@pytest.mark.parametrize(
    ("path", "line", "answers"),
    [
        ("a.jsonl", '{"id": 1, "text": "x", "note": "y"}', [{"column": "text"}, {"column": "note"}]),
        ("a.jsonl", '["x", {"y": "z"}]', []),
        ("a.txt", '{"text": "x"}', []),
    ],
)
def test_fields_with_texts_are_offered(path, line, answers):
    with pytest.raises(Question) as caught:
        markup.check_texts(path, [line] * 3, [line])
    assert list(caught.value.answers) == [*answers, {"text-as-is": True}]


def test_a_column_is_paired_by_id(tmp_path, monkeypatch, capsys):
    """The order of lines in JSON Lines does not matter, and the score is that of the plain texts."""
    monkeypatch.chdir(tmp_path)
    rows = list(enumerate(SENTENCES))
    worse = [(k, text.replace("the", "a")) for k, text in rows]

    def lines(of):
        return [json.dumps({"id": k, "text": text}) for k, text in of]

    plain = [written(tmp_path, f"{n}.txt", [t for _, t in of]) for n, of in (("a", rows), ("b", worse), ("r", rows))]
    forms = (("a", rows[::-1]), ("b", worse), ("r", rows))
    mixed = [written(tmp_path, f"{n}.jsonl", lines(of)) for n, of in forms]
    found = []
    for (a, b, reference), more in ((plain, []), (mixed, ["--column", "text"])):
        options = ["--metric", "bleu", "--n-resamples", "99", "--format", "json"]
        assert cli.main(["compare", a, b, "--reference", reference, *options, *more]) == 0
        (row,) = json.loads(capsys.readouterr().out)["rows"]
        found.append((row["score_a"], row["score_b"], row["pvalue"]))
    assert found[0] == found[1]
    assert found[0][0] == pytest.approx(100)
    written(tmp_path, "b.jsonl", lines(worse[:3]))
    assert cli.main(["compare", *mixed[:2], "--reference", mixed[2], "--column", "text", "--metric", "bleu"]) == 2
    assert "found 3 different items, r.jsonl has 4" in capsys.readouterr().err


def test_several_references_in_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    a, b = written(tmp_path, "a.txt", SENTENCES), written(tmp_path, "b.txt", [s.replace("the", "a") for s in SENTENCES])
    second = [text.replace("the", "that") for text in SENTENCES]
    one = written(tmp_path, "r.txt", [f"{x}\t{y}" for x, y in zip(SENTENCES, second, strict=True)])
    two = [written(tmp_path, "r1.txt", SENTENCES), written(tmp_path, "r2.txt", second)]
    found = []
    for references, more in (([one], ["--num-refs", "2"]), (two, [])):
        options = ["--metric", "bleu", "--n-resamples", "99", "--format", "json"]
        assert cli.main(["compare", a, b, "--reference", *references, *options, *more]) == 0
        (row,) = json.loads(capsys.readouterr().out)["rows"]
        found.append((row["score_a"], row["score_b"], row["pvalue"]))
    assert found[0] == found[1]
    assert cli.main(["compare", a, b, "--reference", one, "--num-refs", "3", "--metric", "bleu"]) == 2
    assert "r.txt, line 1: found 2 references, expected 3" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["JSON Lines", "tabs", "Kaldi"])
def test_extract_asks_the_same(form, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    suffix = ".jsonl" if form == "JSON Lines" else ".txt"
    output, reference = (written(tmp_path, f"{name}{suffix}", FORMS[form]) for name in ("a", "reference"))
    words = ["extract", output, "--reference", reference, "--metric", "bleu", "--system", "a", "--output", "a.tsv"]
    assert cli.main(words) == 2
    message = capsys.readouterr().err
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
