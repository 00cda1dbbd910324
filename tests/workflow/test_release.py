"""One version: the tag's, that of CITATION.cff, of the recipe for conda, and of what is built."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tomllib

import pytest
import yaml

from running import ROOT

spec = importlib.util.spec_from_file_location("hatch_version", ROOT / "hatch_version.py")
hatch_version = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hatch_version)


@pytest.fixture
def clone(tmp_path):
    """A repository with one commit, that of a version 1.2.3."""
    folder = (tmp_path / "clone").resolve()
    folder.mkdir()
    (folder / "CITATION.cff").write_text("title: x\nversion: 1.2.3\n", encoding="utf-8")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "first")
    return folder


def git(folder, *arguments):
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def test_without_a_tag_it_is_the_cited_one(clone):
    assert hatch_version.of_tag(clone) is None
    assert hatch_version.version(clone) == "1.2.3"
    shutil.rmtree(clone / ".git")  # an archive, a source distribution
    assert hatch_version.version(clone) == "1.2.3"


def test_the_tag_says_it_too(clone):
    git(clone, "tag", "v1.2.3")
    assert hatch_version.of_tag(clone) == hatch_version.version(clone) == "1.2.3"


def test_a_tag_that_says_something_else_stops_the_build(clone):
    git(clone, "tag", "v1.3.0")
    with pytest.raises(ValueError, match=r"the tag says version 1\.3\.0, CITATION\.cff 1\.2\.3: expected the same"):
        hatch_version.version(clone)


def test_other_tags_and_other_repositories_are_none_of_it(clone, monkeypatch):
    git(clone, "tag", "nightly")
    assert hatch_version.of_tag(clone) is None
    git(clone, "tag", "v9.9.9")
    unpacked = clone / "unpacked"
    unpacked.mkdir()
    shutil.copy(clone / "CITATION.cff", unpacked)
    assert hatch_version.version(unpacked) == "1.2.3"
    monkeypatch.setenv("PATH", "")  # no git
    assert hatch_version.version(clone) == "1.2.3"


def test_a_citation_without_version_is_one_sentence(tmp_path):
    (tmp_path / "CITATION.cff").write_text("title: x\n", encoding="utf-8")
    with pytest.raises(ValueError, match="found no version"):
        hatch_version.cited(tmp_path)


def test_versions_are_the_same_everywhere():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    assert hatch_version.version() == str(cited)
    recipe = yaml.safe_load((ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == str(cited)
    assert re.fullmatch(r"\d+\.\d+\.\d+", str(cited))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "hatch_version.py"
    assert {"hatch_version.py", "CITATION.cff"} <= set(project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])


def test_the_recipe_needs_what_the_package_needs():
    recipe = yaml.safe_load((ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {f"python {project['requires-python']}", *(name.replace(">=", " >=") for name in project["dependencies"])}
    assert set(recipe["requirements"]["run"]) == needed
    (entry,) = project["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [" = ".join(entry)]


def test_a_release_is_tried_before_it_is_published():
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))["jobs"]
    assert (jobs["try"]["needs"], jobs["publish"]["needs"]) == ("build", "try")
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    tried = " ".join(step.get("run", "") for step in jobs["try"]["steps"])
    assert "pip install" in tried
    assert "--format sentence" in tried
