import sys

from study import inputs
from study.reproduction.thresholds import SIZE_SCALING, size_scaling

sys.stderr = open(snakemake.log[0], "w")
fits = size_scaling(inputs.comparisons(snakemake.input.comparisons), tasks=snakemake.params.tasks)
inputs.write(fits, SIZE_SCALING, snakemake.output.size_scaling, snakemake.config["captions"])
