import sys

from study import inputs
from study.reproduction.thresholds import THRESHOLDS, thresholds

sys.stderr = open(snakemake.log[0], "w")
estimates = thresholds(inputs.comparisons(snakemake.input.comparisons), tasks=snakemake.params.tasks)
inputs.write(estimates, THRESHOLDS, snakemake.output.thresholds, snakemake.config["captions"])
