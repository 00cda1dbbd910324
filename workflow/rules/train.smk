"""Retrained systems: base models trained on resampled training sets, and their predictions.

From `extract` on they are systems like all others. Models are deleted when nothing needs them any more (`--notemp`
keeps them); resampled training sets stay, so that a new base model trains no other one again. A base model that fails
or is killed in every attempt does not stop the study: its system is left out, with the reason.
"""

ATTEMPTS = 1 + config["retries"]
# One more, because a job that was killed in the last attempt has written no reason. Only the main process repeats jobs:
# within a job of a cluster, they would have the same memory again.
RETRIES = ATTEMPTS if workflow.is_main_process else 0


rule train:
    """Train a base model on a resampled training set."""
    input:
        resampled=lambda w: study.training_runs[w.training_set, w.system].resampled,
        given=lambda w: study.training_runs[w.training_set, w.system].given,
        jars=ancient(lambda w: study.training_runs[w.training_set, w.system].jars),
        library=lambda w: library(
            "train", *study.training_runs[w.training_set, w.system].programs
        ),
    output:
        model=temp(directory("results/models/{training_set}/{system}")),
    log:
        "results/logs/train/{training_set}/{system}.log",
    benchmark:
        "results/benchmarks/train/{training_set}/{system}.tsv"
    retries: RETRIES
    group:
        "system"
    conda:
        "../envs/retrain.yaml"
    threads: lambda w: study.training_runs[w.training_set, w.system].threads
    resources:
        mem_mb=grown(
            lambda w: study.training_runs[w.training_set, w.system].mem_mb, ATTEMPTS
        ),
        runtime=grown(
            lambda w: study.training_runs[w.training_set, w.system].runtime, ATTEMPTS
        ),
        attempt=lambda wildcards, attempt: attempt,
        attempts=ATTEMPTS,
    params:
        command=lambda w: study.training_runs[w.training_set, w.system].command,
        seed=lambda w: study.training_runs[w.training_set, w.system].seed,
    shell:
        r"""
        python -m study train {input.resampled:q} \
            --command {params.command:q} \
            --seed {params.seed:q} \
            --given {input.given:q} \
            --jars results/jars \
            --threads {threads} \
            --attempt {resources.attempt}/{resources.attempts} \
            --requested "{resources.mem_mb} MB, {resources.runtime} minutes" \
            --model {output.model:q} \
            >{log:q} 2>&1
        """


rule predict:
    """Predict a test set, without access to its labels."""
    input:
        segments="results/segments/{dataset}.input.txt",
        model=lambda w: study.predictions[w.dataset, w.system].model,
        given=lambda w: study.predictions[w.dataset, w.system].given,
        members=lambda w: study.predictions[w.dataset, w.system].members,
        jars=ancient(lambda w: study.predictions[w.dataset, w.system].jars),
        library=lambda w: library(
            "predict", *study.predictions[w.dataset, w.system].programs
        ),
    output:
        output="results/outputs/{dataset}/{system}.txt",
    log:
        "results/logs/predict/{dataset}/{system}.log",
    benchmark:
        "results/benchmarks/predict/{dataset}/{system}.tsv"
    retries: RETRIES
    group:
        "system"
    conda:
        "../envs/retrain.yaml"
    threads: lambda w: study.predictions[w.dataset, w.system].threads
    resources:
        mem_mb=grown(lambda w: study.predictions[w.dataset, w.system].mem_mb, ATTEMPTS),
        runtime=grown(
            lambda w: study.predictions[w.dataset, w.system].runtime, ATTEMPTS
        ),
        attempt=lambda wildcards, attempt: attempt,
        attempts=ATTEMPTS,
    params:
        command=lambda w: study.predictions[w.dataset, w.system].command,
    shell:
        r"""
        python -m study predict {input.segments:q} \
            --command {params.command:q} \
            --model {input.model:q} \
            --given {input.given:q} \
            --members {input.members:q} \
            --jars results/jars \
            --threads {threads} \
            --attempt {resources.attempt}/{resources.attempts} \
            --requested "{resources.mem_mb} MB, {resources.runtime} minutes" \
            --output {output.output:q} \
            >{log:q} 2>&1
        """
