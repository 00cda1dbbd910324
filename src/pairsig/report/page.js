"use strict";
// A click on the name of a column sorts its table: numbers in descending order first, text in ascending order.
for (const table of document.querySelectorAll("table.sortable")) {
  const headers = Array.from(table.tHead.rows[0].cells);
  headers.forEach((header, column) => {
    const button = header.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const numeric = header.classList.contains("n");
      const before = header.getAttribute("aria-sort");
      const order = (before ? before === "ascending" : numeric) ? "descending" : "ascending";
      const sign = order === "ascending" ? 1 : -1;
      const key = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
      const number = (row) => { const value = parseFloat(key(row)); return Number.isNaN(value) ? -Infinity : value; };
      const rows = Array.from(table.tBodies[0].rows);
      rows.sort((a, b) => sign * (numeric ? number(a) - number(b) || 0
        : key(a).localeCompare(key(b), undefined, { numeric: true })));
      headers.forEach((other) => other.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", order);
      table.tBodies[0].append(...rows);
    });
  });
}
