import sys
from pathlib import Path

from pairsig.io import tables
from study import corpora

sys.stderr = open(snakemake.log[0], "w")
verified = corpora.verify(Path(snakemake.input.sums).parent, snakemake.params.sha256)
tables.write_text("".join(f"{digest}  {name}\n" for name, digest in verified.items()), snakemake.output.verified)
