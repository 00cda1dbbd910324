import sys

from study import inputs
from study.beyond.training_variance import TRAINING_VARIANCE, training_variance

sys.stderr = open(snakemake.log[0], "w")
data = inputs.data(snakemake.input.statistics, snakemake.params.metrics)
variance = training_variance(data, seed=snakemake.params.seed)
inputs.write(variance, TRAINING_VARIANCE, snakemake.output.training_variance)
