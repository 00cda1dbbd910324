"""Compare all pairs of systems of a dataset: on its test set, and on test sets made from it.

All pairs share their draws, so a dataset is one job, unless `split` in the configuration names it.
"""


rule compare:
    """Test every pair of systems on the whole test set by the paper's bootstrap."""
    input:
        statistics=lambda wildcards: PLAN.statistics([wildcards.dataset])[0],
    output:
        comparisons="<results>/comparisons/{dataset}.parquet",
    log:
        "<logs>/compare/{dataset}.log",
    benchmark:
        "<benchmarks>/compare/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(set(DATASETS) - set(config["split"])),
    conda:
        "../envs/pairsig.yaml"
    threads: 2
    resources:
        runtime=grown(60),
    params:
        metric=lambda wildcards: DATASETS[wildcards.dataset]["metric"],
        drawn=lambda wildcards: PLAN.drawn(wildcards.dataset),
        part="1-of-1",
        code=code("study.test_sets.all_pairs"),
    script:
        "../scripts/compare.py"


use rule compare as compare_part with:
    output:
        comparisons=temp("<results>/parts/{dataset}.{scatteritem}.parquet"),
    log:
        "<logs>/compare/{dataset}.{scatteritem}.log",
    benchmark:
        "<benchmarks>/compare/{dataset}.{scatteritem}.tsv"
    wildcard_constraints:
        dataset=one_of(config["split"]),
    params:
        part="{scatteritem}",


rule merge:
    """Add up the counts of the parts of a comparison; the table is that of a single job, byte for byte."""
    input:
        parts=gather.resamples("<results>/parts/{{dataset}}.{scatteritem}.parquet"),
    output:
        comparisons="<results>/comparisons/{dataset}.parquet",
    log:
        "<logs>/merge/{dataset}.log",
    benchmark:
        "<benchmarks>/merge/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(config["split"]),
    conda:
        "../envs/pairsig.yaml"
    script:
        "../scripts/merge.py"


rule resize:
    """Test every pair on initial segments, domains, documents, draws or halves of a test set."""
    input:
        statistics=lambda wildcards: PLAN.statistics([wildcards.dataset])[0],
    output:
        comparisons="<results>/test_sets/{dataset}.parquet",
    log:
        "<logs>/resize/{dataset}.log",
    benchmark:
        "<benchmarks>/resize/{dataset}.tsv"
    conda:
        "../envs/pairsig.yaml"
    threads: 2
    resources:
        runtime=grown(180),
    params:
        metric=lambda wildcards: DATASETS[wildcards.dataset]["metric"],
        made=lambda wildcards: sheets.pairs(DATASETS[wildcards.dataset]["test_sets"]),
        drawn=lambda wildcards: PLAN.drawn(wildcards.dataset, made=True),
        code=code("study.test_sets.all_pairs", "study.test_sets.resize"),
    script:
        "../scripts/resize.py"
