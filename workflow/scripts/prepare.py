import sys

from study import corpora

sys.stderr = open(snakemake.log[0], "w")
prepared = snakemake.params.prepared
segments = corpora.read(prepared["task"], prepared["files"], prepared["options"], **prepared["selection"])
corpora.write(prepared["task"], segments, **dict(snakemake.output.items()))
