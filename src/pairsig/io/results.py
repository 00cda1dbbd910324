"""What results with a table have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pairsig.io.packages import pd
from pairsig.io.tables import as_json


@dataclass(frozen=True, kw_only=True, repr=False)
class TableResult:
    """A result that `print` shows as text: `__str__`, and `_repr_html_` for notebooks."""

    table: Any
    notes: tuple[str, ...]
    _rows: pd.DataFrame

    def __repr__(self) -> str:
        return str(self)

    def to_json(self) -> str:
        """Return the rows of `table` as a JSON list of objects, with all digits."""
        return as_json(self._rows)
