"""The workflow without a shared file system: every job starts in an empty folder, with files on a local S3 server.

It requires `.venv/bin/python -m pip install --editable ".[cloud]"`.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from running import BIN, ROOT, environment, run, snakemake

boto3 = pytest.importorskip("boto3")
pytest.importorskip("moto", reason="moto, a local S3 server, is not installed")
pytest.importorskip("snakemake_storage_plugin_s3")

TARGETS = ("comparisons/tac08.parquet", "comparisons/hansards.parquet", "tables/thresholds.tsv", "figures/figure_2.svg")
TARGETS = tuple(f"results/quick/{name}" for name in TARGETS)
KEYS = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}


@pytest.fixture
def bucket(tmp_path):
    """A bucket on a server of its own, with what the workflow reads."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    client = boto3.client(
        "s3", endpoint_url=address, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    for _ in range(100):
        try:
            client.create_bucket(Bucket="study")
            break
        except Exception:
            time.sleep(0.2)
    for path in (
        *ROOT.glob("config/*.tsv"),
        *(ROOT / f"resources/statistics/{n}.parquet" for n in ("tac08", "hansards")),
    ):
        client.upload_file(str(path), "study", path.relative_to(ROOT).as_posix())
    yield address, client
    server.kill()
    server.wait()


@pytest.mark.slow
def test_jobs_in_empty_folders_give_the_same_bytes(bucket, tmp_path):
    address, client = bucket
    clone = tmp_path / "clone"
    run("git", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", str(clone), cwd=tmp_path)
    settings = ["--configfile", "config/quick.yaml", "--config", "datasets=[tac08,hansards]"]
    snakemake(*settings, "--", *TARGETS, cwd=clone, snakefile="Snakefile")
    expected = {name: (clone / name).read_bytes() for name in TARGETS}
    run("git", "clean", "-fdxq", cwd=clone)
    profile = ["--workflow-profile", "workflow/profiles/cloud", "--default-storage-prefix", "s3://study"]
    storage = ["--storage-s3-endpoint-url", address, "--storage-s3-access-key", "a", "--storage-s3-secret-key", "b"]
    remote = ["--executor", "emptyfolder", "--jobs", "2", "--seconds-between-status-checks", "1"]
    command = [str(BIN / "snakemake"), *settings, *profile, *remote, *storage, "--", *TARGETS]
    plugins = {"PYTHONPATH": str(ROOT / "tests/workflow/plugins"), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        command, cwd=clone, env=environment(tmp_path) | KEYS | plugins, capture_output=True, text=True, timeout=600
    )
    logs = "\n".join(path.read_text() for path in Path(tmp_path).glob("job-*.log")) if done.returncode else ""
    assert done.returncode == 0, done.stdout + done.stderr + logs
    for name, content in expected.items():
        assert not (clone / name).exists()
        assert client.get_object(Bucket="study", Key=name)["Body"].read() == content, name
