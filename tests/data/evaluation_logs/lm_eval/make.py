"""Makes the logs of this folder with lm_eval (0.4.13) and its dummy model, offline: `python make.py`.

A group of two multiple-choice tasks, a task of generation with two filters and two answers each, and a perplexity:
no mean over documents. The dummy model draws its likelihoods, always answers "lol", and has another name each time.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CHOICE = """\
task: sums_{name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {name}.jsonl}}}}
output_type: multiple_choice
test_split: test
doc_to_text: "{{{{question}}}}"
doc_to_choice: choices
doc_to_target: label
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: acc_norm, aggregation: mean, higher_is_better: true}}
"""
GENERATION = """\
task: sums_answered
dataset_path: json
dataset_kwargs: {data_files: {test: small.jsonl}}
output_type: generate_until
test_split: test
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
repeats: 2
generation_kwargs: {until: ["\\n"], do_sample: true, temperature: 0.7}
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true}
filter_list:
  - {name: first, filter: [{function: take_first}]}
  - {name: digits, filter: [{function: regex, regex_pattern: "([0-9]+)"}, {function: take_first}]}
"""
PERPLEXITY = """\
task: sums_read
dataset_path: json
dataset_kwargs: {data_files: {test: small.jsonl}}
output_type: loglikelihood_rolling
test_split: test
doc_to_text: ""
doc_to_target: "{{question}}"
metric_list:
  - {metric: word_perplexity, aggregation: weighted_perplexity, higher_is_better: false}
"""
GROUP = """\
group: sums
task: [sums_small, sums_large]
aggregate_metric_list:
  - {metric: acc, weight_by_size: true}
"""


def documents(first, n):
    for i in range(n):
        a, b = first + i, 3 * i + 2
        yield {
            "id": f"q{first + i:03d}",
            "meta": {"passage": f"p{i // 3}"},
            "question": f"{a} + {b} =",
            "choices": [str(a + b), str(a + b + 1), str(abs(a - b))],
            "label": 0,
            "answer": "lol" if i % 4 == 0 else str(a + b),
        }


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tasks = folder / "tasks"  # a relative path: it comes into the logs
        tasks.mkdir()
        for part, rows in (("small", documents(3, 12)), ("large", documents(100, 18))):
            (folder / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
            (tasks / f"sums_{part}.yaml").write_text(CHOICE.format(name=part))
        (tasks / "sums_answered.yaml").write_text(GENERATION)
        (tasks / "sums_read.yaml").write_text(PERPLEXITY)
        (tasks / "sums.yaml").write_text(GROUP)
        for seed, out in ((1, "a"), (2, "b")):
            shutil.rmtree(HERE / out, ignore_errors=True)
            command = [
                Path(sys.executable).with_name("lm_eval"), "run", "--model", "dummy", "--include_path", "tasks",
                "--tasks", "sums,sums_answered,sums_read", "--output_path", HERE / out, "--log_samples",
                "--seed", str(seed),
            ]  # fmt: skip
            subprocess.run(command, cwd=folder, check=True, env=os.environ | {"HF_HUB_OFFLINE": "1"})


if __name__ == "__main__":
    main()
