import sys

from study.corpora import counts

sys.stderr = open(snakemake.log[0], "w")
params, dataset = snakemake.params, snakemake.wildcards.dataset
counts.count(
    snakemake.input.outcomes, snakemake.output.statistics, dataset, provenance=params.provenance, **params.counting
)
