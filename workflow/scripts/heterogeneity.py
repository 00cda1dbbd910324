import sys

from study import inputs
from study.beyond.heterogeneity import HETEROGENEITY, heterogeneity
from study.tables.columns import FAMILIES

sys.stderr = open(snakemake.log[0], "w")
data = inputs.data(snakemake.input.statistics, snakemake.params.metrics)
estimates = heterogeneity(data, inputs.sheet(snakemake.input.families, FAMILIES))
inputs.write(estimates, HETEROGENEITY, snakemake.output.heterogeneity)
