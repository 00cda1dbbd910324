import sys

from study.corpora import counts

sys.stderr = open(snakemake.log[0], "w")
counting = dict(snakemake.params.counting)
# Without a shared file system, the files of the plan are in another folder.
places = dict(zip(counting.pop("files"), snakemake.input.files, strict=True))
counts.count(
    snakemake.wildcards.dataset,
    snakemake.output.statistics,
    provenance=snakemake.params.provenance,
    **counts.placed(counting, places),
)
