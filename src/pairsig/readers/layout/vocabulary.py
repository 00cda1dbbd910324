"""The names that columns have, by what such columns contain.

`KINDS` is the whole vocabulary. A name is compared by its `key`: in lower case, with `_` for blanks and without units.
To have another name recognized, add it to its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from pairsig.io.errors import named


@dataclass(frozen=True)
class Kind:
    """Names of columns with the same contents, the likeliest first; and a pattern of further names."""

    names: tuple[str, ...] = ()
    pattern: str = r"(?!)"


INDEX = ("index", "idx", "row", "")
PEOPLE = (
    "annotator", "rater", "judge", "worker", "coder", "assessor", "evaluator", "reviewer", "expert", "turker",
    "crowdworker",
)  # fmt: skip
PREDICTIONS = ("prediction", "pred", "predicted", "y_pred", "predicted_label", "output", "response")

_GAINS = (
    "acc", "accuracy", "exact_match", "f1", "precision", "recall", "bleu", "sacrebleu", "chrf", "comet", "xcomet",
    "cometkiwi", "bleurt", "bertscore", "meteor", "rouge", "rougel", "rougelsum", "rouge_1", "rouge_2", "rouge_l",
    "mrr", "ndcg", "mqm", "uas", "las", "auc", "mcc", "iou", "jga", "auroc", "cider", "spice", "spbleu", "gemba",
    "moverscore", "bartscore", "alignscore", "mlas", "blex", "clas", "smatch",
)  # fmt: skip
"""Metrics of which higher is better. Names of files may contain them and `_ERRORS`."""
_ERRORS = (
    "ter", "wer", "cer", "loss", "perplexity", "ppl", "nll", "mse", "mae", "rmse", "hter", "hallucinations", "mistakes",
    "metricx", "bpb", "bits_per_byte", "cross_entropy", "brier", "word_error_rate", "char_error_rate",
    "character_error_rate", "mer", "error_rate", "edit_distance", "levenshtein", "surprisal", "hallucination",
    "toxicity",
)  # fmt: skip
"""Metrics of which lower is better."""
_FAILURES = (
    "attack_success", "attack_success_rate", "harmful", "unsafe", "jailbroken", "hallucinated", "hallucination_rate",
    "n_mistakes", "log_loss", "logloss", "wil", "per", "der",
)  # fmt: skip
"""Further scores of which lower is better."""

KINDS = {
    "system": Kind((  # in any table
        "system", "model", "model_name", "system_name", "model_id",
    )),
    "maybe system": Kind((  # if items repeat, so that they differ by system
        "sys", "method", "name", "algo", "algorithm", "agent", "approach", "classifier", "parser", "engine", "llm",
        "assistant", "bot", "translator", "policy", "learner", "architecture", "arch", "variant", "checkpoint", "team",
        "submission", "run_name", "tool", "strategy", "condition", "configuration", "config", "setup", "experiment",
        "experiment_name", "modell", "modèle", "modele", "modelo", "modello", "system_id", "provider", "模型",
        "prompt_type", "prompt_name", "prompt_template", "prompting", "template", "setting", "mode", "treatment", "arm",
    )),
    "item": Kind((
        "segment", "id", "item", "item_id", "question_id", "sample_id", "segment_id", "doc_id", "example_id",
        "instance_id", "sentence_id", "prompt_id", "task_id", "problem_id", "seg_id", "qid", "sid", "uid",
        "item_number", "sample", "example", "instance", "question", "sentence", "prompt", "problem", "key", "query_id",
        "q_id", "query", "topic", "topic_id", "utt_id", "utterance_id", "utterance", "docid", "document_id", "pair_id",
        "turn_id", "passage_id", "case_id", "test_id", "image_id", "file_id", "user_id", "nodeid", "node_id",
        "test_name", "test_case", "case", "test", "file", "filename", "file_name", "image", "uuid", "guid", "_id",
        "pmid", "env", "environment", "env_id", "game", "task", "task_name", "dataset", "benchmark", "subject",
        "participant", "participant_id", "fold", "line", "line_number", "lineno", "nr", "no", "no.", "#", "number",
        "query_no", "item_no", "seg", "sent", "utt", "question_no", "example_idx", "example_index", "sample_nr",
        "question_number", "instanceid", "text_id", "segid", "clip", "clip_id", "audio", "audio_file", "wav",
        "testcase", "puzzle", "problem_number", "exercise", "treebank", "segmento", "frase", "satz", "phrase", "frage",
        "pregunta", "beispiel", "ejemplo", "exemple", "aufgabe", "tarea", "other_id", *INDEX,
    )),
    "run": Kind((
        "run", "seed", "epoch", "run_id", "trial", "repetition", "replicate", "random_seed", "rep", "iteration",
        "attempt", "sample_idx", "sample_index", "sample_number", "sample_no", "completion_id", "rollout",
        "replication", "repeat", "rng_seed", "seed_id", "run_idx", "run_index", "run_number",
    )),
    "score": Kind((
        "score", "correct", "ok", "value", "is_correct", "passed", "pass", "success", "result", "outcome", "acc_norm",
        "quasi_exact_match", "em", "chrf++", "rouge1", "rouge2", "map", "resolved", "solved", "win", "rating", "grade",
        "points", "reward", "return", "episode_return", "episode_reward", "hit", "hits", "fluency", "adequacy",
        "coherence", "relevance", "consistency", "faithfulness", "helpfulness", "dice", "status",
        *_GAINS, *_ERRORS, *_FAILURES,
        # further metrics
        "balanced_accuracy", "f_score", "fscore", "f_measure", "f_beta", "exact", "kappa", "r2", "spearman", "pearson",
        "kendall", "roc_auc", "pr_auc", "auprc", "average_precision", "ap", "rr", "recip_rank", "reciprocal_rank",
        "summac", "questeval", "bleu4", "bleu_4", "jaccard",
        # verdicts of judges and people
        "mark", "marks", "pct", "percent", "percentage", "accuracy_pct", "win_rate", "success_rate", "pass_rate",
        "answer_relevancy", "answer_relevance", "answer_correctness", "context_precision", "context_recall",
        "context_relevancy", "context_relevance", "contextual_precision", "contextual_recall", "contextual_relevancy",
        "groundedness", "correctness", "factuality", "completeness", "conciseness", "clarity", "naturalness",
        "informativeness", "readability", "grammaticality", "harmlessness", "honesty", "usefulness", "creativity",
        "da_score", "z_score", "zscore", "is_resolved", "is_success", "is_passed", "is_solved", "is_right",
        "total_reward", "total_return", "normalized_score", "quality",
    ), (
        r"(p|r|recall|precision|ndcg|ndcg_cut|map|map_cut|rr|mrr|hits?|success|pass|iprec_at_recall)(@|_|_at_)[\d.]+"
        r"|(\w+_)?simila\w+"
    )),
    "error": Kind((  # a score of which lower is better
        *_ERRORS, *_FAILURES,
        "rank", "errors", "error", "err", "n_errors", "num_errors", "penalty", "distance", "regret",
    )),
    "correctness": Kind(("correct", "is_correct", "acc", "accuracy", "exact_match", "em", "ok", "right", "match")),
    "gold": Kind(
        ("gold", "label", "target", "answer", "reference", "expected", "truth", "ground_truth", "gold_label", "y_true"),
        "(gold|true|correct|right|target|expected)_(label|answer|choice|option|class|index|idx|letter|value)",
    ),
    "prediction": Kind(PREDICTIONS),
    "output": Kind((  # a text that a system wrote
        *PREDICTIONS, "completion", "generation", "generated_text", "generated", "text", "code", "solution",
        "hypothesis", "hyp", "translation", "summary", "candidate", "model_output", "raw_output", "reply",
        "transcript", "message",
    )),
    "winner": Kind(pattern="(.+_)?(winner|preferred|preference|verdict|judge?ment|choice)"),
    "metric": Kind(("metric", "metric_name", "measure", "criterion", "aspect", "dimension")),
    "direction": Kind(("lower_is_better", "higher_is_better", "greater_is_better", "bigger_is_better")),
    "document": Kind(("document",)),
    "domain": Kind(("domain",)),
    "step": Kind(("step", "global_step", "_step")),
    "person": Kind(PEOPLE, r"(ann|rat|annot)[\W_]*\d"),  # who scores the same item of the same system
    "label of items": Kind((  # or of judges, but not of systems
        "document", "domain", "category", "language", "lang", "split", "genre", "type", "group", "section", "source",
        "user", "speaker", "topic", "class", "difficulty", "site", "country", "doc", "doc_name", "docname", "subject",
        "language_pair", "lang_pair", "langpair", "lp", "direction", "test_set", "testset", "dataset", "subset",
        "suite", "task", "corpus", "chapter", "book", "file", "env", "environment", "field", "discipline", *PEOPLE,
    )),
    "text of several items": Kind((  # in which numbers of items may begin anew
        "dialogue", "dialog", "conversation", "conv", "session", "thread", "story", "talk", "meeting", "interview",
        "video", "recording", "article", "essay", "paper", "paragraph", "passage", "chat", "debate", "doc", "document",
        "lecture", "podcast", "transcript", "play", "scene", "page",
    )),
    "beside": Kind(pattern=(  # a number that describes an item and is no score
        r"(?!no_|without_|w/o_|minus_|with_|plus_|only_|[+_])(.+_)?(length|len|tokens|words|chars|characters|difficulty|latency|duration|time|seconds|cost|weight|count"
        r"|conf|confidence|prob|probability|logprob|std|stderr|sd|se|sem|ci|min|max|date|lower|upper|votes|params"
        r"|parameters|diff|difference|delta|gain|improvement|change|level|size|dims?|dimensions?|bytes|lines|sentences"
        r"|age|price|usd|eur|timestamp|tstamp|dur|runtime|wall_?clock|rtf|ms|secs?|kb|mb|gb|rank|rang"
        r"|p_?value|ci_low|ci_high|tok|toks|n_?tok|rows|attempts|tries|retries|calls|depth|hops|turns|pages|wordcount)"
        r"|(is|has|was|contains|needs|requires)_.+|total|total_predictions|.+_annotations|n|year|n_rows"
        r"|(.+_)?(duration|dur|time|latency|elapsed|runtime)_(h|mins?|s|secs?|seconds|ms|us|ns)"
        r"|(num|n|length|len|max|min|count|nb|anzahl|laenge|länge)_.+|temperature|top_[pk]|created_at"
        r"|created|updated_at|version|batch_size|batch|lr|learning_rate|weight_decay|dropout|gpus?|ref_len|hyp_len"
        r"|anzahl|länge|laenge|dauer|zeit|longueur|durée|p|lat|lon|zip|hour|day|month|week|#.*|runtime|_runtime|_timestamp"
        r"|wörter|woerter|mots|palabras|zeichen|comments?|notes|remarks?|kommentare?|bemerkung(en)?|commentaires?"
    )),
    "summary": Kind((  # a row that summarizes the others
        "mean", "average", "avg", "macro avg", "total", "sum", "overall", "all", "std", "mittelwert", "durchschnitt",
        "summe", "moyenne", "promedio", "stdev", "sd", "median", "min", "max", "count", "media", "gesamt", "std dev",
        "standard deviation", "std.", "avg.", "macro average", "micro average", "macro-average", "micro-average",
        "macro", "micro", "grand total", "grand mean", "averages", "totals", "std. dev.", "ø", "µ", "μ", "σ",
        "mean score", "average score", "total score", "somme", "totale", "ecart type", "écart type", "aggregate",
    )),
}  # fmt: skip

_SUFFIXES = {"text of several items": "id|idx|index|name|nr|no|number|num", "person": r"id|name|\d+"}
"""What may follow a name of a kind."""
BESIDE_OR_SYSTEM = re.compile(r"(.+)_(diff|difference|delta|change|gain|level|size|min|max)")
"""Names "beside" that may also be those of systems, such as `t5-size`."""
_IDS = {*(name for kind in ("system", "maybe system", "item") for name in KINDS[kind].names), "run_id", "document_id"}
_SCORE = (
    r"(?:(?:mean|avg|average|abs|absolute|squared|sq|raw|human|judge|llm|segment|sentence|sent|eval|test|val|dev|valid|validation|macro|micro"
    r"|weighted|token|final|overall|metrics|scores|normalized|norm)[_./])*"
    r"(?P<name>.+?)(?:@\d+|_score|_macro|_micro|_weighted|_avg|_mean|_norm|_fmeasure|,none)*"
)
_UNIT = r"[(\[](%|m?s|sec|seconds|min|[\d.]+\s*[-–]\s*[\d.]+)[)\]]|[↑↓%]|[(\[][↑↓][)\]]"
_COST = r"(.+_)?(latency|duration|runtime|time|seconds|elapsed|cost|price)(_(h|min|s|secs?|seconds|ms|us|ns|usd|eur))?"
"""What systems take; lower is better."""
TIME = r"(.+?)\s*[(\[](h|min|m?s|secs?|seconds)[)\]]"
"""A system with a unit of time, as in the name of a column such as `gpt (sec)`."""
_METRICS = {*_GAINS, *_ERRORS, "sentbleu", "errors"}
"""Metrics that names of files and folders may have; not words such as "per", "map" or "rank"."""
_VARIANT = rf"({'|'.join(map(re.escape, sorted(_METRICS)))}|rouge)(_?\d\d+|\d)?(_(precision|recall|f1|f|p|r|fmeasure))?"
GENERIC = ("score", "scores", "value", "mean", "result", "number", "pct", "percent", "percentage")
"""Names of scores that do not say which metric they are."""
_SETTING = (
    r"(.+_)?(style|strategy|settings?|config|configuration|template|variant|mode|condition|method|n?_?shots?|decoding"
    r"|treatment|arm|setup|prompting|prompt_(type|name|format|version|variant)|retriever|quantization|precision)"
)
WEAK = (
    "grade", "rating", "mark", "marks", "points", "value", "result", "outcome", "status", "pct", "percent",
    "percentage",
)  # fmt: skip
"""Names of scores that may also describe an item."""
_SECTION = (
    r"^(params?|metrics?|tags|inputs?|outputs?|answer|feedback|data|config|summary|meta|metadata|scores?|results?)\."
)
_RUN = r"(?:seed|run|trial|rep|repetition|replicate|epoch|fold)[\W_]*\d+"
_RUNS_IN_NAMES = (
    rf"(?P<system>.*?)[\s_.\-/:([]*(?P<run>{_RUN})[)\]]?", r"(?P<system>.+?)[\s_.\-/:]+(?P<run>[sr]\d+)",
    rf"(?P<run>{_RUN})[\s_.\-/:]+(?P<system>.+)",
)  # fmt: skip
"""Columns with the scores of a run: `gcn_seed1`, `gcn (run 2)`, `gcn_s3`, `seed1.gcn`."""


@cache
def key(name: str) -> str:
    """The name of a column as `KINDS` has it; pandas calls an index that it reads `Unnamed: 0`."""
    found = re.sub(r"[\s\-]+", "_", re.sub(_UNIT, "", name).strip().lower())
    found = found.rstrip(".") or found
    if re.fullmatch(r"unnamed:_\d+(_level_\d+)?|__index_level_\d+__|_1|level_0", found):
        return ""
    part = re.sub(_SECTION, "", found)  # of MLflow, MTurk, LangSmith
    if part != found and any(part in kind.names for kind in KINDS.values()):
        return part
    is_id = re.search(r"[_\s](id|ID|Id)$|[a-z]I[dD]$|[A-Z]Id$|[_\s\-]([Nn]r|[Nn]o|[Nn]umber|[Nn]ummer)\.?$", name)
    return "other_id" if is_id and found not in _IDS else found


@cache
def is_a(kind: str, name: str) -> bool:
    """Whether a column of this name is of a kind, such as `BLEU`, `ndcg@10` and `judge_score` of scores."""
    own = KINDS[kind]
    if key(name) in own.names or re.fullmatch(own.pattern, key(name)):
        return True
    if kind in _SUFFIXES:
        return re.sub(rf"[\s_\-]*({_SUFFIXES[kind]})$", "", name.strip().lower()) in own.names
    if kind == "error" and "↓" in name:
        return True
    camel = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name) if kind == "beside" else name
    if camel != name and re.search(r"_(seconds|time|duration|length|count|cost|tokens)$", camel.lower()):
        return True
    if kind in ("beside", "summary") and (bare := re.sub(r"\s*\([^()]*\)$", "", name)) not in ("", name):
        return is_a(kind, bare)
    if kind == "score" and re.fullmatch(_VARIANT, key(name)):  # COMET-22, chrF2, rouge1_f1, bertscore_precision
        return True
    match = re.fullmatch(_SCORE, key(name)) if kind in ("score", "error") else None
    return match is not None and match["name"] in own.names


def of_kind(kind: str, among: Iterable[str]) -> list[str]:
    """The names that are listed for a kind, the likeliest first."""
    places = {name: place for place, name in enumerate(KINDS[kind].names)}
    return sorted((name for name in among if key(name) in places), key=lambda name: places[key(name)])


def is_system(name: str) -> bool:
    """Whether a column is called like one of systems."""
    return is_a("system", name) or is_a("maybe system", name)


@cache
def role(name: str) -> str:
    """What a column of this name contains: "system", "item", "run", "score", or "" if the name does not say."""
    if is_system(name):
        return "system"
    return next((kind for kind in ("item", "run", "score") if is_a(kind, name)), "")


def is_role(name: str) -> bool:
    """Whether a column of this name has a known role."""
    return bool(name) and bool(role(name))


def has_roles(names: Iterable[str]) -> bool:
    """Whether names are those of columns: of scores, and of systems or items."""
    roles = set(map(role, names))
    return "score" in roles and bool(roles & {"system", "item"})


def is_setting(name: str) -> bool:
    """Whether a column is called like a setting of systems, such as `prompt_style`."""
    return is_system(name) or re.fullmatch(_SETTING, key(name)) is not None


_LONGEST = 30
"""Maximum length of a label of a summary row."""


def is_summary(label: str) -> bool:
    """Whether a row of this label is one of means or sums, perhaps in bold letters of Markdown."""
    return len(label) < _LONGEST and label.lower().strip("*_`:. ") in KINDS["summary"].names


def is_index(name: str) -> bool:
    """Whether a column is called like the numbers of rows."""
    return key(name) in INDEX


def is_run(label: str) -> bool:
    """Whether this is the label of a run: a number, or `seed 1`."""
    return re.fullmatch(rf"\d+|{_RUN}|[sr]\d+", label.strip(), re.IGNORECASE) is not None


def are_numbered(names: Sequence[str]) -> bool:
    """Whether names differ in a number only, as those of items do (q1, q2, …)."""
    found = [re.fullmatch(r"(.*?)(\d+)", str(name)) for name in names]
    return len({match[1] if match else None for match in found}) == 1 and found[0] is not None


def is_cost(name: str) -> bool:
    """Whether a column has times or prices: `latency_ms`, `cost_usd`."""
    return re.fullmatch(_COST, key(name)) is not None


def is_error(name: str) -> bool:
    """Whether lower is better for all metrics in a name: `WER`, `per_utterance_wer`, `wer and cer`, `latency_ms`."""
    if is_a("error", name) or is_cost(name):
        return True
    return bool(found := metrics_in(name)) and all(is_a("error", own) for own in found)


def metric_in(name: str) -> str:
    """The only metric that a name contains as a word, such as `wer`; "" if there is none."""
    found = metrics_in(name)
    return found[0] if len(found) == 1 else ""


def metrics_in(name: str) -> list[str]:
    """The metrics that the name of a file, a folder or a column contains as words."""
    words = [word for word in re.split(r"[\W_]+", name.lower()) if word]
    found: list[str] = []
    place = 0
    while place < len(words):
        for length in (3, 2, 1):
            word = "_".join(words[place : place + length])
            if (word in _METRICS or re.sub(r"(?<=\D)@?\d+$", "", word) in _METRICS) and place + length <= len(words):
                found.append(word)
                place += length - 1
                break
        place += 1
    return list(dict.fromkeys(found))


def split_run(name: str, others: Iterable[str]) -> tuple[str, str]:
    """The system and the run in the name of a column beside others; the run is "" if there is none."""
    for pattern in _RUNS_IN_NAMES:
        if match := re.fullmatch(pattern, name.strip(), re.IGNORECASE):
            return match["system"].rstrip(" _.-/:(["), match["run"].lower()
    base, _, number = name.strip().rpartition(".")  # pandas calls the second of two columns `gpt` `gpt.1`
    if number.isdecimal() and base in others:
        return base, str(int(number) + 1)
    return name.strip(), ""


def split_score(name: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """The system and the score in a name such as `gpt_bleu`, and those in `bleu_gpt`; empty if there is none."""
    places = [(match.start(), match.end()) for match in re.finditer(r"[\s_.\-/:|]+", name)]

    def is_score(part: str) -> bool:
        return is_a("score", part) or is_a("error", part)

    after = ((name[:start], name[end:]) for start, end in places if start and is_score(name[end:]))
    before = ((name[end:], name[:start]) for start, end in reversed(places) if is_score(name[:start]))
    none = ("", "")
    return next(after, none), next((own for own in before if own[0]), none)


def with_metric(names: Iterable[str]) -> dict[str, str]:
    """The names that share a metric, with the systems in which they differ: `abs_err_svm`, `abs_err_bert`."""
    for place in (0, 1):
        found = {name: split_score(name)[place] for name in names if role(name) != "score"}
        found = {name: own for name, own in found.items() if own[0]}
        systems: dict[str, set[str]] = {}
        for system, metric in found.values():
            systems.setdefault(key(metric), set()).add(system)
        shared = {metric for metric, own in systems.items() if len(own) > 1}
        if shared:
            return {name: system for name, (system, metric) in found.items() if key(metric) in shared}
    return {}


def shown(name: str) -> str:
    """The name of a column in a message."""
    return named(name.strip()) or "(no name)"
