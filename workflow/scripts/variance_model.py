import sys

from pairsig.io import tables
from study import inputs
from study.beyond.variance_model import VARIANCE_MODEL, VARIANCE_MODEL_ERRORS, variance_model
from study.reproduction.describe import SYSTEMS
from study.tables.columns import OVERLAPS

sys.stderr = open(snakemake.log[0], "w")
comparisons = inputs.comparisons(snakemake.input.comparisons)
systems, overlaps = tables.read(snakemake.input.systems, SYSTEMS), tables.read(snakemake.input.overlaps, OVERLAPS)
model, errors = variance_model(comparisons, systems, overlaps)
captions = snakemake.config["captions"]
inputs.write(model, VARIANCE_MODEL, snakemake.output.variance_model, captions)
inputs.write(errors, VARIANCE_MODEL_ERRORS, snakemake.output.variance_model_errors, captions)
