"""The language of the project: replaced terms do not come back, and links to the glossary lead to its terms."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

_NOUN = (
    "(system|segment|row|run|pair|question|item|line|dataset|document|metric|page|test|thread|gain|unit|model|method|"
    "file|size|batch|name|column|resample|word)"
)
REPLACED = {
    r"(?:un)?likeness(?:es)?": "correlation; 1 − correlation",
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
FOLDERS_NOT_READ = ("tests/data/", "docs/made/", "docs/_build/", "config/example/")
"""Other people's files, and pages that are generated from what is read."""
SUFFIXES = {".py", ".smk", ".md", ".html", ".js", ".rst", ".yaml", ".yml", ".toml", ".css", ".jinja", ".tsv"}
FOLDERS = ("config", "docs", "recipe", "src", "tests", "workflow", ".github")


def files() -> list[Path]:
    """Text files that people write: those of the listed folders, and of the root."""
    paths = [path for path in ROOT.iterdir() if path.is_file()] + [ROOT / "results/README.md"]
    paths += [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    names = {str(path.relative_to(ROOT)): path for path in paths if path.suffix in SUFFIXES or path.suffix == ""}
    made = re.compile(r"(^|/)(__pycache__|\.\w+)/|^\.")
    return [
        path
        for name, path in sorted(names.items())
        if name not in NOT_READ and not name.startswith(FOLDERS_NOT_READ) and not made.search(name)
    ]


ANY = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(f'(?:{term})' for term in REPLACED)})(?![A-Za-z0-9])")


def replaced(text: str) -> set[str]:
    return {match[0] for match in ANY.finditer(text)}


def test_no_replaced_term():
    """`REPLACED` says what to write instead. All that is found is an exception, and all exceptions are found."""
    found = {str(path.relative_to(ROOT)): replaced(path.read_text(encoding="utf-8")) for path in files()}
    assert {name: terms for name, terms in found.items() if terms != EXCEPTIONS.get(name, {}).keys()} == {}


def test_replaced_terms_are_found():
    assert replaced("Systems are told apart.\nTheir likeness is a law.") == {"told", "likeness", "law"}
    assert replaced("the power law, np.floor(x), a held-out set, threshold") == set()


PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")),
    ROOT / "results/README.md", ROOT / "config/README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if not {"made", "_build"} & set(path.parts)),
]  # fmt: skip


def test_links_to_the_glossary_lead_to_its_terms():
    titles = re.findall(r"^## (.+)$", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert titles == sorted(titles, key=str.casefold)
    anchors = {re.sub(r"[^\w -]", "", title.casefold()).replace(" ", "-") for title in titles}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = re.findall(r"glossary\.md#([^)\s]+)", text)
        named += re.findall(r"\]\(#([^)\s]+)", text) if page.name == "glossary.md" else []
        assert set(named) <= anchors, page
