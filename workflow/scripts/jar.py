import sys
from pathlib import Path

from study import training

sys.stderr = open(snakemake.log[0], "w")
training.jar(snakemake.params.coordinates, snakemake.params.sha256, Path(snakemake.output.jar))
