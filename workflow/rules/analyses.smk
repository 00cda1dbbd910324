"""Analyses: tables from comparisons and counts, one rule each.

Snakemake compares inputs as a set; the order of the rows of a table is a param.
"""

CLAIMED, PRINTED, TODAY = map(PLAN.of_analysis, ("claims", "threshold_errors", "today"))
MEASURED, TEXT, TRAINED, BOTH = map(
    PLAN.chosen, ("measured", "text", "trained", "measured text")
)


rule describe:
    """Count the systems of every dataset, with their scores."""
    input:
        statistics=PLAN.statistics(PLAN.selected),
    output:
        systems=table("systems", "Number and scores of the systems of every dataset"),
    log:
        "<logs>/describe.log",
    benchmark:
        "<benchmarks>/describe.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        metrics=PLAN.metrics(PLAN.selected),
        code=code("study.reproduction.describe"),
    script:
        "../scripts/describe.py"


rule thresholds:
    """Estimate critical differences and thresholds (section 3.1.1), and how they fall with the size (section 4.1)."""
    input:
        comparisons=comparisons(PLAN.selected),
    output:
        thresholds=table(
            "thresholds",
            "Critical differences (1.645 standard errors of the median pair) and thresholds (95th percentile of this gain "
            "among pairs near p = 0.05), by test set and kind of pair, with intervals over systems. `printed` follows "
            "the paper's definition, the 95th percentile of the gains in the window, and has no interval",
        ),
        size_scaling=table(
            "size_scaling",
            "Power laws of the critical difference by number of segments, fitted to initial segments with the same pairs "
            "at every size. With independent segments the exponent is −1/2; `claims` has those for random orders",
        ),
    log:
        "<logs>/thresholds.log",
    benchmark:
        "<benchmarks>/thresholds.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        order=PLAN.selected,
        tasks=PLAN.tasks,
        window=config["window"],
        code=code("study.reproduction.thresholds"),
    script:
        "../scripts/thresholds.py"


rule threshold_errors:
    """Estimate the errors of the thresholds that the papers print, from studies redrawn from ours."""
    input:
        statistics=PLAN.statistics(PRINTED),
        published=sheet("published"),
    output:
        threshold_errors=table(
            "threshold_errors",
            "Errors of thresholds over the segments and systems of a study, from studies redrawn from ours",
        ),
    log:
        "<logs>/threshold_errors.log",
    benchmark:
        "<benchmarks>/threshold_errors.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        metrics=PLAN.metrics(PRINTED),
        seed=DRAWN["seed"],
        code=code("study.reproduction.threshold_errors"),
    script:
        "../scripts/threshold_errors.py"


rule calibrate:
    """Measure how often the better system on a test set wins again on another (section 4.2, Table 1)."""
    input:
        comparisons=comparisons(PLAN.selected),
        calibrations=sheet("calibrations"),
        published=sheet("published"),
    output:
        calibration=table(
            "calibration", "Replication rates by p-value, observed and expected"
        ),
        table_1=table(
            "table_1",
            "The paper's Table 1 beside the rates expected if both test sets came from the same source. Expected rates in "
            "the paper's rows assume its sizes of test sets and the gains of our parsers",
        ),
        latex="<results>/tables/table_1.tex",
    log:
        "<logs>/calibrate.log",
    benchmark:
        "<benchmarks>/calibrate.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        order=PLAN.selected,
        window=config["window"],
        code=code("study.reproduction.calibrate"),
    script:
        "../scripts/calibrate.py"


rule validate:
    """Compare retrained with published systems on the same test sets (section 3.2)."""
    input:
        comparisons=comparisons(PLAN.selected),
    output:
        validation=table(
            "validation",
            "Critical differences of retrained and of published systems on the same test sets",
        ),
    log:
        "<logs>/validate.log",
    benchmark:
        "<benchmarks>/validate.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        order=PLAN.selected,
        overlays=PLAN.overlays,
        code=code("study.reproduction.validate"),
    script:
        "../scripts/validate.py"


rule claims:
    """Test smaller claims of the papers, and find reasons for differences between their numbers and ours."""
    input:
        comparisons=comparisons(TEXT),
        statistics=PLAN.statistics(CLAIMED),
    output:
        claims=table(
            "claims",
            "Smaller claims of the papers, and what their numbers need, each with the value that the claim or theory predicts",
        ),
    log:
        "<logs>/claims.log",
    benchmark:
        "<benchmarks>/claims.tsv"
    conda:
        "../envs/pairsig.yaml"
    threads: 2
    params:
        order=TEXT,
        metrics=PLAN.metrics(CLAIMED),
        window=config["window"],
        n_resamples=min(DRAWN["n_resamples"], 100_000),
        seed=DRAWN["seed"],
        code=code("study.reproduction.claims"),
    script:
        "../scripts/claims.py"


rule approximate:
    """Measure the relative error of Monte Carlo p-values on simulated systems (exact-test paper, Figure 3)."""
    output:
        relative_error=table(
            "relative_error",
            "Relative error of Monte Carlo p-values on simulated systems, by number of samples, beside its closed form",
        ),
    log:
        "<logs>/approximate.log",
    benchmark:
        "<benchmarks>/approximate.tsv"
    conda:
        "../envs/pairsig.yaml"
    threads: 2
    params:
        **config["montecarlo"],
        seed=DRAWN["seed"],
        code=code("study.reproduction.montecarlo"),
    script:
        "../scripts/approximate.py"


