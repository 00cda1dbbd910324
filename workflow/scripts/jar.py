import sys
from pathlib import Path

from study import training

sys.stderr = open(snakemake.log[0], "w")
training.jar(snakemake.params.row["coordinates"], snakemake.params.row["sha256"], Path(snakemake.output.jar))
