from study import training

inputs, params = snakemake.input, snakemake.params
given = next(iter(inputs.given), None)
with training.attempt(snakemake.log[0], snakemake.resources, params.attempts) as failed:
    training.train(
        params.command, inputs.resampled, snakemake.output.model, seed=params.seed, given=given, jars=inputs.jars,
        threads=snakemake.threads, failed=failed,
    )  # fmt: skip
