"""Plans of Snakemake, many of them from one process that has imported it once.

`python tests/planning.py` reads one line per run, a JSON list of arguments, and forks for each. It answers with what
Snakemake prints, as JSON. `Planner` talks to it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from running import environment, jobs


class Planner:
    """Plan runs in a project whose files can be edited in between."""

    def __init__(self, project: Path) -> None:
        """Start the process that imports Snakemake."""
        self.project = project
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            cwd=project,
            env=environment(project),
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> Planner:
        """Return the planner."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.process.communicate()

    def run(self, *arguments: str, status: int = 0) -> str:
        """Run Snakemake; returns what it prints."""
        self.process.stdin.write(json.dumps(arguments) + "\n")
        self.process.stdin.flush()
        exit_status, printed = json.loads(self.process.stdout.readline())
        assert exit_status == status, printed
        return printed

    def pretend(self, *arguments: str) -> None:
        """Make empty files of all outputs, and let Snakemake record how it would have made them."""
        for line in self.run("--summary", *arguments).splitlines():
            path = self.project / line.partition("\t")[0]
            if line.startswith("results/") and not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch() if path.suffix else path.mkdir()
        self.run("--cores", "1", "--touch", "--forceall", *arguments)
        assert "Nothing to be done" in self.run("--dry-run", *arguments)

    def plan(self, *arguments: str) -> tuple[dict[str, int], set[str]]:
        """Plan a run; returns the number of jobs of each rule, and the rules that do not only run since others do.

        Snakemake does not look for a reason of a job whose inputs are made again.
        """
        printed = self.run("--dry-run", *arguments)
        reasons = re.findall(r"^ *rule (\w+):\n(?:.+\n)*? *reason: (.+)", printed, re.MULTILINE)
        only_others = re.compile("Input files updated by another job: [^;]*")
        return jobs(printed), {rule for rule, reason in reasons if not only_others.fullmatch(reason)}


def serve() -> None:
    """Read arguments and answer, until the input ends."""
    from snakemake.cli import main

    from study.sheets import code

    for command in ("page", "resize", "site", "variance_model"):  # remembers most of the code
        code.of(command)
    for line in sys.stdin:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            for stream in (1, 2):
                os.dup2(writing, stream)
            sys.argv[1:] = json.loads(line)
            main()
            os._exit(1)  # it exits itself
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as pipe:
            printed = pipe.read()
        _, status = os.waitpid(child, 0)
        print(json.dumps([os.waitstatus_to_exitcode(status), printed]), flush=True)


if __name__ == "__main__":
    serve()
