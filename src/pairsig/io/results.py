"""What all results have in common: they show themselves, and turn into rows, JSON and figures."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairsig.io.packages import pd
from pairsig.io.tables import as_object, flat

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Shown:
    """A result with rows, `_rows`."""

    _rows: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers of the result as a pandas data frame."""
        return self._rows.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return `rows` with all digits, and `schema_version`, the version of their names."""
        return as_object(self.to_frame())

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=2)


class Plotted:
    """A result with a figure, `_figure`."""

    def _figure(self) -> Figure:
        raise NotImplementedError

    def plot(self, path: str | Path | None = None) -> Figure:
        """Plot the result.

        Parameters
        ----------
        path
            File to write as well: .svg, .pdf or .png.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it.
        """
        from pairsig.io import pictures

        figure = pictures.styled(self._figure)()
        if path is not None:
            pictures.save(figure, path)
        return figure


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
    """A result that `print` shows as text, and a notebook as HTML: `_rendered` in the format "table" or "html"."""

    table: Any
    notes: tuple[str, ...]
    _rows: pd.DataFrame

    def _rendered(self, format: str) -> str:  # noqa: A002
        raise NotImplementedError

    def __str__(self) -> str:
        return self._rendered("table")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self._rendered("html")
