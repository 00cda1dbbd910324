from study import training

inputs, params = snakemake.input, snakemake.params
with training.attempt(snakemake.log[0], snakemake.resources, params.attempts) as failed:
    training.predict(
        params.command, inputs.get("model"), inputs.segments, snakemake.output.output, members=inputs.members,
        given=inputs.get("given"), jars=inputs.jars, threads=snakemake.threads, failed=failed,
    )  # fmt: skip
