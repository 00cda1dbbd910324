"""What the documents say is what happens: every command and every Python block is run."""

import contextlib
import importlib.util
import io
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

import pairsig
from pairsig import cli
from pairsig.planning.heterogeneity import families

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parents[1] / "data/coming_from"


def blocks(document, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), flags=re.DOTALL)


def commands(document):
    lines = (line for block in blocks(document, "bash") for line in block.splitlines())
    return [line.split("#")[0].strip() for line in lines if line.startswith("pairsig ")]


LOGS = Path(__file__).parents[1] / "data/evaluation_logs"
EXAMPLE = ROOT / "config/example"


@pytest.fixture
def files(tmp_path):
    """The folder in which the commands of the documents are run."""
    parts = ("inspect", "helm", "swebench", "translation")
    for path in [*DATA.iterdir(), *(path for part in parts for path in (LOGS / part).iterdir())]:
        if path.suffix != ".py" and path.name != "reported.json":
            (tmp_path / path.name).symlink_to(path)
    for name in "ab":
        (tmp_path / f"out-{name}").symlink_to(LOGS / "lm_eval" / name)
    return tmp_path


PAGES = ("docs/coming-from.md", "docs/logs.md", "docs/report.md")


@pytest.mark.parametrize("command", [command for page in PAGES for command in commands(page)])
def test_commands_work_as_written(command, files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    assert cli.main(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    assert "[95 %]" in capsys.readouterr().out


def test_the_output_in_the_readme_is_what_the_command_prints(monkeypatch, capsys):
    monkeypatch.chdir(EXAMPLE)
    (command,) = commands("README.md")
    (printed,) = (block for block in blocks("README.md", "text") if "randomization" in block)
    assert cli.main(shlex.split(command)[1:]) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == printed.splitlines()


def run_python(page):
    """Run the one block of Python on a page, and return it."""
    (code,) = blocks(page, "python")
    exec(compile(code, page, "exec"), {})
    return code


def test_python_in_the_readme_runs(capsys):
    run_python("README.md")
    assert capsys.readouterr().out.splitlines()[-1] == "0.25"


def test_python_in_the_page_on_own_metrics_runs():
    assert run_python("docs/own-metric.md").count("assert ") == 2


def load(name):
    """A module of the folder of the documentation, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


executed = load("executed")


def test_an_example_that_prints_something_else_is_reported():
    text = "---\nexecuted-in: config/example\n---\n\n```console\n$ pairsig compare baseline.txt\n0.05\n```\n"
    (message,) = executed.differences(text)
    assert "found an unknown format" in message
    page = "---\nexecuted-in: config/example\n---\n```bash\npairsig compare tuned.txt\n```\n"
    (message,) = executed.differences(page)
    assert "found an unknown format" in message
    page = page.replace(
        "compare tuned.txt", "compare tuned.txt other.txt --reference reference.txt --metric ter --test exact"
    )
    assert list(executed.differences(page)) == []
    (message,) = executed.differences(f"{page}\n```text\nno table\n```\n")
    assert "expected\nno table" in message
    (message,) = executed.differences("```python\n>>> 1 + 1\n3\n\n```\n")
    assert "Got:\n    2" in message
    assert list(executed.differences("```console\n$ echo a \\\n  b\na b\n$ false || echo c\nc\n```\n")) == []
    assert len(list(executed.differences("```console\n$ false\n```\n"))) == 1


def test_links_between_files_become_links_between_pages(tmp_path):
    generated = load("generated")
    page = ROOT / "docs" / "cluster.md"
    assert generated.linked("[a](../README.md#folders), [b](ranks.md)", page) == "[a](index.md#folders), [b](ranks.md)"
    assert generated.linked("[c](../config/README.md#configyaml)", page) == "[c](made/configuration.md#configyaml)"
    assert generated.linked("[d](https://a.b/c), [e](#f)", page) == "[d](https://a.b/c), [e](#f)"
    made = ROOT / "docs/made/configuration.md"
    assert generated.linked("[g](../docs/made/tables.md)", made, ROOT / "config/README.md") == "[g](tables.md)"


def test_every_option_is_in_the_page_of_the_command_line():
    text = load("generated").command_line()
    names = re.findall(r"^## pairsig ([a-z-]+)$", text, re.MULTILINE)
    assert {"compare", "gate", "rank", "plan", "all-pairs", "transfer"} <= set(names)
    for name in names:
        section = text.split(f"## pairsig {name}\n")[1].split("\n## ")[0]
        with pytest.raises(SystemExit), contextlib.redirect_stdout(io.StringIO()) as printed:
            cli.main([name, "--help", "all"])
        options = set(re.findall(r"^  (--[a-z-]+)", printed.getvalue(), re.MULTILINE))
        assert options <= set(re.findall(r"--[a-z-]+", section))
        assert "For example, in an empty folder:" in section


@pytest.mark.parametrize("code", blocks("docs/coming-from.md", "python"))
def test_python_in_coming_from_runs(code, tmp_path, monkeypatch):
    """The files that it converts have the fields that their programs document."""
    import numpy as np

    monkeypatch.chdir(tmp_path)
    verdicts = [{"instruction": f"i{k}", "preference": 1 + k % 2} for k in range(4)]
    Path("annotations.json").write_text(json.dumps(verdicts), encoding="utf-8")
    events = [{"type": "match", "sample_id": f"s.{k}", "data": {"correct": k > 1}} for k in range(4)]
    lines = [{"spec": {}}, *events]
    Path("model-a.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    columns = 2 if "accuracy" in code else 3
    counts = {"a": np.ones((4, columns), dtype=int), "b": np.ones((4, columns), dtype=int)}
    counts["b"][0, 0] = 0
    exec(compile(f"import pairsig\n{code}", "coming-from.md", "exec"), counts)
    for path in Path().glob("*.csv"):
        assert cli.main(["compare", str(path), str(path), "--test", "exact"]) == 2  # one file is given twice
        shutil.copy(path, "other.csv")
        assert cli.main(["compare", str(path), "other.csv", "--test", "exact"]) == 0


def test_python_in_the_page_on_documents_prints_what_it_says(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    said = re.findall(r"# ([\d.]+):", run_python("docs/documents.md"))
    assert [f"{float(line):.4f}" for line in capsys.readouterr().out.split()] == said


def test_the_table_of_families_is_that_of_the_library():
    rows = re.findall(r"^\| `(\w[\w-]*)` \|.*$", (ROOT / "docs/next-test-set.md").read_text(encoding="utf-8"), re.M)
    assert rows == [one.family for one in families()]
    for line in (ROOT / "docs/next-test-set.md").read_text(encoding="utf-8").splitlines():
        for one in families():
            if line.startswith(f"| `{one.family}`"):
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                assert cells[1:4] == [one.about, one.metric, f"{one.n_test_sets}, {one.n_systems}"]
                assert cells[4].split()[0] == f"{one.effective_sample_size:,.0f}"
                assert cells[5:7] == [f"{100 * one.predicted_iid:.0f} %", f"{100 * one.predicted:.0f} %"]
                assert cells[7].split()[0] == f"{100 * one.replicated:.0f}"


def test_python_in_the_page_on_data_frames_prints_what_it_says(capsys):
    pytest.importorskip("polars")
    run_python("docs/dataframes.md")
    (printed,) = blocks("docs/dataframes.md", "text")
    assert capsys.readouterr().out == printed


def test_every_public_name_has_a_page_in_the_reference():
    listed = re.findall(r"^   (pairsig\.\w+)$", (ROOT / "docs/api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(f"pairsig.{name}" for name in pairsig.__all__ if name != "__version__")


def test_pictures_that_a_page_draws_are_kept(tmp_path):
    page = "---\nexecuted-in: config/example\n---\n```bash\n"
    page += "pairsig compare baseline.txt tuned.txt --reference reference.txt "
    page += "--metric ter --plot exact.svg\n```\n"
    assert list(executed.differences(page, tmp_path)) == []
    assert [path.name for path in tmp_path.iterdir()] == ["exact.svg"]


def test_the_readme_plans_what_the_command_plans(capsys):
    assert cli.main(["plan", "--metric", "bleu", "--score", "35", "--gain", "0.5", "--length", "25"]) == 0
    planned = re.search(r"[\d,]+ \[[\d,]+, [\d,]+\]", capsys.readouterr().out)[0]
    assert f"about {planned} for 0.5 BLEU at 35 BLEU" in (ROOT / "README.md").read_text(encoding="utf-8")
