"""Base models that are Python packages, on corpora of which the truth is known."""

import random

import pytest

from pairsig import InputError

pytestmark = pytest.mark.packages

BETWEEN = " ||| "


def parallel(n_pairs, seed, words=30):
    """Sentences of made-up words, each with its mirror image: word i of n is translated by word n - 1 - i."""
    generator = random.Random(seed)
    made = []
    for _ in range(n_pairs):
        source = generator.sample(range(words), generator.randint(3, 6))
        made.append(([f"s{word}" for word in source], [f"t{word}" for word in reversed(source)]))
    return made


def links_of(line):
    return {tuple(map(int, link.split("-"))) for link in line.split()}


@pytest.fixture
def aligner():
    pytest.importorskip("thot")
    from base_models import eflomal

    return eflomal


def write_pairs(path, pairs):
    path.write_text("".join(BETWEEN.join(map(" ".join, pair)) + "\n" for pair in pairs), encoding="utf-8")
    return path


def test_eflomal_finds_mirror_images_in_known_and_unknown_pairs(aligner, tmp_path):
    known, unknown = parallel(800, seed=1), parallel(100, seed=2)
    aligner.train(write_pairs(tmp_path / "train.txt", known), tmp_path / "model", seed=1)
    for pairs in (known, unknown):
        aligner.predict(tmp_path / "model", write_pairs(tmp_path / "test.txt", pairs), tmp_path / "output.txt")
        lines = (tmp_path / "output.txt").read_text(encoding="utf-8").splitlines()
        right = wrong = missed = 0
        for line, (source, _) in zip(lines, pairs, strict=True):
            truth = {(i, len(source) - 1 - i) for i in range(len(source))}
            right += len(links_of(line) & truth)
            wrong += len(links_of(line) - truth)
            missed += len(truth - links_of(line))
        assert right > 20 * max(wrong, 1)
        assert right > 4 * missed


def test_eflomal_links_depend_on_the_seed_and_on_nothing_else(aligner, tmp_path):
    # Words that mean little, so that the sampler is unsure; some that a library may take for its own or cut in two.
    odd = ["NULL", "UNKNOWN_WORD", "<UNUSED_WORD>", "a\u00a0b", "c\u3000d", "-", "\u0085"]
    generator = random.Random(3)
    pairs = [[generator.choices([*odd, "e", "f"], k=generator.randint(1, 9)) for _ in "12"] for _ in range(40)]
    training_set = write_pairs(tmp_path / "train.txt", pairs)
    test_set = write_pairs(tmp_path / "test.txt", [*pairs, (["g", "e"], ["f"]), (["e"] * 1200, ["e"] * 3)])
    outputs = []
    for number, seed in enumerate((1, 1, 2)):
        aligner.train(training_set, tmp_path / f"model-{number}", seed=seed)
        aligner.predict(tmp_path / f"model-{number}", test_set, tmp_path / "output.txt")
        outputs.append((tmp_path / "output.txt").read_bytes())
    assert outputs[0] == outputs[1] != outputs[2]
    lines = outputs[0].decode().splitlines()
    assert len(lines) == 42
    assert lines[-1] == ""  # too long
    for line, (source, target) in zip(lines, pairs, strict=False):
        assert all(i < len(source) and j < len(target) for i, j in links_of(line))


def test_eflomal_says_what_is_wrong_with_a_model(aligner, tmp_path):
    (tmp_path / "model").mkdir()
    test_set = write_pairs(tmp_path / "test.txt", parallel(2, seed=1))
    with pytest.raises(InputError, match="found no model of eflomal"):
        aligner.predict(tmp_path / "model", test_set, tmp_path / "output.txt")
    assert not (tmp_path / "output.txt").exists()


def sentence(generator, gold=True):
    """DET NOUN VERB, and perhaps DET NOUN: determiners hang on nouns, nouns on the verb."""
    rows = [("the", "DET", 2), ("cat", "NOUN", 3), ("sees", "VERB", 0)]
    if generator.random() < 0.6:
        rows += [("a", "DET", 5), ("dog", "NOUN", 3)]
    lines = []
    for number, (word, tag, head) in enumerate(rows, start=1):
        word += str(generator.randint(0, 9)) if tag == "NOUN" else ""
        columns = [
            str(number),
            word,
            word,
            tag,
            "_",
            "_",
            str(head) if gold else "_",
            ("dep" if head else "root") if gold else "_",
        ]
        lines.append("\t".join([*columns, "_", "_"]))
    return "\n".join(lines) + "\n\n"


def test_udpipe_learns_a_toy_grammar_and_twice_the_same(tmp_path):
    pytest.importorskip("ufal.udpipe")
    from base_models import udpipe

    training_set, test_set = tmp_path / "train.conllu", tmp_path / "test.conllu"
    generator = random.Random(1)
    training_set.write_text("".join(sentence(generator) for _ in range(150)), encoding="utf-8")
    test_set.write_text("".join(sentence(random.Random(seed), gold=False) for seed in range(20)), encoding="utf-8")
    expected = "".join(sentence(random.Random(seed)) for seed in range(20))
    for number, seed in enumerate((1, 2)):
        udpipe.train(training_set, tmp_path / f"model-{number}", seed=seed)
    assert (tmp_path / "model-0").read_bytes() == (tmp_path / "model-1").read_bytes()
    udpipe.predict(tmp_path / "model-0", test_set, tmp_path / "output.conllu")

    def heads(text):
        return [row.split("\t")[6] for row in text.splitlines() if row]

    assert heads((tmp_path / "output.conllu").read_text(encoding="utf-8")) == heads(expected)


def test_udpipe_says_what_is_wrong_with_a_model(tmp_path):
    pytest.importorskip("ufal.udpipe")
    from base_models import udpipe

    (tmp_path / "model").write_text("no model", encoding="utf-8")
    with pytest.raises(InputError, match="found no model of UDPipe"):
        udpipe.predict(tmp_path / "model", tmp_path / "model", tmp_path / "output")
    assert not (tmp_path / "output").exists()
