"""Whether what the comparisons tell holds: on other test sets, and for systems that others made."""

OVERLAYS = [
    f"--overlay={dataset}={natural}"
    for dataset in SELECTED
    for natural in study.datasets[dataset].overlay
]


rule calibrate:
    """How often the better system on one test set is the better one on another."""
    input:
        comparisons=COMPARISONS,
        test_sets=TEST_SETS,
        sheet=config["sheets"]["calibrations"],
        published=config["sheets"]["published"],
        library=library("calibrate"),
    output:
        calibration="results/tables/calibration.tsv",
        table_1="results/tables/table_1.tsv",
    log:
        "results/logs/calibrate.log",
    benchmark:
        "results/benchmarks/calibrate.tsv"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(10),
    params:
        population="icepahc-modern",
    shell:
        r"""
        python -m study calibrate {input.comparisons:q} {input.test_sets:q} \
            --sheet {input.sheet:q} \
            --published {input.published:q} \
            --population {params.population:q} \
            --table-1 {output.table_1:q} \
            --output {output.calibration:q} \
            >{log:q} 2>&1
        """


rule validate:
    """Hold synthetic comparisons against the natural ones laid over them."""
    input:
        comparisons=COMPARISONS,
        test_sets=TEST_SETS,
        library=library("validate"),
    output:
        validation="results/tables/validation.tsv",
    log:
        "results/logs/validate.log",
    benchmark:
        "results/benchmarks/validate.tsv"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(10),
    params:
        overlays=OVERLAYS,
    shell:
        r"""
        python -m study validate {input.comparisons:q} {input.test_sets:q} \
            {params.overlays:q} \
            --output {output.validation:q} \
            >{log:q} 2>&1
        """


# What needs more than comparisons is tested on one dataset or two of each task.
CLAIMED = [
    name
    for name in [
        "realsumm",
        "hansards-synthetic",
        "conll2018-en_ewt",
        "ewt-test",
        "icepahc-modern",
        "wmt21-de-en",
        "wmt23-ja-en",
        "wmt24-en-de",
    ]
    if name in SELECTED
]


rule claims:
    """Test what costs little: small claims of the papers, and why numbers of ours are not theirs."""
    input:
        comparisons=COMPARISONS,
        test_sets=TEST_SETS,
        systems="results/tables/systems.tsv",
        statistics=collect("results/statistics/{dataset}.parquet", dataset=CLAIMED),
        library=library("claims"),
    output:
        claims="results/tables/claims.tsv",
    log:
        "results/logs/claims.log",
    benchmark:
        "results/benchmarks/claims.tsv"
    conda:
        "../envs/pairsig.yaml"
    threads: 2
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        statistics=[
            f"results/statistics/{dataset}.parquet:{study.datasets[dataset].metric}"
            for dataset in CLAIMED
        ],
        n_resamples=min(config["resampling"]["n_resamples"], 100_000),
        seed=lookup("resampling/seed", within=config),
    shell:
        r"""
        python -m study claims {input.comparisons:q} {input.test_sets:q} \
            --systems {input.systems:q} \
            --statistics {params.statistics:q} \
            --n-resamples {params.n_resamples} \
            --seed {params.seed} \
            --threads {threads} \
            --output {output.claims:q} \
            >{log:q} 2>&1
        """
