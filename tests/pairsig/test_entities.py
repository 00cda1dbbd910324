"""Entities in IOB tags: those that seqeval finds, the digits that conlleval prints, and files that are refused."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairsig import InputError
from pairsig.metrics.entities import SCHEMES, entities, entity_counts
from pairsig.metrics.registry import METRICS
from pairsig.readers.outputs import iob

PRINTED = json.loads((Path(__file__).parents[1] / "data/entities/seqeval.json").read_text(encoding="utf-8"))
COLUMNS = ("matched", "predicted", "gold")


def scores(counts):
    """F1, precision and recall of the sums."""
    totals = [counts[column].sum() for column in COLUMNS]
    return [float(METRICS[f"entity_{name}"].score(totals)) for name in ("f1", "precision", "recall")]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_entities_are_those_of_seqeval(scheme):
    cases = [(tags, found) for name, tags, found in PRINTED if name == scheme]
    assert len(cases) == 80
    for tags, found in cases:
        assert [list(entity) for entity in entities(tags, scheme)] == found, tags


def as_conlleval_says(tags):
    """The rules in conlleval's source, for B, I and O: what ends a chunk, and what starts one."""
    found, first = [], None
    rows = [(tag[0], tag[2:]) for tag in tags]
    for place, (before, here) in enumerate(zip([("O", ""), *rows], [*rows, ("O", "")], strict=True)):
        ends = before[0] in "BI" and (here[0] in "BO" or before[1] != here[1])
        starts = here[0] == "B" or (here[0] == "I" and (before[0] == "O" or before[1] != here[1]))
        if ends and first is not None:
            found.append((before[1], first, place))
            first = None
        if starts:
            first = place
    return found


TAGS = st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), max_size=12)


@given(TAGS)
def test_lenient_entities_are_those_of_conlleval(tags):
    assert entities(tags) == as_conlleval_says(tags)


