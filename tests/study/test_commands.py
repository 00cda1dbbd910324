"""What is found missing in the shell commands of base models, and what is left to the shell."""

import shutil

import pytest
import yaml

from running import ROOT
from study.sheets import commands

BASE_MODELS = yaml.safe_load((ROOT / "config/base_models.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "command",
    [
        "sed 's;a;b;' {train} > {model}",
        "echo '|' nothing-here > {output}",
        "if true; then cat {train} >{model}; fi",
        "mkdir -p {model} && LC_ALL=C sort {train} 2>&1 | uniq >{model}/words",
        "f() { cat; }; f < {train} > {model}",
        "nice -n 5 cat {train} > {model}",
        "$HOME/bin/train {train} {model}",
        "{jars}/train {train} {model}",
        "awk '' {input} > {output}",
        "cat 'unclosed",
        "cat {train} \\\n  > {model}",
    ],
)
def test_commands_that_work_or_are_too_complex(command):
    assert list(commands.missing(command)) == []


@pytest.mark.parametrize("name", BASE_MODELS)
def test_only_the_programs_of_base_models_are_looked_for(name):
    """What is missing here is a program of theirs, never a word that is none."""
    for column in ("train", "predict"):
        for found, _ in commands.missing(BASE_MODELS[name].get(column, "")):
            assert found == "the program java, which is not installed"
            assert shutil.which("java") is None


def test_every_simple_command_is_looked_at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").touch()
    command = "A=1 no-such-a {train} | no-such-b && ./tool {model}; python trian.py; bash train.sh > {model}"
    assert [found.split(", ")[0] for found, _ in commands.missing(command)] == [
        "the program no-such-a", "the program no-such-b", "the program ./tool", "trian.py", "train.sh",
    ]  # fmt: skip
    assert [expected for _, expected in commands.missing("python trian.py")] == ["a file; did you mean train.py?"]


def test_modules_of_the_project():
    assert commands.modules("python -m base_models.itg train", "python -m  study.x; python -m json.tool") == (
        "base_models.itg", "study.x",
    )  # fmt: skip
