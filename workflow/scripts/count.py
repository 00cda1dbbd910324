import sys

from study.corpora import counts

sys.stderr = open(snakemake.log[0], "w")
names = ("reader", "metric", "options", "systems", "provenance")
chosen = {name: getattr(snakemake.params, name) for name in names}
counts.count(snakemake.input.outcomes, snakemake.output.statistics, snakemake.wildcards.dataset, **chosen)
