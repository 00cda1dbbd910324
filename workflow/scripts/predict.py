from study import training

inputs, params = snakemake.input, snakemake.params
model, given = next(iter(inputs.model), None), next(iter(inputs.given), None)
with training.attempt(snakemake.log[0], snakemake.resources, params.attempts) as failed:
    training.predict(
        params.command, model, inputs.segments, snakemake.output.output, members=inputs.members, given=given,
        jars=inputs.jars, threads=snakemake.threads, failed=failed,
    )  # fmt: skip
