"""List the programs of this package, with the first sentence of their documentation."""

import ast
from pathlib import Path

for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
    text = path.read_text(encoding="utf-8")
    if "__name__ ==" in text:
        documentation = ast.get_docstring(ast.parse(text)) or ""
        print(f"python -m base_models.{path.stem:20}{documentation.splitlines()[0]}")
