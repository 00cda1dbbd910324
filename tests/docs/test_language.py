"""The language of the project: replaced terms do not come back, and prose can be read once.

`python tests/docs/test_language.py PAGE...` prints the statistics of pages and their longest sentences.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MOST_WORDS, MOST_NUMBERS = 22, 1
"""Words per sentence on average, and numbers per 12 words, of a page."""

# ------------------------------------------------------------------------------------------------ replaced terms

_NOUN = (
    "(system|segment|row|run|pair|question|item|line|dataset|document|metric|page|test|thread|gain|unit|model|method|"
    "file|size|batch|name|column|resample|word)"
)
REPLACED = {
    r"(un)?likeness(es)?": "correlation; 1 − correlation",
    r"similarit(y|ies)": "correlation",
    r"unlike(r)?": "less correlated; 1 − correlation",
    r"(the|of the|a|its|their|whose|median|these|both|such) needs?(?! (to|not|no|be|a|an|the)\b)(?=[\s,.;:)])": (
        "critical difference"
    ),
    r"median need": "critical difference",
    r"told|tells? (of|apart|that|which|whether)": "significant, reported, detected, determined, known, says",
    r"(decided?|tell|tells|telling) [^.]{0,20}apart": "disagree; distinguish",
    r"held(?![ _-]out| the lock)": "replicated; contained; kept; stored; compared",
    r"worth": "effective sample size",
    r"(?<!np\.)(?<!math\.)(?<!Math\.)(?<!ROUND_)floors?(?!_divide)": "smallest reliable gain",
    r"borrow(ed|s|ing)?": "family heterogeneity; estimated elsewhere; specified",
    r"(?<!power )(?<!power-)laws?(?! of large)": "variance model; distribution; power law only for y = a·x^b",
    r"carriers?": "length unit",
    r"gt2": 'shifted bootstrap, one-sided (method="shifted", alternative="observed")',
    r"contours?": "saddle-point inversion; path",
    r"Judge|Counted|[Tt]ally|TALLY": "Scorer, SystemCounts, ExceedanceCounts",
    r"(?<=[\w/])\bversus\.py|import versus|versus\.\w+\(": "baseline",
    r"systems of others": "published systems",
    r"(keeps?|kept|keeping) (its|their) (level|word)": "reliable; type I error rate, false-positive rate",
    r"levels? of (a|the) tests?": "type I error rate, false-positive rate",
    rf"(one|once|two|rows?|bytes|ids?|words|points|string|page|lines?|each) an? {_NOUN}": "one per …",
    r"out of the reach|in the reach": "there is no exact test for …",
}
"""A pattern of a word that only this project used, and the field's term for it (`docs/glossary.md`)."""

EXCEPTIONS: dict[str, dict[str, str]] = {
    "config/families.tsv": {"law": "a subject of MMLU-Pro"},
    "docs/next-test-set.md": {"law": "a subject of MMLU-Pro"},
    "src/pairsig/planning/family_heterogeneity.tsv": {"law": "a subject of MMLU-Pro"},
    "tests/mutation.py": {"floor": "a function of numpy and math"},
    "tests/study/test_outcomes.py": {"law": "a subject of MMLU-Pro"},
}
"""By file, what it may contain (as the pattern matches it), and why."""

NOT_READ = {
    "tests/docs/test_language.py": "it has the patterns",
    "tests/mutation_equivalents.tsv": "lines of code as they were",
    "config/systems.tsv": "names of systems are other people's",
    "config/published.tsv": "quotations from the papers",
}
FOLDERS_NOT_READ = (
    "tests/data/", "resources/", "results/reference/", "docs/made/", "docs/_build/", "config/example/",
)  # fmt: skip
"""Other people's files, results of a run, and pages that are generated from what is read."""
SUFFIXES = {".py", ".smk", ".md", ".html", ".js", ".rst", ".yaml", ".yml", ".toml", ".css", ".jinja", ".tsv"}
FOLDERS = ("config", "docs", "recipe", "results", "src", "tests", "workflow", ".github")


def files() -> list[Path]:
    """Text files that people write: those of the listed folders, and of the root."""
    found = [path for path in ROOT.iterdir() if path.is_file()]
    found += [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    names = {str(path.relative_to(ROOT)): path for path in found if path.suffix in SUFFIXES or path.suffix == ""}
    made = re.compile(r"(^|/)(__pycache__|\.\w+)/|^\.|^results/(?!README\.md)")
    return [
        path
        for name, path in sorted(names.items())
        if name not in NOT_READ and not name.startswith(FOLDERS_NOT_READ) and not made.search(name)
    ]


@cache
def patterns() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(rf"(?<![A-Za-z0-9])(?:{term})(?![A-Za-z0-9])"), better) for term, better in REPLACED.items()]


def replaced(text: str, allowed: frozenset[str] = frozenset()) -> list[str]:
    """Lines with a replaced term, and what to write instead."""
    return [
        f"line {number}: {found[0]!r} → {better}: {line.strip()[:100]}"
        for number, line in enumerate(text.splitlines(), 1)
        for pattern, better in patterns()
        for found in pattern.finditer(line)
        if found[0] not in allowed
    ]


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_replaced_term(path):
    allowed = frozenset(EXCEPTIONS.get(str(path.relative_to(ROOT)), ()))
    found = replaced(path.read_text(encoding="utf-8"), allowed)
    assert not found, "\n".join(found)


def test_every_exception_is_needed():
    for name, terms in EXCEPTIONS.items():
        found = {match[0] for pattern, _ in patterns() for match in pattern.finditer((ROOT / name).read_text("utf-8"))}
        assert set(terms) <= found, f"{name} does not contain {sorted(set(terms) - found)}"
        assert all(terms.values()), f"{name}: an exception has no reason"


