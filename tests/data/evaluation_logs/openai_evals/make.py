"""Makes logs with the recorder of evals (3.0.1): `OPENAI_API_KEY=none python make.py`."""

import random
from pathlib import Path

from evals.base import RunSpec
from evals.metrics import get_accuracy
from evals.record import LocalRecorder

HERE = Path(__file__).parent


def main():
    for model, share, seed in (("model-a", 0.7, 1), ("model-b", 0.5, 2)):
        rng = random.Random(seed)
        spec = RunSpec(
            completion_fns=[model], eval_name="sums.dev.v0", base_eval="sums", split="dev",
            run_config={"seed": seed}, created_by="",
        )  # fmt: skip
        recorder = LocalRecorder(str(HERE / f"{model}.jsonl"), spec)
        for i in rng.sample(range(40), 40):  # samples are answered by several threads, in any order
            with recorder.as_default_recorder(f"sums.dev.{i}"):
                right = rng.random() < share
                recorder.record_sampling(f"{i} + {i} =", [str(2 * i) if right else "?"])
                recorder.record_match(right, expected=str(2 * i), picked=str(2 * i) if right else "?")
        recorder.record_final_report({"accuracy": get_accuracy(recorder.get_events("match"))})
        recorder.flush_events()


if __name__ == "__main__":
    main()
