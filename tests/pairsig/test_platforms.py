"""What works on Linux works elsewhere: text is UTF-8 whatever the locale, and the library wants no one system."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys

from running import ROOT

ONLY_UNIX = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix", "syslog", "curses", "readline"}
OF_UNIX = {
    "fork", "sched_getaffinity", "getuid", "geteuid", "mkfifo", "killpg", "setsid", "getpgid", "statvfs", "uname",
}  # fmt: skip


def sources():
    return sorted((ROOT / "src/pairsig").rglob("*.py"))


def test_the_library_imports_nothing_that_only_unix_has():
    for path in sources():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            named += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            assert not ONLY_UNIX & {name.partition(".")[0] for name in named}, path
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                assert node.attr not in OF_UNIX, path


STRICT = """\
import json, sys, warnings
warnings.filterwarnings("error", category=EncodingWarning, module=r"(pairsig|study)\\b")
from pairsig import cli
from pairsig.io.tables import read
for step in json.loads(sys.argv[1]):
    print(step, file=sys.stderr, flush=True)
    if status := cli.main(step):
        sys.exit(status)
"""


def strictly(steps, cwd):
    """Commands in a Python that reads and writes ASCII if nobody says otherwise, and stops where nobody does."""
    locale = ("LC_", "LANG", "PYTHONIO")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(locale)}
    return subprocess.run(
        [sys.executable, "-X", "utf8=0", "-X", "warn_default_encoding", "-c", STRICT, json.dumps(steps)],
        cwd=cwd,
        capture_output=True,
        timeout=300,
        check=False,
        env=environment | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    )


def test_every_file_is_opened_with_its_encoding(tmp_path):
    texts = {"a": "Größe ça 猫\nnaïve\n", "b": "Größe ça 犬\nnaive\n", "ref": "Größe ça 猫\nnaïf\n"}
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text(lines * 6, encoding="utf-8")
    documents = "".join(f"Wörter\tSeite {number // 2}\n" for number in range(12))
    (tmp_path / "documents.tsv").write_text(documents, encoding="utf-8")
    extracted = ["--reference", "ref.txt", "--metric", "bleu", "--document-file", "documents.tsv"]
    steps = [
        ["compare", "a.txt", "b.txt", *extracted, "--n-resamples", "200", "--unit", "document"],
        ["compare", "a.txt", "b.txt", *extracted, "--n-resamples", "200", "--output", "pairs.tsv"],
        ["rank", "a.txt", "b.txt", *extracted, "--n-resamples", "200", "--pairs", "ranked.csv"],
        ["plan", "--metric", "bleu", "--score", "35", "--length", "25", "--correlation", "0.7", "--gain", "1"],
    ]
    ended = strictly(steps, tmp_path)
    assert ended.returncode == 0, ended.stderr.decode()
    assert b"\r" not in (tmp_path / "pairs.tsv").read_bytes()
