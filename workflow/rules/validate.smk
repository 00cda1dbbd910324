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
