import sys

from study.corpora import counts

sys.stderr = open(snakemake.log[0], "w")
names = ("metric", "reader", "options", "output_options", "group", "kind")
counts.extract(
    counts.members(snakemake.input.output, snakemake.params.members)[0],
    counts.members(snakemake.input.reference, snakemake.params.of_references),
    snakemake.output.counts,
    documents=next(iter(snakemake.input.documents), None),
    system=snakemake.wildcards.system,
    **{name: getattr(snakemake.params, name) for name in names},
)
