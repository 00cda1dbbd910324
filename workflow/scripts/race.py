import sys

from study import inputs
from study.reproduction.montecarlo import FEW, RUN_TIME, SENTENCES, race

sys.stderr = open(snakemake.log[0], "w")
times = race(FEW if snakemake.params.is_small else SENTENCES, seed=snakemake.params.seed)
inputs.write(times, RUN_TIME, snakemake.output.run_time, snakemake.config["captions"])
