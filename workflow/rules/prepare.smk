"""Split corpora into segments in the format of their task, and resample training sets."""


rule prepare_training_set:
    """Split a training corpus into segments, in the format of its task."""
    input:
        files=lambda w: study.training_sets[w.training_set].read,
        verified=collect(
            "results/corpora/{corpus}.sha256",
            corpus=lambda w: study.training_sets[w.training_set].corpora,
        ),
        library=library("prepare"),
    output:
        segments="results/training_sets/{training_set}.txt",
    log:
        "results/logs/prepare/{training_set}.log",
    benchmark:
        "results/benchmarks/prepare/{training_set}.tsv"
    group:
        "prepare"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(10),
    params:
        task=lambda w: study.training_sets[w.training_set].task,
        files=lambda w: study.training_sets[w.training_set].files,
        options=lambda w: study.training_sets[w.training_set].options,
    shell:
        r"""
        python -m study prepare {params.files:q} \
            --task {params.task:q} \
            {params.options:q} \
            --output {output.segments:q} \
            >{log:q} 2>&1
        """


rule prepare_test_set:
    """Split a test corpus into segments, with the input that a base model may see."""
    input:
        files=lambda w: study.test_sets[w.dataset].read,
        verified=collect(
            "results/corpora/{corpus}.sha256",
            corpus=lambda w: study.test_sets[w.dataset].corpora,
        ),
        library=library("prepare"),
    output:
        reference="results/segments/{dataset}.reference.txt",
        input="results/segments/{dataset}.input.txt",
        documents="results/segments/{dataset}.documents.tsv",
    log:
        "results/logs/prepare/{dataset}.log",
    benchmark:
        "results/benchmarks/prepare/{dataset}.tsv"
    group:
        "prepare"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(10),
    params:
        task=lambda w: study.test_sets[w.dataset].task,
        files=lambda w: study.test_sets[w.dataset].files,
        options=lambda w: study.test_sets[w.dataset].options,
    shell:
        r"""
        python -m study prepare {params.files:q} \
            --task {params.task:q} \
            {params.options:q} \
            --input {output.input:q} \
            --documents {output.documents:q} \
            --reference {output.reference:q} \
            >{log:q} 2>&1
        """


rule resample:
    """Draw the segments of a training set with replacement."""
    input:
        segments="results/training_sets/{training_set}.txt",
        unlabelled=lambda w: study.resampled[w.training_set, w.resampled].unlabelled,
        library=library("resample"),
    output:
        resampled="results/resampled/{training_set}/{resampled}.txt",
    log:
        "results/logs/resample/{training_set}/{resampled}.log",
    benchmark:
        "results/benchmarks/resample/{training_set}/{resampled}.tsv"
    group:
        "prepare"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        task=lambda w: study.resampled[w.training_set, w.resampled].task,
        drawn=lambda w: study.resampled[w.training_set, w.resampled].drawn,
        seed=lookup("resampling/seed", within=config),
    shell:
        r"""
        python -m study resample {input.segments:q} \
            --task {params.task:q} \
            {params.drawn:q} \
            --seed {params.seed:q} \
            --name {wildcards.training_set:q}/{wildcards.resampled:q} \
            --unlabelled {input.unlabelled:q} \
            --output {output.resampled:q} \
            >{log:q} 2>&1
        """
