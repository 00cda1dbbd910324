import sys

from study import inputs
from study.reproduction.describe import SYSTEMS, describe

sys.stderr = open(snakemake.log[0], "w")
systems = describe(inputs.data(snakemake.input.statistics, snakemake.params.metrics))
inputs.write(systems, SYSTEMS, snakemake.output.systems)
