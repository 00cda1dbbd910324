"""Split large comparisons into parts: each job draws some of the resamples, and the counts are added up.

`--set-scatter resamples=8` (in a profile: `set-scatter`) makes eight jobs of every comparison. The tables are the
same, byte for byte, because resample i depends only on the seed and on i. Exact tests are not split.
"""


scattergather:
    resamples=1,


if len(scatter.resamples("{scatteritem}")) > 1:

    ruleorder: merge > compare
    ruleorder: merge > resize

    use rule compare as compare_part with:
        output:
            comparisons=temp(
                "results/parts/comparisons/{dataset}.{test}.{scatteritem}.parquet"
            ),
        log:
            "results/logs/compare/{dataset}.{test}.{scatteritem}.log",
        benchmark:
            "results/benchmarks/compare/{dataset}.{test}.{scatteritem}.tsv"
        group:
            "part"
        params:
            part=lambda wildcards: wildcards.scatteritem.replace("-of-", "/"),

    use rule resize as resize_part with:
        output:
            comparisons=temp(
                "results/parts/comparisons/{dataset}.{test}.{scatteritem}.parquet"
            ),
            test_sets=temp(
                "results/parts/test_sets/{dataset}.{test}.{scatteritem}.parquet"
            ),
        log:
            "results/logs/resize/{dataset}.{test}.{scatteritem}.log",
        benchmark:
            "results/benchmarks/resize/{dataset}.{test}.{scatteritem}.tsv"
        group:
            "part"
        params:
            part=lambda wildcards: wildcards.scatteritem.replace("-of-", "/"),

    rule merge:
        """Add up the parts of a comparison."""
        input:
            parts=gather.resamples(
                "results/parts/{{table}}/{{dataset}}.{{test}}.{scatteritem}.parquet"
            ),
            library=library("merge"),
        output:
            table="results/{table}/{dataset}.{test}.parquet",
        log:
            "results/logs/merge/{table}/{dataset}.{test}.log",
        benchmark:
            "results/benchmarks/merge/{table}/{dataset}.{test}.tsv"
        wildcard_constraints:
            table="comparisons|test_sets",
            test=one_of(DRAWN_TESTS),
        group:
            "merge"
        conda:
            "../envs/pairsig.yaml"
        resources:
            mem_mb=grown(2000),
            runtime=grown(10),
        shell:
            r"""
            python -m pairsig merge {input.parts:q} \
                --output {output.table:q} \
                >{log:q} 2>&1
            """
