"""Write an environment for conda from a lock file of pip (pylock.toml, PEP 751), as `make lock` does.

    from_lock.py ENVIRONMENT.yaml python=3.11 [PACKAGE=VERSION ...] <pylock.toml

Python, and what is named, come from conda-forge; every Python package comes from pip, in the locked version and with
the checksums of its wheels for Linux and macOS, so that conda gives the numbers that every other installation gives.
"""

import re
import sys
import tomllib
from pathlib import Path

WHEEL = re.compile(r"-(?:(?:py2\.)?py3|cp311|cp3\d+-abi3)-.*(?:any|manylinux\w*(?:x86_64|aarch64)|macosx\w*)\.whl$")
"""The names of wheels that Python 3.11 installs on the systems where conda has it and the study runs."""


def requirement(package: dict) -> str:
    """A package with its version and checksums; those of the source distribution if there is no wheel."""
    wheels = [wheel for wheel in package.get("wheels", []) if WHEEL.search(wheel["url"])]
    marker = f" ; {package['marker']}" if "marker" in package else ""
    checksums = sorted(file["hashes"]["sha256"] for file in wheels or [package["sdist"]])
    options = "".join(f" --hash=sha256:{checksum}" for checksum in checksums)
    return f"{package['name']}=={package['version']}{marker}{options}"


def main() -> None:
    """Write the environment of the command line."""
    environment, *from_conda = sys.argv[1:]
    packages = tomllib.load(sys.stdin.buffer)["packages"]
    lines = ["# `make lock` writes this file.", "channels:", "  - conda-forge", "  - nodefaults", "dependencies:"]
    lines += [f"  - {package}" for package in (*from_conda, "pip")]
    lines += ["  - pip:"]
    lines += [f"      - {requirement(package)!r}" for package in packages if package["name"] != "pairsig"]
    Path(environment).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
