import sys

from study import inputs
from study.reproduction.validate import VALIDATION, validate

sys.stderr = open(snakemake.log[0], "w")
validation = validate(inputs.comparisons(snakemake.input.comparisons), snakemake.params.overlays)
inputs.write(validation, VALIDATION, snakemake.output.validation)
