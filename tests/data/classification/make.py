"""Makes sklearn.json with scikit-learn (1.9.1): labels drawn at random, and the scores that it computes.

`python make.py` writes {gold, predicted, scores}; `f1 x` is the F1 of class x, and `micro_f1 x,y` that of two classes.
"""

import json
import random
import warnings
from pathlib import Path

from sklearn.metrics import balanced_accuracy_score, f1_score, matthews_corrcoef, precision_score, recall_score

warnings.simplefilter("ignore")


def main():
    rng = random.Random(41)
    cases = []
    for _ in range(40):
        classes = "wxyz"[: rng.randint(2, 4)]
        weights = [rng.random() ** 2 for _ in classes]
        gold = rng.choices(classes, weights, k=rng.randint(2, 30))
        predicted = [one if rng.random() < 0.6 else rng.choice(classes) for one in gold]
        scores = {
            "macro_f1": f1_score(gold, predicted, average="macro"),
            "micro_f1": f1_score(gold, predicted, average="micro"),
            "balanced_accuracy": balanced_accuracy_score(gold, predicted),
            "mcc": matthews_corrcoef(gold, predicted),
        }
        if {"w", "x"} <= {*gold, *predicted}:
            scores |= {
                "f1 x": f1_score(gold, predicted, labels=["x"], average="micro"),
                "precision x": precision_score(gold, predicted, labels=["x"], average="micro"),
                "recall x": recall_score(gold, predicted, labels=["x"], average="micro"),
                "micro_f1 w,x": f1_score(gold, predicted, labels=["w", "x"], average="micro"),
                "macro_f1 w,x": f1_score(gold, predicted, labels=["w", "x"], average="macro"),
            }
        cases.append({"gold": "".join(gold), "predicted": "".join(predicted), "scores": scores})
    lines = ",\n".join(json.dumps(case) for case in cases)
    Path(__file__).with_name("sklearn.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