@given(TAGS)
def test_strict_entities_are_what_a_pattern_finds(tags):
    """In IOB2, B-X and every I-X that follows; in IOBES, S-X alone, or B-X, any I-X, and E-X."""
    text = "".join(f"{tag:3}" for tag in tags)
    found = [(m[1], m.start() // 3, m.end() // 3) for m in re.finditer(r"B-(.)(I-\1)*", text)]
    assert entities(tags, "IOB2") == found
    of_x = [tag.replace("I-Y", "E-X").replace("B-Y", "S-X") for tag in tags]
    text = "".join(f"{tag:3}" for tag in of_x)
    found = [("X", m.start() // 3, m.end() // 3) for m in re.finditer(r"S-X|B-X(?:I-X)*E-X", text)]
    assert entities(of_x, "IOBES") == found


EXAMPLE = """\
B-NP I-NP|I-NP I-NP|I-NP I-NP|B-NP B-NP|I-NP I-NP|I-NP I-NP|B-VP B-VP|B-NP B-NP|B-VP B-VP|B-NP B-NP|I-NP I-NP|I-NP I-NP
B-VP B-VP|B-NP B-NP|I-NP I-NP|B-PP B-PP|B-NP I-NP|I-NP I-NP|B-VP B-PP|I-VP I-VP|B-NP I-NP|I-NP I-NP|B-PP B-PP|B-NP I-NP
B-NP B-NP|I-NP I-NP|I-NP I-NP|O O"""


@pytest.mark.parametrize(
    ("kind", "counts", "printed"),
    [
        (None, (14, 16, 15), "87.50 93.33 90.32"),
        ("NP", (9, 9, 9), "100.00 100.00 100.00"),
        ("PP", (2, 3, 2), "66.67 100.00 80.00"),
        ("VP", (3, 4, 4), "75.00 75.00 75.00"),
    ],
)
def test_the_digits_that_conlleval_prints(kind, counts, printed):
    """The example in the README of the Python port: the gold tag and the predicted one of each word."""
    gold, predicted = zip(*map(str.split, EXAMPLE.replace("\n", "|").split("|")), strict=True)
    found = entity_counts([predicted], [gold], type=kind)
    assert tuple(found[column].item() for column in COLUMNS) == counts
    f1, precision, recall = scores(found)
    assert f"{precision:.2f} {recall:.2f} {f1:.2f}" == printed


def test_the_sums_of_the_conll_2000_example_give_its_printed_scores():
    """conlleval: 459 phrases; found: 539 phrases; correct: 371; precision 68.83, recall 80.83, FB1 74.35."""
    found = [float(METRICS[f"entity_{name}"].score([371, 539, 459])) for name in ("precision", "recall", "f1")]
    assert [f"{score:.2f}" for score in found] == ["68.83", "80.83", "74.35"]


GOLD = [["O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
OUTPUT = [["O", "O", "B-MISC", "I-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]


@pytest.mark.parametrize(("kind", "f1"), [(None, 50.0), ("MISC", 0.0), ("PER", 100.0)])
def test_the_example_of_seqeval(kind, f1):
    """Its README prints 0.50 for all types, 0.00 for MISC and 1.00 for PER."""
    assert scores(entity_counts(OUTPUT, GOLD, type=kind))[0] == f1


def written(path, sentences):
    """Columns with a word, a part of speech and a tag."""
    path.write_text("\n".join("".join(f"w{k} N {tag}\n" for k, tag in enumerate(tags)) for tags in sentences), "utf-8")
    return str(path)


@pytest.fixture
def files(tmp_path):
    """Two systems and the gold tags of 12 sentences."""
    rng = np.random.default_rng(3)
    gold = [["B-PER", "I-PER", "O", "B-LOC"][: 1 + k % 4] for k in range(12)]
    a, b = ([["O" if rng.random() < p else tag for tag in tags] for tags in gold] for p in (0.1, 0.5))
    return [written(tmp_path / name, tags) for name, tags in (("a.conll", a), ("b.conll", b), ("gold.conll", gold))]


def test_two_systems_are_tested_exactly(files, answer):
    a, b, gold = files
    tags = [iob.read(path) for path in files]
    (row,), _ = answer(a, b, "--reference", gold)
    assert (row["metric"], row["test"], row["n_segments"]) == ("entity_f1", "exact", 12)
    assert row["score_a"] == pytest.approx(scores(entity_counts(tags[0], tags[2]))[0])
    (of_loc,), _ = answer(a, b, "--reference", gold, "--reader", "iob", "--type", "LOC")
    assert of_loc["score_a"] == pytest.approx(scores(entity_counts(tags[0], tags[2], type="LOC"))[0])


def test_documents_and_several_blank_lines_are_no_sentences(tmp_path):
    path = tmp_path / "a"
    path.write_text("-DOCSTART- -X- O O\n\nEU N B-ORG\nwins V O\n \n\n\nno N O\n-DOCSTART- O\nyes N B-X", "utf-8")
    assert iob.read(path) == [("B-ORG", "O"), ("O",), ("B-X",)]


@pytest.mark.parametrize(
    ("output", "options", "message"),
    [
        ([["O"], ["O"]], {}, "the output has 2 sentences, expected 1 as in the reference"),
        ([["O", "O"]], {}, "sentence 1 has 2 tags, expected 1 as in the reference"),
        ([["S-X"]], {"scheme": "IOB2"}, "found the tag 'S-X', which the scheme IOB2 does not have"),
        ([["E-X"]], {"scheme": "BILOU"}, "found the tag 'E-X', which the scheme BILOU does not have"),
        ([["U-X"]], {}, "found the tag 'U-X', which the scheme lenient does not have"),
        ([["B-X"]], {"scheme": "iob"}, "unknown scheme of tags 'iob', expected one of lenient, IOB1"),
        ([["B-X"]], {"type": "PRE"}, "found no entity of type 'PRE', expected one of PER, X"),
    ],
)
def test_tags_that_are_refused(output, options, message):
    with pytest.raises(InputError, match=message):
        entity_counts(output, [["B-PER"]], **options)
