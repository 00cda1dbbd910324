"""Retrained systems: base models trained on resampled training sets, and their predictions.

From `count` on they are systems like all others. Models are deleted when nothing needs them any more (`--notemp`
keeps them); resampled training sets stay, so that a new base model trains no other one again. A base model that fails or
is killed in every attempt does not stop the study: one more attempt records that its system is left out, and why.
"""


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
        row=lambda wildcards: PLAN.sheets["jars"][wildcards.jar],
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
        resampled=lambda wildcards: (
            f"<results>/resampled/{wildcards.training_set}/{training(wildcards).resampled}.txt"
        ),
        given=given(training),
        jars=ancient(jars(training)),
    output:
        model=temp(directory("<results>/models/{training_set}/{system}")),
    log:
        "<logs>/train/{training_set}/{system}.log",
    benchmark:
        "<benchmarks>/train/{training_set}/{system}.tsv"
    retries: RETRIES
    conda:
        "../envs/retrain.yaml"
    threads: base_model(training, "threads")
    resources:
        mem_mb=grown(base_model(training, "mem_mb")),
        runtime=grown(base_model(training, "runtime")),
        attempt=lambda wildcards, attempt: attempt,
    params:
        command=base_model(training, "train"),
        seed=lambda wildcards: training(wildcards).seed,
        attempts=ATTEMPTS,
    script:
        "../scripts/train.py"


rule predict:
    """Predict a test set, without access to its labels."""
    input:
        unpack(lambda wildcards: PLAN.predicted_from(*wildcards)),
        segments="<results>/segments/{dataset}.input.txt",
        # Of an ensemble, the outputs of its members; of other systems, their model.
        given=given(prediction),
        jars=ancient(jars(prediction)),
    output:
        output="<results>/outputs/{dataset}/{system}.txt",
    log:
        "<logs>/predict/{dataset}/{system}.log",
    benchmark:
        "<benchmarks>/predict/{dataset}/{system}.tsv"
    retries: RETRIES
    conda:
        "../envs/retrain.yaml"
    threads: base_model(prediction, "threads")
    resources:
        mem_mb=grown(base_model(prediction, "mem_mb")),
        runtime=grown(base_model(prediction, "runtime")),
        attempt=lambda wildcards, attempt: attempt,
    params:
        command=base_model(prediction, "predict"),
        attempts=ATTEMPTS,
    script:
        "../scripts/predict.py"
