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
