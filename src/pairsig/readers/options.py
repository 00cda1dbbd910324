"""Which option says something about which input: one table for the command line, Python and the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pairsig.io.choices import near
from pairsig.io.errors import InputError, listed


@dataclass(frozen=True)
class Option:
    """An option that says how an input is read.

    Attributes
    ----------
    of
        Inputs for which it does something: kinds (`tables`, `scores`, `outputs`, `counts`, `logs`, `arrays`), readers,
        and metrics of outputs or their families.
    about
        One line for the help.
    value
        What follows it; "" for an option without a value.
    rare
        Whether `pairsig metrics` describes it instead of the help of each command.
    """

    of: tuple[str, ...]
    about: str
    value: str = ""
    rare: bool = True


_TABLES = ("tables",)
_TEXTS = ("bleu", "chrf", "chrf++", "wer", "cer", "rouge")
_ATTACHMENT = ("uas", "las")
_ANY = ("tables", "scores", "outputs", "counts", "logs")

OPTIONS: Mapping[str, Option] = {
    # In the help of each command.
    "metric": Option((*_ANY, "arrays"), "metric of counts or outputs; which score of logs", "M[,M]", rare=False),
    "reference": Option(("outputs",), "reference files, for outputs", "FILE …", rare=False),
    "reader": Option(_ANY, "format, if the files do not show it", "NAME", rare=False),
    "item": Option((*_TABLES, "text"), "column with the item, or several that identify it", "COL[,COL]", rare=False),
    "system": Option(_TABLES, "column with the system", "COL", rare=False),
    "systems": Option((*_TABLES, "swebench", "comet", "mt_metrics_eval"),
                       "a column per system: scores, or answers for --gold", "COL,COL", rare=False),
    "run": Option(_TABLES, "column with the run: a training, crossed with the items", "COL", rare=False),
    "sample": Option(_TABLES,
                      "column with the sample, rater, turn or order: averaged per item", "COL", rare=False),
    "score": Option((*_TABLES, "arrays"), "columns with scores, or A/B for a ratio of sums", "COL[,COL]", rare=False),
    "gold": Option(_TABLES, "column with the right answer; needs --systems or --prediction", "COL", rare=False),
    "winner": Option(_TABLES, "columns with verdicts on pairs of systems", "COL[,COL]", rare=False),
    "document": Option((*_TABLES, "inspect", "lm_eval", "arrays"),
                        "column with the document", "COL", rare=False),
    "missing": Option((*_TABLES, "scores", "logs", "arrays"),
                       "items without a score: wrong (0) or drop", "wrong|drop", rare=False),
    "lower_is_better": Option((*_TABLES, "scores", "arrays", "logs"), "the scores are errors or costs", rare=False),
    # Of tables.
    "higher_is_better": Option((*_TABLES, "scores", "arrays", "logs"), 'the default, without "(assumed)"'),
    "prediction": Option(_TABLES, "column with the answer of the system, for --gold", "COL"),
    "domain": Option((*_TABLES, "inspect", "lm_eval", "arrays"), "column with the domain", "COL"),
    "macro": Option(_TABLES, "column with groups: the mean of their scores is compared", "COL"),
    "system_a": Option(_TABLES, "column with the first system of a verdict", "COL"),
    "system_b": Option(_TABLES, "column with the second system of a verdict", "COL"),
    "tie": Option(_TABLES, "words of --winner for a tie; default: tie, draw, both", "WORD[,WORD]"),
    "true": Option(_TABLES, "words that count as 1; all others count as 0", "WORD[,WORD]"),
    "missing_value": Option((*_TABLES, "scores"), "values that stand for a missing score, such as -1", "V[,V]"),
    "sep": Option(_TABLES, "separator of columns, such as ; or tab", "CHAR"),
    "decimal": Option((*_TABLES, "scores"), "decimal comma: --decimal ,", "CHAR"),
    # Of outputs, with --reference.
    "column": Option(("text",), "column or field with the texts, in tables and JSON Lines", "COL"),
    "skip_lines": Option(("text",), "lines at the top that are no segments", "N"),
    "document_file": Option(("outputs", "scores", "counts"),
                             "file of DOMAIN<TAB>DOCUMENT lines, one per segment", "FILE"),
    "tokenize": Option(("bleu",), "tokenizer of sacrebleu: 13a, intl, char, zh, ja-mecab, none, …", "NAME"),
    "lowercase": Option(_TEXTS, "ignore case (ROUGE does; --no-lowercase)"),
    "normalized": Option(("ter",), "tokenize punctuation"),
    "no_punct": Option(("ter",), "remove punctuation"),
    "asian_support": Option(("ter",), "apply both to Asian characters"),
    "case_sensitive": Option(("ter",), "distinguish case"),
    "stem": Option(("rouge",), "Porter stemmer"),
    "strip_punctuation": Option(("rouge",), "remove punctuation before counting (--no-strip-punctuation)"),
    "parameters": Option(("parseval",), "parameter file of evalb, such as COLLINS.prm", "FILE"),
    "skip_failed": Option(("parseval",), "leave failed parses out, as evalb does"),
    "punctuation": Option(_ATTACHMENT, "count punctuation"),
    "deprel_subtypes": Option(_ATTACHMENT, "compare labels with their subtypes"),
    "scheme": Option(("entity",), "lenient (conlleval), or a strict scheme such as IOB2", "NAME"),
    "type": Option(("entity",), "count only entities of this type", "NAME"),
    "one_per_line": Option(("trees",), "every line is one tree, as in evalb"),
    "reverse": Option(("alignment",), "swap the two positions of every link"),
    "n_segments": Option(("alignment",), "number of sentence pairs", "N"),
    # Of logs.
    "task": Option(("inspect", "lm_eval"), "tasks to read", "NAME[,NAME]"),
    "scorer": Option(("inspect",), "scorers to read", "NAME[,NAME]"),
    "stat": Option(("helm",), "statistics to read; default: those of HELM's leaderboards", "NAME[,NAME]"),
    "instances": Option(("swebench",), "file with the ids of the test set", "FILE"),
    "any_content": Option(("inspect", "lm_eval", "helm"), "do not check that items with one id have the same content"),
}  # fmt: skip
"""Every option that says how an input is read, by its name in Python; on the command line, `_` is `-`."""


def shown(value: Any) -> str:
    """The value of an option in a signature, in which `|` separates the settings."""
    words = {True: "yes", False: "no"}
    return words[value] if isinstance(value, bool) else str(value).replace("|", "/").replace("\n", " ")


def of_metric(name: str) -> set[str]:
    """The words of `Option.of` for a metric of outputs: its name, and the beginning of those of its family."""
    return {name, *(family for family in ("rouge", "parseval", "entity") if name.startswith(family))}


def flag(name: str) -> str:
    """An option as the command line spells it."""
    return f"--{name.replace('_', '-')}"


def check(declared: Iterable[str], inputs: Iterable[str], what: str) -> None:
    """Refuse an option that does nothing for an input; `inputs` are its kind, its reader and its metrics."""
    known = set(inputs)
    for name in declared:
        if name not in OPTIONS:
            raise InputError(
                f"unknown option {flag(name)}{near(name, OPTIONS)}\n"
                "`pairsig metrics` lists the options of metrics and formats"
            )
        if not known & set(OPTIONS[name].of):
            raise InputError(
                f"{what}: found {flag(name)}, which does nothing here: it is for {listed(OPTIONS[name].of)}\n"
                "leave it out, or choose another --reader or --metric"
            )


def typed(name: str, value: Any) -> Any:
    """The value of an option; text from the command line becomes a number where the option is one."""
    option = OPTIONS.get(name)
    if option is None:  # of a metric of the user's
        return value
    if not option.value:
        if value not in (True, False, "true", "false"):
            raise InputError(
                f"found {flag(name)} {value}, expected no value (--no-{name.replace('_', '-')} switches it off)"
            )
        return value in (True, "true")
    if option.value == "N" and not isinstance(value, int):
        text = str(value)
        if not text.removeprefix("-").isdecimal() or not text.isascii() or len(text) > 18:
            raise InputError(f"found {flag(name)} {value}, expected a whole number")
        return int(text)
    return value


def listing() -> str:
    """The rare options, with the inputs that they are for: the end of `pairsig metrics`."""
    rare = {
        flag(name) + f" {option.value}" * bool(option.value): option for name, option in OPTIONS.items() if option.rare
    }
    size = max(map(len, rare))
    return "\n".join(f"  {name:{size}}  {option.about} ({', '.join(option.of)})" for name, option in rare.items())
