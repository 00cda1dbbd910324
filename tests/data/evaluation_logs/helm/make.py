"""Makes the folders of runs here with crfm-helm (0.5.16): `python make.py`.

Two scenarios, two trials of training examples each, every second instance perturbed as well. HELM's own `Metric` puts
the statistics together, and what it writes is written as its runner writes it.
"""

import json
import random
from pathlib import Path

from helm.benchmark.adaptation.adapter_spec import AdapterSpec
from helm.benchmark.adaptation.request_state import RequestState
from helm.benchmark.adaptation.scenario_state import ScenarioState
from helm.benchmark.augmentations.perturbation_description import PerturbationDescription
from helm.benchmark.metrics.metric import Metric
from helm.benchmark.metrics.metric_name import MetricName
from helm.benchmark.metrics.statistic import Stat
from helm.benchmark.run_spec import RunSpec
from helm.benchmark.runner import remove_per_instance_stats_nans, remove_stats_nans
from helm.benchmark.scenarios.scenario import Input, Instance, ScenarioSpec
from helm.common.general import asdict_without_nones
from helm.common.request import Request

HERE = Path(__file__).parent


class Drawn(Metric):
    """Right with a probability."""

    def __init__(self, share, seed):
        self.share, self.rng = share, random.Random(seed)

    def evaluate_generation(self, adapter_spec, request_state, metric_service, eval_cache_path):
        right = self.rng.random() < self.share
        return [
            Stat(MetricName("exact_match")).add(right),
            Stat(MetricName("quasi_exact_match")).add(right or self.rng.random() < 0.1),
            Stat(MetricName("num_prompt_tokens")).add(self.rng.randint(5, 9)),
        ]


def main():
    for model, share, seed in (("lab/large", 0.7, 1), ("lab/small", 0.5, 2)):
        for subject, n in (("sums", 12), ("products", 8)):
            name = f"mmlu:subject={subject},model={model.replace('/', '_')}"
            adapter = AdapterSpec(method="generation", model=model, num_train_trials=2)
            instances = [Instance(Input(f"{i}?"), [], split="test", id=f"id{i}") for i in range(n)]
            typos = PerturbationDescription(name="typos", robustness=True)
            instances += [
                Instance(Input(f"{i} ?"), [], split="test", id=f"id{i}", perturbation=typos) for i in range(0, n, 2)
            ]
            states = [
                RequestState(
                    instance=instance, reference_index=None, request_mode=None, train_trial_index=trial,
                    output_mapping=None, request=Request(model=model, model_deployment=model), result=None,
                    num_train_instances=0, prompt_truncated=False,
                )
                for trial in range(2)
                for instance in instances
            ]  # fmt: skip
            result = Drawn(share, seed + n).evaluate(ScenarioState(adapter, states), None, "", parallelism=1)
            folder = HERE / model.replace("/", "_") / subject  # HELM calls it as the run, with colons
            folder.mkdir(parents=True, exist_ok=True)
            spec = RunSpec(name, ScenarioSpec("sums"), adapter, [])
            stats = remove_stats_nans(result.aggregated_stats)
            per_instance = remove_per_instance_stats_nans(result.per_instance_stats)
            for file, document in (
                ("run_spec.json", asdict_without_nones(spec)),
                ("stats.json", [asdict_without_nones(stat) for stat in stats]),
                ("per_instance_stats.json", [asdict_without_nones(stat) for stat in per_instance]),
            ):
                (folder / file).write_text(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
