"""Makes small files of scores with COMET (unbabel-comet 2.2.4) and reads them with mt-metrics-eval: `python make.py`.

Needs COMET's own code (pip install --no-deps unbabel-comet==2.2.4) with jsonargparse==3.13.1, numpy<2, scipy, sacrebleu
and tabulate, and google-research's mt_metrics_eval (commit 68a481a) on the path. The model is a table of scores: torch
and what else a model needs are stood in for. What both packages report is in `reported.json`.
"""

import contextlib
import io
import json
import os
import random
import sys
import tempfile
import types
from importlib.util import find_spec
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SYSTEMS = {"baseline": 0.74, "large": 0.79, "online": 0.76}
N = 30


class _Predictions(dict):
    """What COMET's models return: a dictionary with attributes."""

    __getattr__ = dict.__getitem__


class _Model:
    """Knows the score of every output."""

    def __init__(self, scores):
        self._scores = scores

    def eval(self):
        return self

    def requires_references(self):
        return True

    def set_embedding_cache(self):
        pass

    def predict(self, samples, **_):
        scores = [self._scores[sample["mt"]] for sample in samples]
        return _Predictions(scores=scores, system_score=sum(scores) / len(scores))


def _stand_ins(model):
    """Modules that COMET's commands import and a table of scores does not need."""

    def module(name, **content):
        made = sys.modules[name] = types.ModuleType(name)
        vars(made).update(content)
        return made

    tensor = type("Tensor", (), {})  # scipy asks for it
    module("torch", Tensor=tensor, set_float32_matmul_precision=lambda _: None)
    module("pytorch_lightning", seed_everything=np.random.seed)
    package = module("comet", download_model=lambda *_, **__: "", load_from_checkpoint=lambda *_, **__: model)
    package.__path__ = COMET
    module("comet.models")
    module("comet.models.utils", split_sequence_into_sublists=None)
    module("apache_beam")
    module("dacite")


COMET = list(find_spec("comet").submodule_search_locations)


def _run(command, *arguments):
    """What a command of COMET prints."""
    sys.argv = ["comet", *arguments]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        command()
    return printed.getvalue()


def comet(scores):
    """The files of comet-score, one a system, and of comet-compare; returns the systems' scores as they are printed."""
    _stand_ins(_Model({f"output {i} of {name}": score for name, own in scores.items() for i, score in enumerate(own)}))
    from comet.cli.compare import compare_command
    from comet.cli.score import score_command

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("src.txt").write_text("".join(f"source {i}\n" for i in range(N)))
        Path("ref.txt").write_text("".join(f"reference {i}\n" for i in range(N)))
        for name in scores:
            Path(f"{name}.txt").write_text("".join(f"output {i} of {name}\n" for i in range(N)))
        given = ["-s", "src.txt", "-r", "ref.txt", "--gpus", "0", "--quiet"]
        printed = {}
        for name in scores:
            told = _run(score_command, *given, "-t", f"{name}.txt", "--to_json", str(HERE / f"{name}.json"))
            printed[name] = float(told.split("\tscore: ")[-1].split()[0])
        files = [f"{name}.txt" for name in scores]
        _run(compare_command, *given, "-t", *files, "--to_json", str(HERE / "compared.json"))
        os.chdir(HERE)
    return printed


def mt_metrics_eval(scores):
    """A test set as the README of mt-metrics-eval describes it, and what its EvalSet makes of that."""
    from mt_metrics_eval import data, meta_info

    # People rate some of the segments; a metric that does not score all of them is refused.
    rated = {
        name: [None if i % 5 == 4 else round(-25 * (1 - x)) for i, x in enumerate(own)] for name, own in scores.items()
    }
    lines, ratings = (
        "".join(f"{name}\t{score}\n" for name, own in given.items() for score in own) for given in (scores, rated)
    )
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "made"
        written = {
            "metric-scores/en-de/XCOMET-refA.seg.score": lines,
            "human-scores/en-de.mqm.seg.score": ratings,
            "documents/en-de.docs": "".join(f"{'news' if i < 15 else 'social'} d{i // 2}\n" for i in range(N)),
        }
        text = "".join(f"text {i}\n" for i in range(N))
        needed = {"sources/en-de.txt": text, "references/en-de.refA.txt": text}
        needed |= {f"system-outputs/en-de/{name}.txt": text for name in scores}
        for name, content in (written | needed).items():
            for top in (root, HERE) if name in written else (root,):
                (top / name).parent.mkdir(parents=True, exist_ok=True)
                (top / name).write_text(content)
        evs = data.EvalSet(
            "made", "en-de", True, info=meta_info.MetaInfo("refA", {}, set(), set()), path=folder, strict=True
        )
        return {
            "XCOMET-refA": dict(evs.Scores("seg", "XCOMET-refA")),
            "mqm": dict(evs.Scores("seg", "mqm")),
            "documents": evs.DocsPerSeg(),
            "domains": evs.DomainsPerSeg(),
        }


def main():
    rng = random.Random(1)
    hard = [rng.gauss(0, 0.1) for _ in range(N)]
    scores = {
        name: [round(min(1.0, mean + part + rng.gauss(0, 0.05)), 4) for part in hard] for name, mean in SYSTEMS.items()
    }
    reported = {"comet": comet(scores)}
    reported["mt_metrics_eval"] = mt_metrics_eval(scores)
    (HERE / "reported.json").write_text(json.dumps(reported, indent=1) + "\n")


if __name__ == "__main__":
    main()
