import sys

from study import inputs
from study.reproduction.montecarlo import RELATIVE_ERROR, approximate

sys.stderr = open(snakemake.log[0], "w")
params = snakemake.params
errors = approximate(
    n_simulated=params.n_simulated, n_sizes=params.n_sizes, seed=params.seed, threads=snakemake.threads
)
inputs.write(errors, RELATIVE_ERROR, snakemake.output.relative_error)
