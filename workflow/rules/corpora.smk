"""Verify corpora, split them into segments in the format of their task, and resample training sets."""


rule verify:
    """Verify the checksums of a corpus, outside a cluster: it takes less time than a submission."""
    input:
        sums=str(Path(config["data_dir"], "{corpus}/SHA256SUMS")),
    output:
        verified="<results>/corpora/{corpus}.sha256",
    log:
        "<logs>/verify/{corpus}.log",
    localrule: True
    params:
        sha256=lookup(dpath="{corpus}/sha256", within=PLAN.sheets["corpora"]),
    shell:
        """
        exec >{log:q} 2>&1
        echo "{params.sha256}  "{input.sums:q} | sha256sum --check
        (
            cd "$(dirname {input.sums:q})"
            sha256sum --check --strict --warn SHA256SUMS
        )
        cat {input.sums:q} >{output.verified:q}
        """


rule prepare_training_set:
    """Split a training corpus into segments, in the format of its task."""
    input:
        unpack(lambda wildcards: PLAN.prepare("training_sets", *wildcards)[0]),
    output:
        segments="<results>/training_sets/{training_set}.txt",
    log:
        "<logs>/prepare/{training_set}.log",
    benchmark:
        "<benchmarks>/prepare/{training_set}.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        prepared=lambda wildcards: PLAN.prepare("training_sets", *wildcards)[1],
    script:
        "../scripts/prepare.py"


# A test set, with the input that a base model may see.
use rule prepare_training_set as prepare_test_set with:
    input:
        unpack(lambda wildcards: PLAN.prepare("datasets", *wildcards)[0]),
    output:
        reference="<results>/segments/{dataset}.reference.txt",
        input="<results>/segments/{dataset}.input.txt",
        documents="<results>/segments/{dataset}.documents.tsv",
    log:
        "<logs>/prepare/{dataset}.log",
    benchmark:
        "<benchmarks>/prepare/{dataset}.tsv"
    params:
        prepared=lambda wildcards: PLAN.prepare("datasets", *wildcards)[1],


rule resample:
    """Draw the segments of a training set with replacement."""
    input:
        segments="<results>/training_sets/{training_set}.txt",
        # Test sets whose input, without labels, is part of the training set.
        unlabelled=collect(
            "<results>/segments/{dataset}.input.txt",
            dataset=lookup(
                dpath="{training_set}/unlabelled", within=PLAN.sheets["training_sets"]
            ),
        ),
    output:
        resampled="<results>/resampled/{training_set}/{resampled}.txt",
    log:
        "<logs>/resample/{training_set}/{resampled}.log",
    benchmark:
        "<benchmarks>/resample/{training_set}/{resampled}.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        task=lookup(dpath="{training_set}/task", within=PLAN.sheets["training_sets"]),
        seed=DRAWN["seed"],
    script:
        "../scripts/resample.py"
