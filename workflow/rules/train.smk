"""Retrained systems: base models trained on resampled training sets, and their predictions.

From `count` on they are systems like all others. Models are deleted when nothing needs them any more (`--notemp`
keeps them); resampled training sets stay, so that a new base model trains no other one again. A base model that fails or
is killed in every attempt does not stop the study: one more attempt records that its system is left out, and why.
"""

ATTEMPTS = 2
# Only the main process repeats jobs: within a job of a cluster, they would have the same memory again.
RETRIES = ATTEMPTS if workflow.is_main_process else 0


rule jar:
    """Download a Java library for base models, outside a cluster, because it requires the internet."""
    output:
        jar="<results>/jars/{jar}.jar",
    log:
        "<logs>/jar/{jar}.log",
    localrule: True
    conda:
        "../envs/retrain.yaml"
    params:
        row=lookup(dpath="{jar}", within=PLAN.sheets["jars"]),
    shell:
        """
        exec >{log:q} 2>&1
        mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
            -Dartifact={params.row[coordinates]:q} -DoutputDirectory="$(realpath {output.jar:q}).part"
        mv {output.jar:q}.part/*.jar {output.jar:q}
        rmdir {output.jar:q}.part
        echo "{params.row[sha256]}  "{output.jar:q} | sha256sum --check
        """


rule train:
    """Train a base model on a resampled training set."""
    input:
        resampled="<results>/resampled/{training_set}/{resampled}.txt",
        given=lambda wildcards: PLAN.given(wildcards.training_set, wildcards.base_model),
        jars=ancient(lambda wildcards: PLAN.jars(wildcards.base_model)),
    output:
        model=temp(
            directory("<results>/models/{training_set}/{base_model}-{resampled}")
        ),
    log:
        "<logs>/train/{training_set}/{base_model}-{resampled}.log",
    benchmark:
        "<benchmarks>/train/{training_set}/{base_model}-{resampled}.tsv"
    retries: RETRIES
    conda:
        "../envs/retrain.yaml"
    threads: lambda wildcards: BASE_MODELS[wildcards.base_model]["threads"]
    resources:
        mem_mb=grown(lambda wildcards: BASE_MODELS[wildcards.base_model]["mem_mb"]),
        runtime=grown(lambda wildcards: BASE_MODELS[wildcards.base_model]["runtime"]),
        attempt=lambda wildcards, attempt: attempt,
    params:
        command=lambda wildcards: BASE_MODELS[wildcards.base_model]["train"],
        # Of `half-3` and the seed 2012, it is 2015.
        seed=lambda wildcards: DRAWN["seed"] + int(wildcards.resampled.split("-")[1]),
        attempts=ATTEMPTS,
    script:
        "../scripts/train.py"


rule predict:
    """Predict a test set, without access to its labels."""
    input:
        # Of an ensemble, the outputs of its members; of other systems, their model.
        unpack(lambda wildcards: PLAN.predicted_from(*wildcards)),
        segments="<results>/segments/{dataset}.input.txt",
        jars=ancient(lambda wildcards: PLAN.jars(wildcards.base_model)),
    output:
        output="<results>/outputs/{dataset}/{base_model}-{resampled}.txt",
    log:
        "<logs>/predict/{dataset}/{base_model}-{resampled}.log",
    benchmark:
        "<benchmarks>/predict/{dataset}/{base_model}-{resampled}.tsv"
    retries: RETRIES
    conda:
        "../envs/retrain.yaml"
    threads: lambda wildcards: BASE_MODELS[wildcards.base_model]["threads"]
    resources:
        mem_mb=grown(lambda wildcards: BASE_MODELS[wildcards.base_model]["mem_mb"]),
        runtime=grown(lambda wildcards: BASE_MODELS[wildcards.base_model]["runtime"]),
        attempt=lambda wildcards, attempt: attempt,
    params:
        command=lambda wildcards: BASE_MODELS[wildcards.base_model]["predict"],
        attempts=ATTEMPTS,
    script:
        "../scripts/predict.py"
