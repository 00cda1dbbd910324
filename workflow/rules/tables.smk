"""Tables for readers, first of all ours beside the paper's."""

TABLES = [
    "systems",
    "ranks",
    "thresholds",
    "size_law",
    "calibration",
    "table_1",
    "validation",
    "trainings",
    "better_method",
    "claims",
    "law",
    "law_errors",
    "relative_error",
    "run_time",
    "reproduction",
    "heterogeneity",
    "next_test_sets",
    "documents",
    "leaderboards",
    "items_needed",
    "dollars",
]

# Where figures stand in the report: as in the paper.
SECTIONS = (
    dict.fromkeys(
        ["overview", "thresholds", "gain_confidence", "full_sets", "similarity"],
        "Section 3: gains and confidence",
    )
    | dict.fromkeys(["size_law", "sizes"], "Section 4.1: size")
    | dict.fromkeys(["calibration", "domains"], "Section 4.2: other test sets")
    | dict.fromkeys(["relative_error", "run_time"], "Exact tests")
)
BEYOND = "Beyond the paper"


rule check:
    """Ours beside the numbers printed in the paper, with a verdict."""
    input:
        published=config["sheets"]["published"],
        thresholds="results/tables/thresholds.tsv",
        size_law="results/tables/size_law.tsv",
        calibration="results/tables/calibration.tsv",
        systems="results/tables/systems.tsv",
        claims="results/tables/claims.tsv",
        relative_error="results/tables/relative_error.tsv",
        run_time="results/tables/run_time.tsv",
        library=library("check"),
    output:
        reproduction="results/tables/reproduction.tsv",
    log:
        "results/logs/check.log",
    benchmark:
        "results/benchmarks/check.tsv"
    group:
        "analyse"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(500),
        runtime=grown(5),
    shell:
        r"""
        python -m study check \
            --published {input.published:q} \
            --thresholds {input.thresholds:q} \
            --size-law {input.size_law:q} \
            --calibration {input.calibration:q} \
            --systems {input.systems:q} \
            --claims {input.claims:q} \
            --relative-error {input.relative_error:q} \
            --run-time {input.run_time:q} \
            --output {output.reproduction:q} \
            >{log:q} 2>&1
        """


rule tabulate:
    """The tables in the formats that papers and pages need."""
    input:
        tables=collect("results/tables/{table}.tsv", table=TABLES),
        library=library("tabulate"),
    output:
        csv=collect("results/tables/{table}.csv", table=TABLES),
        md=collect("results/tables/{table}.md", table=TABLES),
        tex=collect("results/tables/{table}.tex", table=TABLES),
        html=[
            report(
                f"results/tables/{table}.html",
                caption=f"../report/tables/{table}.rst",
                category="Tables",
                labels={"table": table},
            )
            for table in TABLES
        ],
    log:
        "results/logs/tabulate.log",
    benchmark:
        "results/benchmarks/tabulate.tsv"
    group:
        "figures"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(500),
        runtime=grown(5),
    shell:
        r"""
        python -m study tabulate {input.tables:q} \
            --output {output:q} \
            >{log:q} 2>&1
        """
