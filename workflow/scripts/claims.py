import sys

from study import inputs
from study.analysis.pairs import Window
from study.reproduction.claims import CLAIMS, claims

sys.stderr = open(snakemake.log[0], "w")
found = claims(
    inputs.comparisons(snakemake.input.comparisons),
    inputs.data(snakemake.input.statistics, snakemake.params.metrics),
    window=Window(**snakemake.params.window),
    n_resamples=snakemake.params.n_resamples,
    seed=snakemake.params.seed,
    threads=snakemake.threads,
)
inputs.write(found, CLAIMS, snakemake.output.claims)
