import sys

from study import inputs
from study.beyond.training_variance import BETTER_METHOD, TRAINING_VARIANCE, training_variance

sys.stderr = open(snakemake.log[0], "w")
data = inputs.data(snakemake.input.statistics, snakemake.params.metrics)
variance, better = training_variance(data, seed=snakemake.params.seed)
captions = snakemake.config["captions"]
inputs.write(variance, TRAINING_VARIANCE, snakemake.output.training_variance, captions)
inputs.write(better, BETTER_METHOD, snakemake.output.better_method, captions)
