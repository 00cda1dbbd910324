"""No command writes over a file that it reads, by whatever name."""

import os

import pytest

from pairsig import cli
from pairsig.io import console


def outputs():
    """Every option that writes a file, with a suffix that it accepts."""
    for command, parser in cli._commands()._commands.choices.items():
        for action in parser._actions:
            if getattr(action.type, "func", action.type) is console.output:
                yield command, action.option_strings[0], action.type.keywords["suffixes"][0]


def words(command, option, path, read):
    """A command with this input and output, and something for everything else that is required."""
    parser = cli._commands()._commands.choices[command]
    found = [command]
    for action in parser._actions:
        if option in action.option_strings:
            found += [option, str(path)]
        elif not action.option_strings:
            found.insert(1, str(read))
        elif action.required:
            value = str(path.with_name(f"other{path.suffix}")) if "output" in action.dest else "x"
            found += [action.option_strings[0], value]
    return found


@pytest.mark.parametrize(
    ("command", "option", "suffix", "kind"),
    [(*output, "name") for output in outputs()]
    + [("compare", "--output", ".csv", kind) for kind in ("path", "symbolic link", "hard link")],
)
def test_an_output_is_no_input(command, option, suffix, kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"f{suffix}"
    content = "1\n0\n"
    if suffix in (".csv", ".tsv"):
        content = "id,system,score\n1,a,1\n2,a,0\n1,b,0\n2,b,0\n".replace(",", "," if suffix == ".csv" else "\t")
    elif suffix == ".json":
        content = '[{"id": 1, "system": "a", "score": 1}, {"id": 1, "system": "b", "score": 0}]'
    path.write_text(content)
    read = path.name
    if kind == "path":
        read = f"../{tmp_path.name}/{path.name}"
    elif kind != "name":
        read = f"link{suffix}"
        (os.symlink if kind == "symbolic link" else os.link)(path, tmp_path / read)
    assert cli.main(words(command, option, path, read)) == 2
    assert f"{path}: found an input as the output, expected another file to write" in capsys.readouterr().err
    assert path.read_text() == content


def test_two_outputs_are_two_files(tmp_path, capsys):
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file in files:
        file.write_text("1\n0\n")
    output = str(tmp_path / "out.csv")
    assert cli.main(["compare", *map(str, files), "--output", output, "--flips", output]) == 2
    assert "as two outputs, expected different files" in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()
