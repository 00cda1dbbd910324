"""What a p-value does not say: who wins on the next test set, and that sentences come in documents."""

# Of pools the members are there themselves.
MEASURED = [name for name in SELECTED if study.datasets[name].source != "pool"]
# The law of each family, and how the chances that follow from it came true.
FAMILY_TABLES = collect(
    "results/tables/{table}.tsv", table=["heterogeneity", "next_test_sets"]
)


rule heterogeneity:
    """How much gains differ between test sets of a family, and whether that tells who wins on the next."""
    input:
        statistics=collect("results/statistics/{dataset}.parquet", dataset=MEASURED),
        families=config["sheets"]["families"],
        library=library("heterogeneity"),
    output:
        heterogeneity="results/tables/heterogeneity.tsv",
        next="results/tables/next_test_sets.tsv",
        borrowed="results/tables/borrowed.tsv",
    log:
        "results/logs/heterogeneity.log",
    benchmark:
        "results/benchmarks/heterogeneity.tsv"
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
            for dataset in MEASURED
        ],
    shell:
        r"""
        python -m study heterogeneity {params.statistics:q} \
            --families {input.families:q} \
            --next {output.next:q} \
            --borrowed {output.borrowed:q} \
            --output {output.heterogeneity:q} \
            >{log:q} 2>&1
        """


rule documents:
    """What documents do to p-values: design effects, and calibration on halves of the documents."""
    input:
        statistics=collect("results/statistics/{dataset}.parquet", dataset=MEASURED),
        library=library("documents"),
    output:
        documents="results/tables/documents.tsv",
    log:
        "results/logs/documents.log",
    benchmark:
        "results/benchmarks/documents.tsv"
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
            for dataset in MEASURED
        ],
        seed=lookup("resampling/seed", within=config),
    shell:
        r"""
        python -m study documents {params.statistics:q} \
            --seed {params.seed:q} \
            --output {output.documents:q} \
            >{log:q} 2>&1
        """


rule law:
    """What the standard error of a gain is before there is a test set."""
    input:
        comparisons=of_text(COMPARED_ONCE),
        systems="results/tables/systems.tsv",
        overlaps="resources/overlaps.tsv",
        library=library("law"),
    output:
        law="results/tables/law.tsv",
        errors="results/tables/law_errors.tsv",
    log:
        "results/logs/law.log",
    benchmark:
        "results/benchmarks/law.tsv"
    group:
        "analyse"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(10),
    shell:
        r"""
        python -m study law {input.comparisons:q} --systems {input.systems:q} --overlaps {input.overlaps:q} \
            --errors {output.errors:q} --output {output.law:q} >{log:q} 2>&1
        """
