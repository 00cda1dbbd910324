"""The recipes for harnesses: what the page prints, and the same p-values by brute force."""

import itertools
import json

import numpy as np
import pytest

from running import ROOT

PAGE = ROOT / "docs/in-a-harness.md"
LOGS = ROOT / "tests/data/evaluation_logs"


def solved(name):
    problems = json.loads((LOGS / f"evalplus/{name}_eval_results.json").read_text())["eval"]
    return [solutions[0]["plus_status"] == "pass" for solutions in problems.values()]


def rated(name):
    cases = json.loads((LOGS / f"deepeval/{name}.json").read_text())["testCases"]
    return [case["metricsData"][0]["score"] for case in cases]


@pytest.mark.parametrize(("scores", "printed"), [(solved, "0.21875"), (rated, "p = 0.0415")])
def test_the_printed_p_is_that_of_all_swaps(scores, printed):
    differences = np.subtract(*(np.array(scores(name), dtype=float) for name in ("strong", "weak")))
    totals = np.array(list(itertools.product([1, -1], repeat=len(differences)))) @ differences
    p = np.mean(np.abs(totals) >= abs(differences.sum()) - 1e-9)
    assert printed.removeprefix("p = ") == f"{p:.3g}" or float(printed) == p
    assert printed in PAGE.read_text(encoding="utf-8")
