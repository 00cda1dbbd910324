"""The tools of the environment, run as users run them: in a process of its own, in a folder of its own."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent


def environment(home):
    """What a tool sees of ours: enough to be found, and nothing that is kept at home."""
    return {"PATH": f"{BIN}:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}


def run(*command, cwd, status=0, timeout=600):
    """Run a tool of the environment; returns what it printed. With the status None, any is fine."""
    done = subprocess.run(command, cwd=cwd, env=environment(cwd), capture_output=True, text=True, timeout=timeout)
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def snakemake(*arguments, cwd, status=0, snakefile=ROOT / "Snakefile"):
    """Run the workflow in a folder, which has a configuration of its own."""
    words = ["--cores", "2", "--snakefile", str(snakefile), *map(str, arguments)]
    return run(str(BIN / "snakemake"), *words, cwd=cwd, status=status)


def jobs(printed):
    """The number of jobs of every rule in a plan that Snakemake has printed."""
    return {rule: int(number) for rule, number in re.findall(r"^(\w+) +(\d+)$", printed, re.MULTILINE)}
