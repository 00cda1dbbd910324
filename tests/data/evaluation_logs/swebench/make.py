"""Makes the reports of this folder with swebench (5.0.2), as `run_evaluation` does at its end: `python make.py`.

Forty instances of four repositories. What was run is written as the harness does, and `make_run_report` reads it.
"""

import json
import os
import random
import tempfile
from pathlib import Path

from swebench.harness.constants import LOG_REPORT, RUN_EVALUATION_LOG_DIR
from swebench.harness.reporting import make_run_report

HERE = Path(__file__).parent
INSTANCES = [{"instance_id": f"{repo}-{100 + i}"} for repo in ("ab__c", "d__e-f", "g__h", "i__j") for i in range(10)]


def main():
    os.chdir(tempfile.mkdtemp())
    for model, share, seed in (("lab/large-2.1", 0.6, 1), ("lab/small-2.1", 0.4, 2)):
        rng = random.Random(seed)
        predictions = {}
        for number, instance in enumerate(INSTANCES):
            name = instance["instance_id"]
            if number % 13 == seed:
                continue  # not submitted
            patch = "" if number % 11 == seed else "diff"
            predictions[name] = {"instance_id": name, "model_name_or_path": model, "model_patch": patch}
            if number % 17 != seed:  # else it could not be run
                folder = RUN_EVALUATION_LOG_DIR / "run_1" / model.replace("/", "__") / name
                folder.mkdir(parents=True)
                (folder / LOG_REPORT).write_text(json.dumps({name: {"resolved": rng.random() < share}}))
        make_run_report(predictions, INSTANCES, "run_1", report_dir=str(HERE))


if __name__ == "__main__":
    main()
