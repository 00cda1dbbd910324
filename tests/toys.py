"""Small corpora of made-up sentences, of which the truth is known."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

TINY = [
    (["the", "house", "is", "small"], ["la", "maison", "est", "petite"]),
    (["the", "house"], ["la", "maison"]),
    (["the", "book", "is", "big"], ["le", "livre", "est", "grand"]),
    (["a", "book"], ["un", "livre"]),
    (["the", "book"], ["le", "livre"]),
    (["is", "it", "small", "?"], ["est", "ce", "petit", "?"]),
]
"""Sentence pairs for word alignment."""


def mirrored(n_pairs: int, seed: int, words: int = 30) -> list[tuple[list[str], list[str]]]:
    """Pairs of a sentence and its mirror image: word i of n is translated by word n - 1 - i."""
    generator = random.Random(seed)
    made = []
    for _ in range(n_pairs):
        source = generator.sample(range(words), generator.randint(3, 6))
        made.append(([f"s{word}" for word in source], [f"t{word}" for word in reversed(source)]))
    return made


def mirror_links(pair) -> list[tuple[int, int]]:
    """The links of a pair made by `mirrored`."""
    return [(i, len(pair[0]) - 1 - i) for i in range(len(pair[0]))]


def write_lines(path: Path, lines) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_pairs(path: Path, pairs) -> Path:
    return write_lines(path, (" ||| ".join(map(" ".join, pair)) for pair in pairs))


def trees(size: int):
    """Heads of all trees with one root."""
    for heads in product(range(size + 1), repeat=size):
        reached = {0}
        for _ in range(size):
            reached |= {word for word, head in enumerate(heads, start=1) if head in reached}
        if heads.count(0) == 1 and len(reached) == size + 1:
            yield heads


def projective_trees(size: int):
    """Heads of all trees with one root in which every word under an arc descends from the arc's head."""

    def descends(word, head, heads):
        while word not in (0, head):
            word = heads[word - 1]
        return word == head

    for heads in trees(size):
        arcs = [(min(arc), max(arc), arc[1]) for arc in enumerate(heads, start=1)]
        if all(descends(between, head, heads) for low, high, head in arcs for between in range(low + 1, high)):
            yield heads


def sentence(generator: random.Random) -> list[tuple[str, str, int, str]]:
    """DET NOUN VERB, and perhaps DET NOUN: determiners hang on nouns, nouns on the verb."""
    rows = [("the", "DET", 2, "det"), ("cat", "NOUN", 3, "nsubj"), ("sees", "VERB", 0, "root")]
    if generator.random() < 0.6:
        rows += [("a", "DET", 5, "det"), ("dog", "NOUN", 3, "obj")]
    return [
        (word + str(generator.randint(0, 9)) if tag == "NOUN" else word, tag, head, label)
        for word, tag, head, label in rows
    ]


def write_sentences(path: Path, sentences, blank: bool = False) -> Path:
    """Write words with their tags, heads and labels in CoNLL-U; if `blank`, without trees."""
    texts = []
    for rows in sentences:
        lines = []
        for number, (word, tag, head, label) in enumerate(rows, start=1):
            tree = ["_", "_"] if blank else [str(head), label]
            lines.append("\t".join([str(number), word, word, tag, tag, "_", *tree, "_", "_"]))
        texts.append("\n".join(lines) + "\n\n")
    path.write_text("".join(texts), encoding="utf-8")
    return path
