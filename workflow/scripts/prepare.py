import sys

from study import corpora

sys.stderr = open(snakemake.log[0], "w")
params = snakemake.params
segments = corpora.read(params.task, params.files, params.options, **params.selection)
corpora.write(params.task, segments, **dict(snakemake.output.items()))
