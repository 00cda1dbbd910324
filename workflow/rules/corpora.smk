"""Verify corpora, split them into segments in the format of their task, and resample training sets."""


rule verify:
    """Verify the checksums of a corpus, outside a cluster: it takes less time than a submission."""
    input:
        sums=f"{config['data_dir']}/{{corpus}}/SHA256SUMS",
    output:
        verified="<results>/corpora/{corpus}.sha256",
    log:
        "<logs>/verify/{corpus}.log",
    localrule: True
    params:
        sha256=lambda wildcards: PLAN.sheets["corpora"][wildcards.corpus]["sha256"],
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
        files=lambda wildcards: prepared(wildcards)["read"],
        verified=verified,
    output:
        segments="<results>/training_sets/{training_set}.txt",
    log:
        "<logs>/prepare/{training_set}.log",
    conda:
        "../envs/pairsig.yaml"
    params:
        prepared=prepared,
    script:
        "../scripts/prepare.py"


# A test set, with the input that a base model may see.
use rule prepare_training_set as prepare_test_set with:
    output:
        reference="<results>/segments/{dataset}.reference.txt",
        input="<results>/segments/{dataset}.input.txt",
        documents="<results>/segments/{dataset}.documents.tsv",
    log:
        "<logs>/prepare/{dataset}.log",


rule resample:
    """Draw the segments of a training set with replacement."""
    input:
        segments="<results>/training_sets/{training_set}.txt",
        unlabelled=lambda wildcards: PLAN.unlabelled(wildcards.training_set),
    output:
        resampled="<results>/resampled/{training_set}/{resampled}.txt",
    log:
        "<logs>/resample/{training_set}/{resampled}.log",
    conda:
        "../envs/pairsig.yaml"
    params:
        task=lambda wildcards: prepared(wildcards)["task"],
        seed=DRAWN["seed"],
    script:
        "../scripts/resample.py"
