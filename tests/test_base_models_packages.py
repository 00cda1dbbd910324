"""Base models that are Python packages, on corpora of which the truth is known."""

import random

import pytest

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


def test_eflomal_finds_mirror_images_in_known_and_unknown_pairs(tmp_path):
    pytest.importorskip("eflomal")
    from study.base_models import eflomal_aligner

    known, unknown = parallel(800, seed=1), parallel(20, seed=2)
    training_set, test_set = tmp_path / "train.txt", tmp_path / "test.txt"
    for path, pairs in ((training_set, known), (test_set, [*known[:20], *unknown, known[0]])):
        path.write_text("".join(BETWEEN.join(map(" ".join, pair)) + "\n" for pair in pairs), encoding="utf-8")
    eflomal_aligner.train(training_set, tmp_path / "model", seed=1)
    eflomal_aligner.predict(tmp_path / "model", test_set, tmp_path / "output.txt")
    lines = (tmp_path / "output.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 41
    assert lines[0] == lines[40]
    right = wrong = missed = 0
    for line, (source, _) in zip(lines, [*known[:20], *unknown, known[0]], strict=True):
        truth = {(i, len(source) - 1 - i) for i in range(len(source))}
        right += len(links_of(line) & truth)
        wrong += len(links_of(line) - truth)
        missed += len(truth - links_of(line))
    assert right > 20 * max(wrong, 1)
    assert right > 4 * missed
    # Pairs of the training set have the links that the model holds.
    stored = (tmp_path / "model").read_text(encoding="utf-8").splitlines()
    assert len(stored) == 800
    assert [line.rpartition(BETWEEN)[2] for line in stored[:20]] == lines[:20]


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
    from study.base_models import udpipe

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
    from pairsig import InputError
    from study.base_models import udpipe

    (tmp_path / "model").write_text("no model", encoding="utf-8")
    with pytest.raises(InputError, match="is no model of UDPipe"):
        udpipe.predict(tmp_path / "model", tmp_path / "model", tmp_path / "output")
    assert not (tmp_path / "output").exists()
