"""Code is an input of the rules: the lists hold what a command imports, and an edit of it plans the command again."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from running import ROOT
from study import analysis
from study.sheets import code

RULES = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "workflow" / "rules").glob("*.smk")))
COMMANDS = sorted({*re.findall(r"python -m (?:pairsig|study) ([\w-]+)", RULES), *analysis.MODULES})
FIXED = {"fetch", "jar"}
"""Commands whose output a checksum fixes, whatever their code."""


def names(paths):
    return {path.relative_to(code.SOURCES).as_posix() for path in paths}


def test_every_rule_has_the_code_of_its_command():
    for rule in re.split(r"^ *(?:use )?rule\b", RULES, flags=re.MULTILINE)[1:]:
        command = re.search(r"python -m (?:pairsig|study) ([\w-]+)", rule)
        if command and command[1] not in FIXED:
            assert re.search(r'library\(\s*"([\w-]+)"', rule)[1] == command[1]
        assert "python -m study {params.command}" not in rule or "library=library(name)" in rule


def test_no_list_is_empty():
    for command in COMMANDS:
        found = names(code.of(command))
        assert "pairsig/io/errors.py" in found, command
        assert not {"pairsig/cli.py", "study/cli.py"} & found, command


LOADED = """
import runpy, sys
package = sys.argv[1]
sys.argv = sys.argv[1:]
try:
    runpy.run_module(package, run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
print(*(module.__file__ for name, module in sys.modules.items() if name.startswith(("pairsig.", "study."))), sep="\\n")
"""

COUNTS = "system\tsegment\tvalue\n" + "".join(f"{s}\t{i}\t{(i * s) % 3 % 2}\n" for s in (1, 2) for i in range(1, 9))


@pytest.mark.parametrize(
    "command",
    [
        "pairsig all-pairs counts.tsv --metric mean --n-resamples 10 --output out.tsv",
        "pairsig extract a.txt --reference a.txt --metric bleu --system a --output out.parquet",
        "study prepare a.txt --task constituency --output out.txt",
    ],
)
def test_what_a_command_loads_is_in_its_list(command, tmp_path):
    argv = command.split()
    (tmp_path / "counts.tsv").write_text(COUNTS, encoding="utf-8")
    (tmp_path / "a.txt").write_text("(TOP (S (NP (PRP it)) (VP (VBZ works))))\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", LOADED, *argv], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = names(Path(path) for path in done.stdout.splitlines() if path.startswith(str(code.SOURCES)))
    assert "pairsig/io/errors.py" in loaded
    left_out = {f"{package}/{file}.py" for package in code.PACKAGES for file in ("cli", "io/console", "__main__")}
    left_out |= {"pairsig/core/definitions.py", "pairsig/readers/__init__.py"}  # the help prints formulas and readers
    left_out.add("study/analysis/__init__.py")  # a list of names
    assert loaded - left_out <= names(code.of(argv[1]))


def test_lists_are_transitive():
    # `compare` imports `all_pairs`, which imports `engine`, which imports `random_streams`.
    imported = ("comparisons/all_pairs", "core/engine", "core/random_streams", "stats/paired", "io/tables")
    assert {f"pairsig/{name}.py" for name in imported} <= names(code.of("all-pairs"))
    # Modules that are imported when they are chosen.
    assert {"pairsig/readers/outputs/conllu.py", "pairsig/metrics/translation.py"} <= names(code.of("extract"))
    for command in ("collect", "extract"):  # counts of outputs do not depend on logs
        assert not any("readers/logs/" in name for name in names(code.of(command)))
    assert "study/corpora/alignment.py" in names(code.of("prepare"))
    assert not {"study/figures/style.py", "study/reproduction/thresholds.py"} & names(code.of("all-pairs"))


def test_base_models_are_code_of_their_own():
    alone, with_it = (names(code.of("train", *programs)) for programs in ([], ["base_models.joint_hmm"]))
    assert alone < with_it
    assert {"base_models/joint_hmm.py", "base_models/formats.py"} <= with_it - alone
    other = names(code.of("train", "base_models.mst"))
    assert "base_models/mst.py" in other
    unused = ("base_models/joint_hmm.py", "study/reproduction/", "study/beyond/", "study/corpora/")
    assert not [name for name in other if name.startswith(unused)]


def test_an_analysis_has_one_name():
    """Module, command and rule are called the same, and the rule depends on the module."""
    for name in (name for name, record in analysis.every().items() if record.function):
        module = f"{analysis.MODULES[name].replace('.', '/')}.py"
        assert module in names(code.of(name)) == names(code.of(name.replace("_", "-")))
