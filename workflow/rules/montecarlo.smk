"""Monte Carlo against exact, on simulated systems: the experiments of the exact-test paper."""


rule approximate:
    """The relative error of Monte Carlo p-values, by the number of samples."""
    input:
        library=library("approximate"),
    output:
        relative_error="results/tables/relative_error.tsv",
    log:
        "results/logs/approximate.log",
    benchmark:
        "results/benchmarks/approximate.tsv"
    group:
        "approximate"
    conda:
        "../envs/pairsig.yaml"
    threads: 2
    resources:
        mem_mb=grown(1000),
        runtime=grown(20),
    params:
        montecarlo=lookup("montecarlo", within=config),
        seed=lookup("resampling/seed", within=config),
    shell:
        r"""
        python -m study approximate \
            --n-resamples {params.montecarlo[n_resamples]:q} \
            --n-simulated {params.montecarlo[n_simulated]:q} \
            --n-pairs {params.montecarlo[n_pairs]:q} \
            --n-runs {params.montecarlo[n_runs]:q} \
            --seed {params.seed:q} \
            --threads {threads} \
            --output {output.relative_error:q} \
            >{log:q} 2>&1
        """


rule race:
    """Seconds of the exact test and of Monte Carlo, by the number of sentences: measured, new in every run.

    It needs one core, and reserves all of them, so that no other job takes time from it.
    """
    input:
        library=library("race"),
    output:
        run_time="results/tables/run_time.tsv",
    log:
        "results/logs/race.log",
    benchmark:
        "results/benchmarks/race.tsv"
    group:
        "race"
    conda:
        "../envs/pairsig.yaml"
    threads: workflow.cores or 1
    resources:
        mem_mb=grown(1000),
        runtime=grown(20),
    params:
        montecarlo=lookup("montecarlo", within=config),
        seed=lookup("resampling/seed", within=config),
    shell:
        r"""
        python -m study race \
            --n-segments {params.montecarlo[n_segments]:q} \
            --n-repeats {params.montecarlo[n_repeats]:q} \
            --seed {params.seed:q} \
            --output {output.run_time:q} \
            >{log:q} 2>&1
        """
