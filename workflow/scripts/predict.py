import sys
from pathlib import Path

from study import training

inputs, output = snakemake.input, Path(snakemake.output.output)
model, given = (Path(path) if path else None for path in (inputs.get("model"), inputs.get("given")))
with training.attempt(snakemake.log[0], snakemake.resources, snakemake.params.attempts) as log:
    sys.stderr = log.file
    if log.reason:
        training.leave_out("predict", log.reason, output)
    else:
        jars, members = training.folder_of(inputs.jars), [Path(path) for path in inputs.members]
        training.predict(
            snakemake.params.command, model, Path(inputs.segments), output, members=members, given=given,
            jars=jars, threads=snakemake.threads,
        )  # fmt: skip
