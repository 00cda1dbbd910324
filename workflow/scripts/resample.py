import sys

from pairsig.io import tables
from study import corpora

sys.stderr = open(snakemake.log[0], "w")
task, wildcards = snakemake.params.task, snakemake.wildcards
texts = corpora.cut(task, snakemake.input.segments)
drawn = corpora.resampled(texts, wildcards.training_set, wildcards.resampled, snakemake.params.seed)
for path in snakemake.input.unlabelled:
    drawn += corpora.cut(task, path)
tables.write_text(corpora.join(task, drawn), snakemake.output.resampled)
