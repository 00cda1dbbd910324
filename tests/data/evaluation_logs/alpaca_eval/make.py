"""Makes annotations in AlpacaEval's format, and asks alpaca_eval (0.6.6) for their win rates: `python make.py`."""

import json
import random
from pathlib import Path

from alpaca_eval.metrics import get_winrate

HERE = Path(__file__).parent


def main():
    reported = {}
    for model, mean, seed in (("model-a", 1.6, 1), ("model-b", 1.4, 2)):
        rng = random.Random(seed)
        annotations = [
            {
                "dataset": ("first", "second")[i % 2],
                "instruction": f"Name the number {i}.",
                "output_1": str(i),
                "generator_1": "reference",
                "output_2": str(i),
                "generator_2": model,
                "annotator": "judge",
                "preference": 0 if i == 3 else 1.5 if i == 5 else round(min(2.0, max(1.0, rng.gauss(mean, 0.4))), 10),
            }
            for i in range(40)
        ]
        (HERE / model).mkdir(exist_ok=True)
        (HERE / model / "annotations.json").write_text(json.dumps(annotations, indent=1) + "\n")
        rates = get_winrate(annotations)
        reported[model] = {"win_rate": rates["win_rate"], "standard_error": rates["standard_error"]}
    (HERE / "reported.json").write_text(json.dumps(reported, indent=1) + "\n")


if __name__ == "__main__":
    main()
