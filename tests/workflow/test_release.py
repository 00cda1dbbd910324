"""One version: that of the package, of CITATION.cff and of the recipe for conda."""

from __future__ import annotations

import re
import tomllib

import yaml

import pairsig
from running import ROOT


def test_versions_are_the_same_everywhere():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    assert pairsig.__version__ == str(cited)
    recipe = yaml.safe_load((ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == str(cited)
    assert re.fullmatch(r"\d+\.\d+\.\d+", str(cited))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["readme", "version"]
    assert project["tool"]["hatch"]["version"] == {"path": "src/pairsig/__init__.py"}
    assert "CITATION.cff" in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]


def test_the_recipe_needs_what_the_package_needs():
    recipe = yaml.safe_load((ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {f"python {project['requires-python']}", *(name.replace(">=", " >=") for name in project["dependencies"])}
    assert set(recipe["requirements"]["run"]) == needed
    (entry,) = project["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [" = ".join(entry)]


def test_links_of_the_readme_lead_somewhere_on_the_package_index():
    """The substitutions of the build leave no relative link and no relative picture, and change no other."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    text = readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for substitution in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(substitution["pattern"], substitution["replacement"], text)
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert all("raw.githubusercontent.com" in picture for picture in pictures)
    relative = [target.rpartition("/main/")[2] for target in targets if "/OWNER/pairsig/" in target]
    assert relative == [name for name in re.findall(r"\]\(([^)]+)\)", readme) if not name.startswith(("https:", "#"))]
    assert all((ROOT / name.partition("#")[0]).exists() for name in relative)
    assert set(project["project"]["urls"]) == {"Repository", "Documentation", "Changelog", "Issues"}