rule race:
    """Measure the run time of the exact test and of Monte Carlo tests (exact-test paper, Figure 4)."""
    output:
        run_time=table(
            "run_time",
            "Run time of the exact test and of Monte Carlo tests on simulated systems, measured in this run",
        ),
    log:
        "<logs>/race.log",
    benchmark:
        "<benchmarks>/race.tsv"
    conda:
        "../envs/pairsig.yaml"
    # It needs one core, and reserves all, so that no other job takes time from it.
    threads: workflow.cores
    params:
        is_small=config["montecarlo"]["n_sizes"] < 6,
        seed=DRAWN["seed"],
        code=code("study.reproduction.montecarlo"),
    script:
        "../scripts/race.py"


CHECKED = ["thresholds", "threshold_errors", "calibration", "systems"]
CHECKED += ["relative_error", "run_time"]


rule check:
    """Compare each published number with ours, and give a verdict."""
    input:
        published=sheet("published"),
        tables=collect("<results>/tables/{table}.tsv", table=CHECKED),
    output:
        reproduction=table(
            "reproduction", "Published numbers beside ours, with verdicts"
        ),
        tally=table(
            "tally", "Verdicts on the published numbers, by paper and kind of evidence"
        ),
        latex="<results>/tables/tally.tex",
    log:
        "<logs>/check.log",
    benchmark:
        "<benchmarks>/check.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        code=code("study.reproduction.check"),
    script:
        "../scripts/check.py"


rule training_variance:
    """Measure the variance between training runs, and how often two runs of one method differ significantly."""
    input:
        statistics=PLAN.statistics(TRAINED),
    output:
        training_variance=table(
            "training_variance",
            "Training variance, and significant differences between runs of the same method",
        ),
    log:
        "<logs>/training_variance.log",
    benchmark:
        "<benchmarks>/training_variance.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        metrics=PLAN.metrics(TRAINED),
        seed=DRAWN["seed"],
        code=code("study.beyond.training_variance"),
    script:
        "../scripts/training_variance.py"


rule heterogeneity:
    """Estimate how much gains differ between the test sets of a family, and predict the winner on the next one."""
    input:
        statistics=PLAN.statistics(MEASURED),
        families=sheet("families"),
    output:
        heterogeneity=table(
            "heterogeneity",
            "Heterogeneity of gains between the test sets of a family, and how well it predicts the winner on another one",
        ),
    log:
        "<logs>/heterogeneity.log",
    benchmark:
        "<benchmarks>/heterogeneity.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        metrics=PLAN.metrics(MEASURED),
        code=code("study.beyond.heterogeneity"),
    script:
        "../scripts/heterogeneity.py"


rule documents:
    """Measure the effect of documents on the variance and the standard errors of gains."""
    input:
        statistics=PLAN.statistics(MEASURED),
    output:
        documents=table(
            "documents",
            "Effects of documents on the variance and the standard errors of gains",
        ),
    log:
        "<logs>/documents.log",
    benchmark:
        "<benchmarks>/documents.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        metrics=PLAN.metrics(MEASURED),
        seed=DRAWN["seed"],
        code=code("study.beyond.documents"),
    script:
        "../scripts/documents.py"


rule variance_model:
    """Fit the variance model, by which `pairsig plan` predicts how many segments a gain requires."""
    input:
        comparisons=whole(BOTH),
        systems="<results>/tables/systems.tsv",
    output:
        variance_model=table(
            "variance_model",
            "The variance model of `pairsig plan`: the variance of the difference between two systems on one segment is "
            "10⁴ · φ · 2(1 − correlation) · p(1 − p) / √length. The table contains φ by metric, the scatter of test sets "
            "and pairs, and the accuracy on test sets that were left out of the fit",
        ),
    log:
        "<logs>/variance_model.log",
    benchmark:
        "<benchmarks>/variance_model.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        order=BOTH,
        code=code("study.beyond.variance_model"),
    script:
        "../scripts/variance_model.py"


rule today:
    """Test the paper's claims on translation from 2008 to 2024, and on evaluations of language models."""
    input:
        statistics=PLAN.statistics(TODAY),
    output:
        today=table(
            "today",
            "The 2012 paper's claims on translation from 2008 to 2024 and on evaluations of language models",
        ),
        years=table(
            "years",
            "Critical difference of every WMT test set at the size of the paper's, and its two parts",
        ),
    log:
        "<logs>/today.log",
    benchmark:
        "<benchmarks>/today.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        order=TODAY,
        code=code("study.beyond.today"),
    script:
        "../scripts/today.py"


# The tables of this run.
MADE = list(TABLES) if config["tables"] == "all" else config["tables"]
if unknown := set(MADE) - set(TABLES):
    raise WorkflowError(
        f"config: tables: found {sorted(unknown)[0]!r}, expected all or names among {', '.join(TABLES)}"
    )
