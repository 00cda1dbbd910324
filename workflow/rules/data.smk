"""Verify external data (corpora, system outputs, Java libraries), and count the outputs."""


rule fetch:
    """Verify the checksums of a corpus."""
    input:
        sums=Path(config["data_dir"], "{corpus}", "SHA256SUMS"),
    output:
        verified="results/corpora/{corpus}.sha256",
    log:
        "results/logs/fetch/{corpus}.log",
    benchmark:
        "results/benchmarks/fetch/{corpus}.tsv"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(500),
        runtime=grown(30),
    params:
        sha256=lambda w: study.corpora[w.corpus].sha256,
    shell:
        r"""
        python -m study fetch "$(dirname {input.sums:q})" \
            --sha256 {params.sha256:q} \
            --output {output.verified:q} \
            >{log:q} 2>&1
        """


rule extract:
    """Count the statistics of each segment in the outputs of one system."""
    input:
        files=lambda w: study.systems[w.dataset, w.system].files,
        verified=collect(
            "results/corpora/{corpus}.sha256",
            corpus=lambda w: study.systems[w.dataset, w.system].corpora,
        ),
        library=library("extract"),
    output:
        counts="results/counts/{dataset}/{system}.parquet",
    log:
        "results/logs/extract/{dataset}/{system}.log",
    benchmark:
        "results/benchmarks/extract/{dataset}/{system}.tsv"
    group:
        "extract"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        output=lambda w: study.systems[w.dataset, w.system].output,
        reference=lambda w: study.systems[w.dataset, w.system].reference,
        metric=lambda w: study.systems[w.dataset, w.system].metric,
        options=lambda w: study.systems[w.dataset, w.system].options,
    shell:
        r"""
        python -m pairsig extract {params.output:q} \
            --reference {params.reference:q} \
            --metric {params.metric:q} \
            {params.options:q} \
            --system {wildcards.system:q} \
            --output {output.counts:q} \
            >{log:q} 2>&1
        """


rule jar:
    """Download a Java library for base models."""
    output:
        jar="results/jars/{jar}.jar",
    log:
        "results/logs/jar/{jar}.log",
    benchmark:
        "results/benchmarks/jar/{jar}.tsv"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        coordinates=lambda w: study.jars[w.jar].coordinates,
        sha256=lambda w: study.jars[w.jar].sha256,
    shell:
        r"""
        python -m study jar {params.coordinates:q} \
            --sha256 {params.sha256:q} \
            --output {output.jar:q} \
            >{log:q} 2>&1
        """
