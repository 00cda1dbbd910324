import sys

from study import inputs
from study.reproduction.montecarlo import FEW, RUN_TIME, SENTENCES, race

sys.stderr = open(snakemake.log[0], "w")
small, seed = snakemake.params.is_small, snakemake.params.seed
times = race(FEW, n_repeats=2, seed=seed) if small else race(SENTENCES, seed=seed)
inputs.write(times, RUN_TIME, snakemake.output.run_time)
