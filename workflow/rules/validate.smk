"""Whether what the comparisons tell holds: on other test sets, for systems that others made, and for methods."""

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
        pairs="results/calibrated.parquet",
    log:
        "results/logs/calibrate.log",
    benchmark:
        "results/benchmarks/calibrate.tsv"
    group:
        "analyse"
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
            --pairs {output.pairs:q} \
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
    group:
        "analyse"
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


# Systems that are trained again and again.
TRAINED = [name for name in SELECTED if study.datasets[name].trained]
TRAINING_TABLES = collect(
    "results/tables/{table}.tsv", table=["trainings", "better_method"]
)


rule trainings:
    """How much trainings of one method differ, and whether p near 0.05 names the better method."""
    input:
        statistics=collect("results/statistics/{dataset}.parquet", dataset=TRAINED),
        library=library("trainings"),
    output:
        trainings="results/tables/trainings.tsv",
        better_method="results/tables/better_method.tsv",
    log:
        "results/logs/trainings.log",
    benchmark:
        "results/benchmarks/trainings.tsv"
    group:
        "analyse"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        statistics=[
            f"results/statistics/{dataset}.parquet:{study.datasets[dataset].metric}"
            for dataset in TRAINED
        ],
        seed=lookup("resampling/seed", within=config),
    shell:
        r"""
        python -m study trainings {params.statistics:q} \
            --seed {params.seed} \
            --better-method {output.better_method:q} \
            --output {output.trainings:q} \
            >{log:q} 2>&1
        """
