"""Makes the logs of this folder with inspect_ai (0.3.285) and its mock model, offline: `python make.py`.

Twelve questions in four passages, four epochs. `strong` and `weak` are scored on all; `failing` ends with an error on
two samples and is stopped by a limit on one. Beside each log stands what Inspect reports of it, in `reported.json`.
"""

import gzip
import json
import random
import sys
from pathlib import Path

import tiktoken


class _Words:
    """inspect_ai counts tokens with an encoding that it would download."""

    def encode(self, text, **_):
        return text.split()

    encode_ordinary = encode


tiktoken.get_encoding = lambda _: _Words()
tiktoken.encoding_for_model = lambda _: _Words()

from inspect_ai import Task, eval, task  # noqa: A004, E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.log import read_eval_log, write_eval_log  # noqa: E402
from inspect_ai.model import ModelOutput, get_model  # noqa: E402
from inspect_ai.scorer import Score, accuracy, mean, scorer, stderr  # noqa: E402
from inspect_ai.solver import generate, solver  # noqa: E402
from inspect_ai.util import LimitExceededError  # noqa: E402

HERE = Path(__file__).parent


@scorer(metrics=[accuracy(), stderr(), stderr(cluster="passage")])
def exact():
    """C or I."""

    async def score(state, target):
        return Score(value="C" if state.output.completion == target.text else "I")

    return score


@scorer(metrics=[mean(), stderr(), stderr(cluster="passage")])
def brevity():
    """A score that is a number."""

    async def score(state, target):
        return Score(value=1 / len(state.output.completion))

    return score


@scorer(metrics={"*": [mean(), stderr()]})
def parts():
    """Scores that are dictionaries."""

    async def score(state, target):
        right = state.output.completion == target.text
        return Score(value={"form": state.output.completion.isdigit(), "content": "C" if right else "I"})

    return score


@solver
def failing():
    """Ends two samples with an error, and one by a limit."""

    async def solve(state, generate):
        if (state.sample_id, state.epoch) in (("q03", 2), ("q07", 1)):
            raise RuntimeError("the endpoint did not answer")
        if (state.sample_id, state.epoch) == ("q05", 1):
            await generate(state)
            raise LimitExceededError("message", value=2, limit=1)
        return await generate(state)

    return solve


@task
def sums(fails: bool = False):
    """Sums of two numbers; three questions make a passage."""
    questions = [
        Sample(
            id=f"q{i:02d}",
            input=f"{i + 3} + {7 * i + 2} =",
            target=str(8 * i + 5),
            metadata={"passage": f"p{i // 3}", "about": {"size": "small" if i < 4 else "large"}},
        )
        for i in range(12)
    ]
    return Task(
        dataset=MemoryDataset(questions),
        solver=failing() if fails else generate(),
        scorer=[exact(), brevity(), parts()],
        fail_on_error=False,
    )


def answers(name, share, seed):
    """The mock model knows a share of the answers, each time anew."""
    rng = random.Random(seed)

    def answer(messages, *_):
        a, b = messages[-1].text.removesuffix(" =").split(" + ")
        right = rng.random() < share
        return ModelOutput.from_content(name, str(int(a) + int(b)) if right else "no idea")

    return answer


def without_tracebacks(path):
    """Write a log again without the paths of this machine, which a traceback has."""
    log = read_eval_log(str(path))
    for sample in log.samples:
        if sample.error:
            sample.error = sample.error.model_copy(update={"traceback": "", "traceback_ansi": ""})
            sample.events = [event for event in sample.events if event.event != "error"]
    write_eval_log(log, str(path))


def main():
    reported = {}
    for name, share, seed, fails, formats in (
        ("strong", 0.8, 1, False, ("eval",)),
        ("weak", 0.5, 2, False, ("eval", "json")),
        ("failing", 0.7, 3, True, ("eval",)),
    ):
        for suffix in formats:
            model = get_model(f"mockllm/{name}", custom_outputs=answers(name, share, seed), memoize=False)
            (log,) = eval(
                sums(fails), model=model, epochs=4, log_dir=str(HERE), log_format=suffix, display="none",
                max_connections=1, max_samples=1,
            )  # fmt: skip
            path = HERE / f"{name}.{suffix}"
            Path(log.location.removeprefix("file://")).rename(path)
            if fails:
                without_tracebacks(path)
            if suffix == "json":
                with gzip.GzipFile(f"{path}.gz", "wb", mtime=0) as packed:
                    packed.write(path.read_bytes())
                path.unlink()
            reported[f"{name}.{suffix}"] = {
                score.name: {key: value.value for key, value in score.metrics.items()} for score in log.results.scores
            }
    (HERE / "reported.json").write_text(json.dumps(reported, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
