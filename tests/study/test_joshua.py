"""Models for Joshua, its configuration, and the reading of its output."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

pytest.importorskip("numba")

from base_models import joshua

TRAINING = "le chat [ noir ] ||| the black [ cat ]\nle chat ||| the cat\nle roi | oui ||| the king | yes\n" * 4
WANTED = "le chat noir\nle [ roi ]\n"
WEIGHTS = {"lm_0": 0.5, "tm_pt_0": 0.1}


@pytest.fixture
def programs(monkeypatch):
    """What Java programs are run with; Joshua prints what it is given, and a language model is a text."""
    ran = []

    def java(jars, program, *arguments, stdin=None, stdout=None):
        ran.append((program.rpartition(".")[2], arguments))
        if "MakeKneserNey" in program:
            arguments[1].write_text(Path(arguments[2]).read_text(encoding="utf-8"), encoding="utf-8")
        elif "MakeLmBinary" in program:
            shutil.copy(*arguments)
        else:
            ran[-1] += (Path(arguments[1]).read_text(encoding="utf-8"),)
            stdout.write(stdin.read())

    monkeypatch.setattr(joshua, "_java", java)
    return ran


COMPILED = pytest.mark.slow  # numba compiles for ten seconds


@pytest.fixture
def trained(tmp_path, programs):
    def train(search, name="model"):
        path = tmp_path / "train.txt"
        path.write_text(TRAINING + WANTED, encoding="utf-8")
        joshua.train(path, tmp_path / name, 1, search=search, jars=tmp_path)
        return tmp_path / name

    return train


@COMPILED
@pytest.mark.parametrize("search", joshua.SHAPES)
def test_a_model_is_the_same_again_and_holds_no_character_that_joshua_reads(trained, search):
    one, other = trained(search), trained(search, "again")
    files = sorted(path.name for path in one.iterdir())
    assert files == ["glue"] * (search == "cky") + ["language_model", "rules"]
    for name in files:
        assert (one / name).read_bytes() == (other / name).read_bytes()
    lines = (one / "rules").read_text(encoding="utf-8").splitlines()
    assert lines
    for line in lines:
        sides = [side for side in line.split(" ||| ") if side != "[X]"][:2]
        assert not any(re.search(r"[\[\]|]", word) for side in sides for word in side.split() if word[:3] != "[X,")
    assert "the black -lsb- cat -rsb-\n" in (one / "language_model").read_text(encoding="utf-8")


@COMPILED
def test_phrases_have_probabilities_and_rules_costs(trained):
    phrases = (trained("stack") / "rules").read_text(encoding="utf-8")
    assert "le ||| the ||| 1 1 1 1\n" in phrases
    rules = (trained("cky", "other") / "rules").read_text(encoding="utf-8")
    assert "[X] ||| le ||| the ||| 0.00000 0.00000 0.00000 0.00000 1\n" in rules
    assert "oui" not in phrases + rules  # nothing that is to be translated has it


@COMPILED
@pytest.mark.parametrize("search", joshua.SHAPES)
def test_joshua_gets_the_model_and_the_weights(trained, tmp_path, programs, search):
    model = trained(search)
    source = tmp_path / "input.txt"
    source.write_text("le [ roi ] | x\n\noui\n", encoding="utf-8")
    joshua.predict(model, source, tmp_path / "out.txt", search=search, weights=WEIGHTS, jars=tmp_path)
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "le [ roi ] | x\n\noui\n"
    name, _, config = programs[-1]
    assert name == "JoshuaDecoder"
    assert f"-path {model}/rules\n" in config
    assert f"-lm_order 4 -lm_file {model}/language_model\n" in config
    assert f"search = {search}\n" in config
    assert config.endswith("lm_0 0.5\ntm_pt_0 0.1\n")
