import sys

from study import inputs
from study.reproduction.threshold_errors import THRESHOLD_ERRORS, threshold_errors
from study.tables.columns import PUBLISHED

sys.stderr = open(snakemake.log[0], "w")
data = inputs.data(snakemake.input.statistics, snakemake.params.metrics)
published = inputs.sheet(snakemake.input.published, PUBLISHED)
errors = threshold_errors(data, published, seed=snakemake.params.seed)
inputs.write(errors, THRESHOLD_ERRORS, snakemake.output.threshold_errors)