def test_replaced_terms_are_found():
    assert len(replaced("Systems are told apart.\nTheir likeness is a law.")) == 3
    assert replaced("the power law, np.floor(x), a held-out set, threshold") == []
    assert replaced("The word gt2 is quoted.", frozenset({"gt2"})) == []


# ---------------------------------------------------------------------------------------------------------- prose

_LEFT_OUT = re.compile(
    r"\A---\n[\s\S]*?^---\n"  # front matter
    r"|^ *(?P<fence>```+|~~~+)[\s\S]*?^ *(?P=fence) *$"  # code
    r"|^ {4,}(?![-*+] |\d+\. ).*$"  # indented code
    r"|<!--[\s\S]*?-->"
    r"|^ *[|>].*$"  # rows of tables, quoted formulas
    r"|^ *#+ .*$"  # headings
    r"|!\[[^\]]*\]\([^)]*\)",  # pictures
    re.MULTILINE,
)
_LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*\)")
_CODE = re.compile(r"(`+).+?\1", re.DOTALL)
_INTERVAL = re.compile(r"\[[^\]\d]*[−+-]?\d[^\]]*\]")
_ITEM = re.compile(r"^ *(?:[-*+]|\d+\.) +", re.MULTILINE)
_END = re.compile(
    r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!cf\.)(?<!vs\.)(?<!al\.)(?<!\bp\.)[*_)\"”]*\s+(?=[*_(\"“]*[^\Wa-z_])"
)
_WORD = re.compile(r"[^\W_](?:[\w.,'’/^×·–-]*\w)?")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,.]*[⁰¹²³⁴-⁹]*(?:–\d[\d,.]*)?(?![\w-])")
_YEAR = re.compile(r"(?<![\w.,])(?:19|20)\d\d(?:–\d+)?(?![\w%]|[.,]\d)")


@dataclass(frozen=True)
class Prose:
    """The sentences of a page, and how many words and numbers they have."""

    sentences: tuple[str, ...]
    words: int
    numbers: int

    @property
    def words_per_sentence(self) -> float:
        return self.words / max(len(self.sentences), 1)

    @property
    def numbers_per_12_words(self) -> float:
        return 12 * self.numbers / max(self.words, 1)


def prose(text: str) -> Prose:
    """The sentences of a page in Markdown: its paragraphs, and the items of its lists, each of which ends a sentence.

    Code, tables, headings, quoted formulas (`> p = …`), pictures and the addresses of links are not prose. Code within
    a sentence is one word. An interval in brackets belongs to the number before it. Years and words with a digit in
    them (WMT 2021, F1) are names, not numbers. A range (10–21) is one number.
    """
    text = _LINK.sub(r"\1", _CODE.sub(" Code ", _LEFT_OUT.sub("\n\n", text)))
    text = _YEAR.sub("year", _INTERVAL.sub("", text))
    blocks = re.split(r"\n\s*\n", _ITEM.sub("\n\n", text))
    parts = (part.strip() for block in blocks for part in _END.split(" ".join(block.split())))
    sentences = tuple(part for part in parts if _WORD.search(part))
    joined = "\n".join(sentences)
    return Prose(sentences, len(_WORD.findall(joined)), len(_NUMBER.findall(joined)))


PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")),
    ROOT / "results/README.md", ROOT / "config/README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if not {"made", "_build"} & set(path.parts)),
]  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_are_short_and_numbers_are_in_tables(page):
    found = prose(page.read_text(encoding="utf-8"))
    longest = "\n".join(sorted(found.sentences, key=len)[-5:])
    densest = "\n".join(sorted(found.sentences, key=lambda one: len(_NUMBER.findall(one)))[-5:])
    assert found.words_per_sentence <= MOST_WORDS, longest
    assert found.numbers_per_12_words <= MOST_NUMBERS, densest


def test_prose_is_counted():
    page = prose(
        "---\ntitle: x 1\n---\n# Title 1\n\nA p-value of 0.03 [0.01, 0.05] is\nsmall. So is 10–21 % (Koehn 2004).\n\n"
        "| 1 | 2 |\n\n> p = 3\n\n```bash\ncode 4\n```\n\n"
        "- [F1](https://a.b/5) and `x 6`\n- WMT 2024, i.e. e.g. the last\n"
    )
    assert page.sentences == (
        "A p-value of 0.03 is small.", "So is 10–21 % (Koehn year).", "F1 and Code", "WMT year, i.e. e.g. the last",
    )  # fmt: skip
    assert (page.words, page.numbers) == (6 + 5 + 3 + 6, 2)
    assert prose("").words_per_sentence == 0


# ------------------------------------------------------------------------------------------------------- glossary


def test_links_to_the_glossary_lead_to_its_terms():
    titles = re.findall(r"^## (.+)$", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert titles == sorted(titles, key=str.casefold)
    anchors = {re.sub(r"[^\w -]", "", title.casefold()).replace(" ", "-") for title in titles}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = re.findall(r"glossary\.md#([^)\s]+)", text)
        named += re.findall(r"\]\(#([^)\s]+)", text) if page.name == "glossary.md" else []
        assert set(named) <= anchors, page


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = prose(Path(name).read_text(encoding="utf-8"))
        print(
            f"{name}: {page.words_per_sentence:.1f} words per sentence, "
            f"{page.numbers_per_12_words:.2f} numbers per 12 words"
        )
        for sentence in sorted(page.sentences, key=len)[:-6:-1]:
            print(f"    {len(_WORD.findall(sentence))} words, {len(_NUMBER.findall(sentence))} numbers: {sentence}")
