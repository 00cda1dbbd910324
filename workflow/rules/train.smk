"""Synthetic systems: base models trained on resampled training sets, and what they predict.

From `extract` on they are systems like all others. Models are deleted when nothing needs them any more (`--notemp`
keeps them); resampled training sets stay, so that a new base model trains no other one again. A base model that fails
in every attempt does not stop the study: its system is left out, with the reason.
"""

ATTEMPTS = 1 + config["retries"]


rule jar:
    """Get a Java library that base models need."""
    output:
        jar="results/jars/{jar}.jar",
    log:
        "results/logs/jar/{jar}.log",
    benchmark:
        "results/benchmarks/jar/{jar}.tsv"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        coordinates=of_jar("coordinates"),
        sha256=of_jar("sha256"),
    shell:
        r"""
        python -m study jar {params.coordinates:q} \
            --sha256 {params.sha256:q} \
            --output {output.jar:q} \
            >{log:q} 2>&1
        """


rule train:
    """Train a base model on a resampled training set."""
    input:
        resampled=of_training("resampled"),
        jars=ancient(of_training("jars")),
        library=lambda wildcards: library("train", *of_training("programs")(wildcards)),
    output:
        model=temp(directory("results/models/{training_set}/{system}")),
    log:
        "results/logs/train/{training_set}/{system}.log",
    benchmark:
        "results/benchmarks/train/{training_set}/{system}.tsv"
    retries: ATTEMPTS - 1
    conda:
        "../envs/retrain.yaml"
    threads: of_training("threads")
    resources:
        mem_mb=grown(of_training("mem_mb")),
        runtime=grown(of_training("runtime")),
        attempt=lambda wildcards, attempt: attempt,
        attempts=ATTEMPTS,
    params:
        command=of_training("command"),
        seed=of_training("seed"),
    shell:
        r"""
        python -m study train {input.resampled:q} \
            --command {params.command:q} \
            --seed {params.seed:q} \
            --jars results/jars \
            --threads {threads} \
            --attempt {resources.attempt}/{resources.attempts} \
            --model {output.model:q} \
            >{log:q} 2>&1
        """


rule predict:
    """Let a system predict a test set, of which it sees no label."""
    input:
        segments="results/segments/{dataset}.input.txt",
        model=of_prediction("model"),
        members=of_prediction("members"),
        jars=ancient(of_prediction("jars")),
        library=lambda wildcards: library(
            "predict", *of_prediction("programs")(wildcards)
        ),
    output:
        output="results/outputs/{dataset}/{system}.txt",
    log:
        "results/logs/predict/{dataset}/{system}.log",
    benchmark:
        "results/benchmarks/predict/{dataset}/{system}.tsv"
    retries: ATTEMPTS - 1
    conda:
        "../envs/retrain.yaml"
    threads: of_prediction("threads")
    resources:
        mem_mb=grown(of_prediction("mem_mb")),
        runtime=grown(of_prediction("runtime")),
        attempt=lambda wildcards, attempt: attempt,
        attempts=ATTEMPTS,
    params:
        command=of_prediction("command"),
        model=of_prediction("model_option"),
    shell:
        r"""
        python -m study predict {input.segments:q} \
            --command {params.command:q} \
            {params.model:q} \
            --members {input.members:q} \
            --jars results/jars \
            --threads {threads} \
            --attempt {resources.attempt}/{resources.attempts} \
            --output {output.output:q} \
            >{log:q} 2>&1
        """
