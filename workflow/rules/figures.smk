"""Figures: config/figures.yaml has one entry for each. A figure is an SVG for the report, and a PNG for pages."""

PAIRS = ("gain_confidence", "full_sets", "sizes", "domains")
FIGURES = [
    name
    for name, entry in config["figures"].items()
    if {*entry.get("tables", [entry.get("dataset")])} <= {*PLAN.selected, *MADE}
]


def entry(key):
    """The value of a key of the entry of a figure."""
    return lookup(dpath=f"{{figure}}/{key}", within=config["figures"])


def of_dataset(folder):
    """Comparisons of the dataset of a figure."""
    path = f"<results>/{folder}/{{dataset}}.parquet"
    return collect(path, dataset=entry("dataset"))


def overlay(wildcards):
    """The published systems that are drawn over retrained ones, if they are part of the run."""
    name = DATASETS[config["figures"][wildcards.figure]["dataset"]].get("overlay")
    shown = [name] if name in PLAN.selected else []
    return collect("<results>/comparisons/{dataset}.parquet", dataset=shown)


def of_kind(*kinds):
    """A regular expression that matches the figures of these kinds."""
    entries = config["figures"].items()
    return one_of(name for name, entry in entries if entry["kind"] in kinds)


def in_report():
    """A figure with its caption and its title, which else is how the caption begins."""

    def labels(wildcards):
        of_figure = config["figures"][wildcards.figure]
        begins = re.split(r"[,:;(]|\. ", of_figure["caption"])[0].strip()
        return {"figure": wildcards.figure, "title": of_figure["title"] or begins}

    path = "<results>/figures/{figure}.svg"
    return report(
        path, caption="../report/figure.rst", category="1. Figures", labels=labels
    )


rule confidence:
    """Draw confidence against gain for the pairs of a dataset (the paper's Figures 2 to 11)."""
    input:
        comparisons=branch(
            entry("kind"), cases={"domains": []}, otherwise=of_dataset("comparisons")
        ),
        test_sets=branch(
            entry("kind"),
            cases=dict.fromkeys(("sizes", "domains"), of_dataset("test_sets")),
            otherwise=[],
        ),
        overlay=overlay,
        published=sheet("published"),
    output:
        svg=in_report(),
        png="<results>/figures/{figure}.png",
    log:
        "<logs>/figures/{figure}.log",
    wildcard_constraints:
        figure=of_kind(*PAIRS),
    conda:
        "../envs/pairsig.yaml"
    params:
        shown=lookup(dpath="{figure}", within=config["figures"]),
        window=config["window"],
        code=code("study.figures.confidence", "study.reproduction.thresholds"),
    script:
        "../scripts/confidence.py"


rule of_tables:
    """Draw a figure from tables of analyses; its entry names the function and the tables."""
    input:
        tables=collect("<results>/tables/{table}.tsv", table=entry("tables")),
    output:
        svg=in_report(),
        png="<results>/figures/{figure}.png",
    log:
        "<logs>/figures/{figure}.log",
    wildcard_constraints:
        figure=of_kind("of_tables"),
    conda:
        "../envs/pairsig.yaml"
    params:
        shown=lookup(dpath="{figure}", within=config["figures"]),
        code=lambda wildcards: code(
            f"study.figures.{config['figures'][wildcards.figure]['function'].partition('.')[0]}"
        ),
    script:
        "../scripts/of_tables.py"
