"""Verify corpora, split them into segments in the format of their task, and resample training sets."""


rule verify:
    """Verify the checksums of a corpus."""
    input:
        sums=f"{config['data_dir']}/{{corpus}}/SHA256SUMS",
    output:
        verified="<results>/corpora/{corpus}.sha256",
    log:
        "<logs>/verify/{corpus}.log",
    benchmark:
        "<benchmarks>/verify/{corpus}.tsv"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        sha256=lambda wildcards: PLAN.sheets["corpora"][wildcards.corpus]["sha256"],
    script:
        "../scripts/verify.py"


rule prepare_training_set:
    """Split a training corpus into segments, in the format of its task."""
    input:
        files=prepared("read"),
        verified=verified(
            lambda wildcards: PLAN.sheets["training_sets"][wildcards.training_set]
        ),
    output:
        segments="<results>/training_sets/{training_set}.txt",
    log:
        "<logs>/prepare/{training_set}.log",
    benchmark:
        "<benchmarks>/prepare/{training_set}.tsv"
    group:
        "prepare"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        task=prepared("task"),
        files=prepared("files"),
        selection=prepared("selection"),
        options=prepared("options"),
    script:
        "../scripts/prepare.py"


rule prepare_test_set:
    """Split a test corpus into segments, with the input that a base model may see."""
    input:
        files=prepared("read"),
        verified=verified(lambda wildcards: DATASETS[wildcards.dataset]),
    output:
        reference="<results>/segments/{dataset}.reference.txt",
        input="<results>/segments/{dataset}.input.txt",
        documents="<results>/segments/{dataset}.documents.tsv",
    log:
        "<logs>/prepare/{dataset}.log",
    benchmark:
        "<benchmarks>/prepare/{dataset}.tsv"
    group:
        "prepare"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        task=prepared("task"),
        files=prepared("files"),
        selection=prepared("selection"),
        options=prepared("options"),
    script:
        "../scripts/prepare.py"


rule resample:
    """Draw the segments of a training set with replacement."""
    input:
        segments="<results>/training_sets/{training_set}.txt",
        unlabelled=lambda wildcards: collect(
            "<results>/segments/{dataset}.input.txt",
            dataset=PLAN.sheets["training_sets"][wildcards.training_set]["unlabelled"],
        ),
    output:
        resampled="<results>/resampled/{training_set}/{resampled}.txt",
    log:
        "<logs>/resample/{training_set}/{resampled}.log",
    benchmark:
        "<benchmarks>/resample/{training_set}/{resampled}.tsv"
    group:
        "prepare"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        task=lambda wildcards: PLAN.sheets["training_sets"][wildcards.training_set][
            "task"
        ],
        seed=DRAWN["seed"],
    script:
        "../scripts/resample.py"
