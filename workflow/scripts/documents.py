import sys

from study import inputs
from study.beyond.documents import DOCUMENTS, documents

sys.stderr = open(snakemake.log[0], "w")
effects = documents(inputs.data(snakemake.input.statistics, snakemake.params.metrics), seed=snakemake.params.seed)
inputs.write(effects, DOCUMENTS, snakemake.output.documents)
