"""Analyses: tables from comparisons and counts, one rule each.

Snakemake compares inputs as a set; the order of the rows of a table is a param.
"""

# Datasets without pools; of text (no published outcomes); of base models; of text without pools.
MEASURED = [name for name in PLAN.selected if "pool" not in DATASETS[name]]
TEXT = [name for name in PLAN.selected if DATASETS[name]["study"] != "benchmark"]
TRAINED = [name for name in MEASURED if DATASETS[name]["study"] == "synthetic"]
MODELLED = [name for name in MEASURED if name in TEXT]

# Datasets that some claims are tested on: one or two per task, and later ones.
CLAIMED = """
    realsumm hansards-synthetic hansards-110 conll2018-en_ewt ewt-test icepahc-modern mt-hansards wmt10-de-en
    wmt21-de-en wmt23-ja-en wmt24-en-de
""".split()
CLAIMED = [name for name in CLAIMED if name in PLAN.selected]

# Translation by year, and evaluations of language models with categories.
LATER = re.compile(r"wmt\d\d-..-..|mmlu-pro|livebench|bfcl|llmbar")
LATER = [name for name in MEASURED if LATER.fullmatch(name)]

# Datasets whose thresholds stand beside printed ones, with addresses such as threshold:realsumm:all.
ADDRESSES = [row.get("compared_with", "") for row in PLAN.sheets["published"].values()]
PRINTED = [
    name
    for name in PLAN.selected
    if any(address.startswith(f"threshold:{name}:") for address in ADDRESSES)
]


rule describe:
    """Count the systems of every dataset, with their scores."""
    input:
        statistics=PLAN.statistics(PLAN.selected),
    output:
        systems=table("systems"),
    log:
        "<logs>/describe.log",
    benchmark:
        "<benchmarks>/describe.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        metrics=metrics(PLAN.selected),
        code=code("study.reproduction.describe"),
    script:
        "../scripts/describe.py"


rule thresholds:
    """Estimate critical differences and thresholds (section 3.1.1), and how they fall with the size (section 4.1)."""
    input:
        comparisons=comparisons(PLAN.selected),
    output:
        thresholds=table("thresholds"),
        size_scaling=table("size_scaling"),
    log:
        "<logs>/thresholds.log",
    benchmark:
        "<benchmarks>/thresholds.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        order=PLAN.selected,
        tasks={name: DATASETS[name]["task"] for name in MEASURED},
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
        threshold_errors=table("threshold_errors"),
    log:
        "<logs>/threshold_errors.log",
    benchmark:
        "<benchmarks>/threshold_errors.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        metrics=metrics(PRINTED),
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
        calibration=table("calibration"),
        table_1=table("table_1"),
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
        validation=table("validation"),
    log:
        "<logs>/validate.log",
    benchmark:
        "<benchmarks>/validate.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        order=PLAN.selected,
        overlays={
            name: row["overlay"] for name, row in DATASETS.items() if "overlay" in row
        },
        code=code("study.reproduction.validate"),
    script:
        "../scripts/validate.py"


rule claims:
    """Test smaller claims of the papers, and find reasons for differences between their numbers and ours."""
    input:
        comparisons=comparisons(TEXT),
        statistics=PLAN.statistics(CLAIMED),
    output:
        claims=table("claims"),
    log:
        "<logs>/claims.log",
    benchmark:
        "<benchmarks>/claims.tsv"
    conda:
        "../envs/pairsig.yaml"
    threads: 2
    params:
        order=TEXT,
        metrics=metrics(CLAIMED),
        window=config["window"],
        n_resamples=min(DRAWN["n_resamples"], 100_000),
        seed=DRAWN["seed"],
        code=code("study.reproduction.claims"),
    script:
        "../scripts/claims.py"


rule approximate:
    """Measure the relative error of Monte Carlo p-values on simulated systems (exact-test paper, Figure 3)."""
    output:
        relative_error=table("relative_error"),
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
        run_time=table("run_time"),
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
        reproduction=table("reproduction"),
        tally=table("tally"),
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
        training_variance=table("training_variance"),
    log:
        "<logs>/training_variance.log",
    benchmark:
        "<benchmarks>/training_variance.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        metrics=metrics(TRAINED),
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
        heterogeneity=table("heterogeneity"),
    log:
        "<logs>/heterogeneity.log",
    benchmark:
        "<benchmarks>/heterogeneity.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        metrics=metrics(MEASURED),
        code=code("study.beyond.heterogeneity"),
    script:
        "../scripts/heterogeneity.py"


rule documents:
    """Measure the effect of documents on the variance and the standard errors of gains."""
    input:
        statistics=PLAN.statistics(MEASURED),
    output:
        documents=table("documents"),
    log:
        "<logs>/documents.log",
    benchmark:
        "<benchmarks>/documents.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        metrics=metrics(MEASURED),
        seed=DRAWN["seed"],
        code=code("study.beyond.documents"),
    script:
        "../scripts/documents.py"


rule variance_model:
    """Fit the variance model, by which `pairsig plan` predicts how many segments a gain requires."""
    input:
        comparisons=collect("<results>/comparisons/{dataset}.parquet", dataset=MODELLED),
        systems="<results>/tables/systems.tsv",
    output:
        variance_model=table("variance_model"),
    log:
        "<logs>/variance_model.log",
    benchmark:
        "<benchmarks>/variance_model.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        order=MODELLED,
        code=code("study.beyond.variance_model"),
    script:
        "../scripts/variance_model.py"


rule today:
    """Test the paper's claims on translation from 2008 to 2024, and on evaluations of language models."""
    input:
        statistics=PLAN.statistics(LATER),
    output:
        today=table("today"),
        years=table("years"),
    log:
        "<logs>/today.log",
    benchmark:
        "<benchmarks>/today.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        order=LATER,
        code=code("study.beyond.today"),
    script:
        "../scripts/today.py"


# The tables of this run.
MADE = TABLES if config["tables"] == "all" else config["tables"]
check_tables("tables", MADE)
for name, entry in config["figures"].items():
    check_tables(f"figures: {name}: tables", entry.get("tables", []))
