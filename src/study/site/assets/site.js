// Makes tables sortable and filters them. The pages are complete without it.
"use strict";
(function () {
  function key(row, name, column) {
    const own = row.dataset[name];
    const text = own !== undefined ? own : row.cells[column].textContent.trim();
    if (text === "" || text === "–") return null;
    const number = Number(text.replace("−", "-").replace(/,/g, ""));
    return Number.isNaN(number) ? text.toLowerCase() : number;
  }

  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const name = head.dataset.sort;
      if (!name) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        table.classList.add("sorted");
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row, place) => ({ row, place, by: key(row, name, column) }));
        rows.sort((one, other) => {
          if (one.by === null || other.by === null) return (one.by === null) - (other.by === null) || one.place - other.place;
          const way = one.by < other.by ? -1 : one.by > other.by ? 1 : 0;
          return (down ? -way : way) || one.place - other.place;
        });
        body.append(...rows.map((one) => one.row));
      });
    });
  }

  function filtered(form) {
    const rows = [...document.querySelectorAll(`table.${form.dataset.filters} tbody tr`)];
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    function apply() {
      const verdicts = new Set([...form.querySelectorAll("[name=verdict]:checked")].map((box) => box.value));
      const group = form.elements.group.value;
      const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const wanted = verdicts.has(row.dataset.verdict) && (!group || row.dataset.group === group)
          && words.every((word) => texts.get(row).includes(word));
        row.hidden = !wanted;
        shown += wanted;
      }
      form.querySelector(".shown").textContent = `${shown} of ${rows.length} numbers`;
    }
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }

  document.querySelectorAll("table.sortable").forEach(sortable);
  document.querySelectorAll("form[data-filters]").forEach(filtered);
  const chosen = document.getElementById("calibration");
  if (chosen) {
    chosen.addEventListener("change", () => {
      document.querySelectorAll("[data-calibration]").forEach((table) => {
        table.hidden = table.dataset.calibration !== chosen.value;
      });
    });
  }
})();
