import sys

from pairsig.io import tables
from study import inputs
from study.beyond.variance_model import VARIANCE_MODEL, variance_model
from study.reproduction.describe import SYSTEMS

sys.stderr = open(snakemake.log[0], "w")
comparisons = inputs.comparisons(snakemake.input.comparisons)
model = variance_model(comparisons, tables.read(snakemake.input.systems, SYSTEMS))
inputs.write(model, VARIANCE_MODEL, snakemake.output.variance_model)
