"""Makes small files of scores in the formats of COMET and of mt-metrics-eval: `python make.py`."""

import json
import random
from pathlib import Path

HERE = Path(__file__).parent


def main():
    rng = random.Random(1)
    hard = [rng.gauss(0, 0.1) for _ in range(30)]
    systems = {
        name: [round(min(1.0, mean + part + rng.gauss(0, 0.05)), 4) for part in hard]
        for name, mean in (("baseline", 0.74), ("large", 0.79), ("online", 0.76))
    }
    segments = [{"src": f"source {i}", "mt": f"output {i}", "ref": f"reference {i}"} for i in range(30)]
    for name, scores in systems.items():
        document = {
            f"{name}.txt": [segment | {"COMET": score} for segment, score in zip(segments, scores, strict=True)]
        }
        (HERE / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    lines = "".join(f"{name}\t{score}\n" for name, scores in systems.items() for score in scores)
    (HERE / "metric-scores/en-de").mkdir(parents=True, exist_ok=True)
    (HERE / "metric-scores/en-de/XCOMET-refA.seg.score").write_text(lines)
    (HERE / "documents").mkdir(exist_ok=True)
    (HERE / "documents/en-de.docs").write_text(
        "".join(f"{'news' if i < 15 else 'social'} d{i // 2}\n" for i in range(30))
    )


if __name__ == "__main__":
    main()
