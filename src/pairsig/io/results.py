"""What all results have in common: they show themselves, and turn into rows and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from pairsig.io.packages import pd
from pairsig.io.tables import as_object, flat


class Shown:
    """A result with rows, `_rows`."""

    @property
    def _rows(self) -> pd.DataFrame:
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers of the result as a pandas data frame."""
        return self._rows.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return `rows` with all digits, and `schema_version`, the version of their names."""
        return as_object(self.to_frame())

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=2)


class OneRow(Shown):
    """A result whose fields are its only row."""

    @property
    def _rows(self) -> pd.DataFrame:
        cells = {field.name: getattr(self, field.name) for field in fields(self) if field.repr}  # type: ignore[arg-type]
        return pd.DataFrame([cells])

    def _repr_html_(self) -> str:
        """The fields as a table for notebooks, one below the other."""
        html: str = flat(self._rows).T.to_html(header=False)
        return html


@dataclass(frozen=True, kw_only=True, repr=False)
class TableResult(Shown):
    """A table as a result: `print` shows it as the command line does, and a notebook as HTML.

    Attributes
    ----------
    table
        The rows as a pandas data frame; the columns are those of the command.
    notes
        Sentences about how the input was read, and about what the numbers do not cover.
    """

    table: pd.DataFrame
    notes: tuple[str, ...]
    _render: Callable[[pd.DataFrame, str], str] | None = None

    @property
    def _rows(self) -> pd.DataFrame:
        return self.table

    def _rendered(self, format: str) -> str:  # noqa: A002
        assert self._render is not None
        return self._render(self._rows, format)

    def __str__(self) -> str:
        return self._rendered("table")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self._rendered("html")
