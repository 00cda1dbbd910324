import sys
from pathlib import Path

from study import training

model, given = Path(snakemake.output.model), snakemake.input.get("given")
with training.attempt(snakemake.log[0], snakemake.resources, snakemake.params.attempts) as log:
    sys.stderr = log.file
    if log.reason:
        training.leave_out_model(model, "train", log.reason)
    else:
        jars = training.folder_of(snakemake.input.jars)
        training.train(
            snakemake.params.command, Path(snakemake.input.resampled), model, seed=snakemake.params.seed,
            given=Path(given) if given else None, jars=jars, threads=snakemake.threads,
        )  # fmt: skip
