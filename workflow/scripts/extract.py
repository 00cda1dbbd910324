import sys

from study.corpora import counts

sys.stderr = open(snakemake.log[0], "w")
counting = dict(snakemake.params.counting)
(output,) = counts.members(snakemake.input.output, counting.pop("output"))
counts.extract(
    output,
    counts.members(snakemake.input.reference, counting.pop("reference")),
    snakemake.output.counts,
    documents=next(iter(snakemake.input.documents), None),
    system=snakemake.wildcards.system,
    **counting,
)
