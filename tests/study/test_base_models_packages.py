"""Base models that are Python packages, on corpora of which the truth is known."""

import random

import pytest

from pairsig import InputError
from toys import mirror_links, mirrored, sentence, write_pairs, write_sentences

pytestmark = pytest.mark.packages


def links_of(line):
    return {tuple(map(int, link.split("-"))) for link in line.split()}


@pytest.fixture
def aligner():
    pytest.importorskip("thot")
    from base_models import thot

    return thot


def test_eflomal_finds_mirror_images_in_known_and_unknown_pairs(aligner, tmp_path):
    known, unknown = mirrored(800, seed=1), mirrored(100, seed=2)
    aligner.train(write_pairs(tmp_path / "train.txt", known), tmp_path / "model", seed=1, aligner="eflomal")
    for pairs in (known, unknown):
        test_set, output = write_pairs(tmp_path / "test.txt", pairs), tmp_path / "output.txt"
        aligner.predict(tmp_path / "model", test_set, output, aligner="eflomal")
        lines = (tmp_path / "output.txt").read_text(encoding="utf-8").splitlines()
        right = wrong = missed = 0
        for line, pair in zip(lines, pairs, strict=True):
            truth = set(mirror_links(pair))
            right += len(links_of(line) & truth)
            wrong += len(links_of(line) - truth)
            missed += len(truth - links_of(line))
        assert right > 20 * max(wrong, 1)
        assert right > 4 * missed


def test_ibm_model_4_finds_mirror_images_twice_the_same(aligner, tmp_path):
    training_set = write_pairs(tmp_path / "train.txt", [*mirrored(800, seed=1), (["e"] * 21, ["f"] * 3)])
    unknown = mirrored(100, seed=2)
    test_set = write_pairs(tmp_path / "test.txt", [*unknown, (["new"], ["unknown", "words"])])
    outputs = []
    for number in range(2):
        aligner.train(training_set, tmp_path / f"model-{number}", seed=number, aligner="ibm4")
        aligner.predict(tmp_path / f"model-{number}", test_set, tmp_path / "output.txt", aligner="ibm4")
        outputs.append((tmp_path / "output.txt").read_text(encoding="utf-8").splitlines())
    assert outputs[0] == outputs[1]
    truth = [set(mirror_links(pair)) for pair in unknown]
    found = [links_of(line) for line in outputs[0]]
    right = sum(len(links & true) for links, true in zip(found, truth, strict=False))
    assert right > 20 * sum(len(links - true) for links, true in zip(found, truth, strict=False))
    assert right > 4 * sum(len(true - links) for links, true in zip(found, truth, strict=False))
    long = write_pairs(tmp_path / "long.txt", [(["e"] * 21, ["f"])])
    with pytest.raises(InputError, match="found no pair with at most 20 words per side"):
        aligner.train(long, tmp_path / "none", seed=1, aligner="ibm4")
    with pytest.raises(InputError, match="found no model of ibm4, expected one that train wrote"):
        aligner.predict(tmp_path / "nothing", test_set, tmp_path / "output.txt", aligner="ibm4")


def test_udpipe_learns_a_toy_grammar_and_twice_the_same(tmp_path):
    pytest.importorskip("ufal.udpipe")
    from base_models import udpipe

    generator = random.Random(1)
    training_set = write_sentences(tmp_path / "train", [sentence(generator) for _ in range(150)])
    held_out = [sentence(random.Random(seed)) for seed in range(20)]
    test_set = write_sentences(tmp_path / "test", held_out, blank=True)
    for number, seed in enumerate((1, 2)):
        udpipe.train(training_set, tmp_path / f"model-{number}", seed=seed)
    assert (tmp_path / "model-0").read_bytes() == (tmp_path / "model-1").read_bytes()
    udpipe.predict(tmp_path / "model-0", test_set, tmp_path / "output")
    lines = (tmp_path / "output").read_text(encoding="utf-8").splitlines()
    assert [row.split("\t")[6] for row in lines if row] == [str(head) for rows in held_out for _, _, head, _ in rows]
