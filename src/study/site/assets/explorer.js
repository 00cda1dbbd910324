// Draws pairs of systems as dots. The data are scripts, because a page that is opened from disk may not fetch files.
"use strict";
const explore = (function () {
  const LISTED = 100;
  const files = new Map();
  const waiting = new Map();

  // Every data file calls this with its own name.
  function add(name, place, value) {
    files.set(`${name} ${place}`, value);
    const done = waiting.get(`${name} ${place}`);
    if (done) done(value);
  }

  function load(name, place, path) {
    const key = `${name} ${place}`;
    if (files.has(key)) return Promise.resolve(files.get(key));
    return new Promise((resolve, reject) => {
      waiting.set(key, resolve);
      const script = document.createElement("script");
      script.src = path;
      script.onerror = () => reject(new Error(`${path} could not be loaded`));
      document.head.append(script);
    });
  }

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return {
      ink: of("--ink"), soft: of("--soft"), faint: of("--faint"), font: of("--sans"),
      // The colours of Okabe and Ito, as in the figures; lighter on a dark background.
      blue: dark ? "#56b4e9" : "#0072b2", rust: dark ? "#f0a172" : "#a84300", range: dark ? ["#3b4b57", "#56b4e9", "#f0e442"] : ["#b9d7ea", "#0072b2", "#08213d"],
    };
  }

  function config(c) {
    return {
      background: "transparent", font: c.font, view: { stroke: null },
      axis: { labelColor: c.soft, titleColor: c.soft, gridColor: c.faint, domainColor: c.faint, tickColor: c.faint, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", grid: false },
      legend: { labelColor: c.ink, titleColor: c.soft, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", orient: "top", direction: "horizontal", title: null },
    };
  }

  // The tooltip. Vega puts the nearest dot into an area of its own, so the row may be one level deeper.
  function tooltip(fields) {
    const box = document.createElement("dl");
    box.id = "tooltip";
    box.hidden = true;
    document.body.append(box);
    return (handler, event, item, value) => {
      const row = item && item.datum && (item.datum.datum || item.datum);
      box.hidden = !value || !row || row.a === undefined;
      if (box.hidden) return;
      box.replaceChildren(...fields.map(([field, title]) => {
        const line = document.createElement("div");
        const [term, text] = [document.createElement("dt"), document.createElement("dd")];
        term.textContent = title;
        text.textContent = row[field];
        line.append(term, text);
        return line;
      }));
      const { width, height } = box.getBoundingClientRect();
      const left = event.clientX + 14 + width > innerWidth ? event.clientX - 14 - width : event.clientX + 14;
      box.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 4))}px`;
      box.style.top = `${event.clientY + 14 + height > innerHeight ? event.clientY - 14 - height : event.clientY + 14}px`;
    };
  }

  // One chart. It is rebuilt only when its options change; otherwise only its data are replaced.
  function chart(element, specification, fields) {
    const describe = tooltip(fields);
    let drawn = null;
    let made = "";
    let queue = Promise.resolve();
    async function show(data, options) {
      const wanted = JSON.stringify(options) + matchMedia("(prefers-color-scheme: dark)").matches;
      if (!drawn || wanted !== made) {
        if (drawn) drawn.finalize();
        const spec = specification(colours(), options);
        drawn = await vegaEmbed(element, { ...spec, config: config(colours()) }, { actions: false, renderer: "canvas", tooltip: describe });
        made = wanted;
        explore.view = drawn.view;
      }
      for (const [name, rows] of Object.entries(data)) drawn.view.data(name, rows);
      await drawn.view.runAsync();
    }
    return { show: (data, options) => (queue = queue.then(() => show(data, options))) };
  }

  function options(select, items, chosen) {
    select.replaceChildren(...items.map(([value, text]) => new Option(text, value, false, value === chosen)));
    if (chosen !== undefined) select.value = chosen;
  }

  const number = (value) => value.toLocaleString("en-US");
  const decimals = (value, digits) => (value === null ? "–" : value.toFixed(digits).replace("-", "−"));
  const p = (value) => (value < 0.001 ? "< 0.001" : String(Number(value.toPrecision(3))));
  const per100 = (share) => `${Math.round(100 * share)} %`;

  function median(values) {
    const sorted = [...values].sort((one, other) => one - other);
    const half = sorted.length >> 1;
    return sorted.length ? (sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2) : NaN;
  }

  // The normal distribution function (Abramowitz and Stegun 7.1.26; error below 1.5e-7).
  function normal(z) {
    const t = 1 / (1 + 0.3275911 * Math.abs(z) / Math.SQRT2);
    const tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-z * z / 2);
    return z >= 0 ? 1 - tail / 2 : tail / 2;
  }

  function list(rows, cells, total, what) {
    const body = document.querySelector("#pairs tbody");
    body.replaceChildren(...rows.slice(0, LISTED).map((row) => {
      const line = document.createElement("tr");
      for (const [text, isNumber] of cells(row)) {
        const cell = document.createElement("td");
        cell.textContent = text;
        if (isNumber) cell.className = "n";
        line.append(cell);
      }
      return line;
    }));
    document.querySelectorAll("#pairs th").forEach((head) => head.removeAttribute("aria-sort"));
    document.getElementById("listed").textContent = rows.length > LISTED ? `${LISTED} of ${number(total)}, ${what}` : "";
  }

  const FIELDS = [["a", "better"], ["b", "other"], ["scores", "scores"], ["gainShown", "gain"], ["pShown", "p"], ["correlationShown", "correlation"]];

  function pairSpec(c, o) {
    const colour = o.colour === "correlation"
      ? { field: "correlation", type: "quantitative", scale: { range: c.range }, legend: { title: "correlation", gradientLength: 120 } }
      : { field: "group", type: "nominal", scale: { domain: ["different groups", "same group"], range: [c.blue, c.rust] } };
    const x = { field: "gain", type: "quantitative", title: o.title, scale: { domain: [0, o.right], nice: false }, axis: { tickCount: 6 } };
    const y = { field: "confidence", type: "quantitative", title: "confidence = 1 − p", scale: { domain: [o.bottom, 1.012], nice: false, zero: false }, axis: { values: o.bottom > 0 ? [0.5, 0.6, 0.7, 0.8, 0.9, 1] : [0, 0.2, 0.4, 0.6, 0.8, 1], format: ".1f" } };
    return {
      width: "container", height: o.height, autosize: { type: "fit", contains: "padding" },
      layer: [
        { data: { values: [{ y: 0.95 }] }, mark: { type: "rule", color: c.soft, strokeDash: [4, 3] }, encoding: { y: { field: "y", type: "quantitative", title: y.title, scale: y.scale } } },
        { data: { name: "line" }, mark: { type: "line", color: c.ink, strokeWidth: 1.5, clip: true, interpolate: "monotone" }, encoding: { x, y } },
        { data: { name: "dots" }, name: "pairs",
          params: [{ name: "near", select: { type: "point", on: "pointerover", nearest: true, clear: "pointerout" } }],
          mark: { type: "point", filled: true, clip: true, cursor: "crosshair" },
          encoding: { x, y, color: colour,
            shape: o.colour === "correlation" ? { value: "circle" } : { field: "group", type: "nominal", scale: { domain: ["different groups", "same group"], range: ["circle", "triangle-up"] } },
            size: { condition: { param: "near", empty: false, value: 140 }, value: o.size },
            opacity: { condition: { param: "near", empty: false, value: 1 }, value: o.opacity },
            tooltip: { field: "a", type: "nominal" } } },
      ],
    };
  }

  function height() {
    return Math.max(300, Math.min(520, Math.round(innerHeight * 0.6)));
  }

  function pairs(index, pWindow) {
    const form = document.getElementById("controls");
    const field = form.elements;
    const drawn = chart(document.getElementById("chart"), pairSpec, FIELDS);
    const named = new Map(index.map((one) => [one.dataset, one]));
    const asked = decodeURIComponent(location.hash.slice(1));
    options(field.dataset, index.map((one) => [one.dataset, `${one.dataset} (${number(one.test_sets[0].pairs)} pairs)`]), named.has(asked) ? asked : index[0] && index[0].dataset);
    if (!index.length) return;

    function choices() {
      const about = named.get(field.dataset.value);
      const parts = { whole: "Whole", initial: "First segments", domain: "Domain", document: "Document" };
      const groups = new Map();
      about.test_sets.forEach((one, place) => {
        const text = one.derived === "whole" ? `whole, ${number(one.n)} segments` : one.derived === "initial" ? `first ${number(one.n)}` : `${one.domain}, first ${number(one.n)}`;
        if (!groups.has(one.derived)) groups.set(one.derived, []);
        groups.get(one.derived).push(new Option(text, place));
      });
      field.test_set.replaceChildren(...[...groups].map(([derived, items]) => {
        const group = document.createElement("optgroup");
        group.label = parts[derived];
        group.append(...items);
        return group;
      }));
      const kinds = [...new Set(about.systems.map((one) => one.kind).filter(Boolean))].sort();
      const both = kinds.flatMap((one, place) => kinds.slice(place).map((other) => [`${one} / ${other}`, one === other ? `both ${one}` : `${one} and ${other}`]));
      options(field.kind, [["", "any"], ...(kinds.length > 1 ? both : [])], "");
      options(field.system, [["", "any system"], ...about.systems.map((one, place) => [String(place), one.name])], "");
    }

    async function show() {
      const about = named.get(field.dataset.value);
      const place = Number(field.test_set.value);
      const data = await load(about.dataset, place, `data/${encodeURIComponent(about.dataset)}.${place}.js`);
      if (field.dataset.value !== about.dataset || Number(field.test_set.value) !== place) return;
      const rows = [];
      for (let i = 0; i < data.a.length; i += 1) {
        const a = about.systems[data.a[i]];
        const b = about.systems[data.b[i]];
        const same = data.same[i] === 1;
        if (field.group.value && same !== (field.group.value === "1")) continue;
        if (field.kind.value && [a.kind, b.kind].sort().join(" / ") !== field.kind.value) continue;
        if (field.system.value && data.a[i] !== Number(field.system.value) && data.b[i] !== Number(field.system.value)) continue;
        rows.push({
          a: a.name, b: b.name, gain: data.gain[i], p: data.p[i], correlation: data.correlation[i], error: data.error[i], confidence: 1 - data.p[i],
          group: same ? "same group" : "different groups",
          scores: `${decimals(data.score[data.a[i]], 2)} and ${decimals(data.score[data.b[i]], 2)}`,
          gainShown: decimals(data.gain[i], 2), pShown: p(data.p[i]), correlationShown: decimals(data.correlation[i], 2),
        });
      }
      const open = rows.filter((row) => row.confidence < 0.999).map((row) => row.gain).sort((one, other) => one - other);
      const most = rows.reduce((top, row) => Math.max(top, row.gain), 0);
      const sure = open.length ? 1.1 * open[Math.floor(0.995 * (open.length - 1))] : most;
      const right = (field.gains.value === "all" ? 1.02 * most : Math.min(sure, 1.02 * most)) || 1;
      const low = rows.filter((row) => row.confidence < 0.49).length > 0.01 * rows.length;
      const bottom = low ? 0 : 0.48;
      const error = median(rows.map((row) => row.error).filter((value) => value > 0));
      const line = Number.isFinite(error) ? Array.from({ length: 81 }, (_, i) => {
        const gain = right * i / 80;
        return { gain, confidence: data.two_sided ? 2 * normal(gain / error) - 1 : normal(gain / error) };
      }) : [];
      const metric = about.metric;
      // Dots beyond the axis must not be passed on: the pointer would find them as the nearest ones.
      await drawn.show({ dots: rows.filter((row) => row.gain <= right), line }, {
        colour: field.colour.value, right, bottom, height: height(), title: `${metric} gain (points)`,
        size: rows.length > 2000 ? 18 : rows.length > 500 ? 30 : 50, opacity: rows.length > 2000 ? 0.5 : 0.75,
      });
      const near = rows.filter((row) => row.p >= pWindow[0] && row.p <= pWindow[1]);
      const beyond = rows.filter((row) => row.gain > right).length;
      document.getElementById("summary").textContent = rows.length
        ? `${number(rows.length)} of ${number(data.a.length)} pairs, ${number(near.length)} of them with p from ${pWindow[0]} to ${pWindow[1]}. Critical difference at p = 0.05: ${decimals(1.645 * error, 2)} points.`
          + (beyond ? ` ${number(beyond)} pairs lie beyond the right edge.` : "")
        : "No pair matches these filters.";
      const nearest = [...rows].sort((one, other) => Math.abs(one.p - 0.05) - Math.abs(other.p - 0.05));
      list(nearest, (row) => [[row.a], [row.b], [row.gainShown, true], [row.pShown, true], [row.correlationShown, true]], rows.length, "nearest to p = 0.05 first");
      explore.shown = rows;
    }

    document.addEventListener("change", (event) => {
      if (event.target.form !== form) return;
      if (event.target === field.dataset) choices();
      show();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", () => {
      const name = decodeURIComponent(location.hash.slice(1));
      if (named.has(name) && name !== field.dataset.value) { field.dataset.value = name; choices(); show(); }
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
    choices();
    show();
  }

  const CELL_FIELDS = [["a", "better"], ["b", "other"], ["onShown", "first test set"], ["pShown", "p on the first"], ["gainShown", "gain on the first"], ["otherShown", "second test set"], ["againstShown", "gain on the second"]];

  function cellSpec(c, o) {
    const x = { field: "gain", type: "quantitative", title: "gain on the first test set (points)", scale: { domain: [0, o.right], nice: false }, axis: { tickCount: 6 } };
    const y = { field: "against", type: "quantitative", title: "gain on the second test set (points)", scale: { domain: o.ends, nice: false }, axis: { tickCount: 6 } };
    return {
      width: "container", height: o.height, autosize: { type: "fit", contains: "padding" },
      layer: [
        { data: { values: [{ y: 0 }] }, mark: { type: "rule", color: c.ink }, encoding: { y: { field: "y", type: "quantitative", title: y.title, scale: y.scale } } },
        { data: { name: "dots" }, name: "pairs",
          params: [{ name: "near", select: { type: "point", on: "pointerover", nearest: true, clear: "pointerout" } }],
          mark: { type: "point", filled: true, clip: true, cursor: "crosshair" },
          encoding: { x, y,
            color: { field: "replicated", type: "nominal", scale: { domain: ["replicated", "not replicated"], range: [c.blue, c.rust] } },
            shape: { field: "replicated", type: "nominal", scale: { domain: ["replicated", "not replicated"], range: ["circle", "triangle-down"] } },
            size: { condition: { param: "near", empty: false, value: 140 }, value: o.size },
            opacity: { condition: { param: "near", empty: false, value: 1 }, value: o.opacity },
            tooltip: { field: "a", type: "nominal" } } },
      ],
    };
  }

  function cells(index, pWindow) {
    const form = document.getElementById("controls");
    const field = form.elements;
    const drawn = chart(document.getElementById("chart"), cellSpec, CELL_FIELDS);
    options(field.cell, index.map((one, place) => [String(place), one.name]), "0");

    let loaded = null;
    async function choices() {
      const place = field.cell.value;
      const about = index[Number(place)];
      const range = field.range.value;
      options(field.range, about.ranges.map((one, at) => [String(at), `${one.low} to ${one.high}`]));
      const wide = about.ranges.findIndex((one) => one.low === pWindow[0] && one.high === pWindow[1]);
      field.range.value = range && about.ranges[Number(range)] ? range : String(Math.max(0, wide));
      const data = await load("cells", Number(place), `data/${about.file}`);
      if (field.cell.value !== place) return false;
      loaded = data;
      options(field.on, [["", "any"], ...[...new Set(data.on)].sort((one, other) => one - other).map((at) => [String(at), data.test_sets[at]])], "");
      options(field.system, [["", "any system"], ...data.systems.map((name, at) => [String(at), name])], "");
      return true;
    }

    async function show() {
      const data = loaded;
      const about = index[Number(field.cell.value)];
      const range = about.ranges[Number(field.range.value)];
      const rows = [];
      const counted = new Map();
      let inRange = 0;
      for (let i = 0; i < data.a.length; i += 1) {
        const inside = data.p[i] >= range.low && (range.low === pWindow[0] && range.high === pWindow[1] ? data.p[i] <= range.high : data.p[i] < range.high);
        if (!inside) continue;
        inRange += 1;
        const replicated = data.against[i] > 0;
        if (field.replicated.value && replicated !== (field.replicated.value === "1")) continue;
        if (field.on.value && data.on[i] !== Number(field.on.value)) continue;
        if (field.system.value && data.a[i] !== Number(field.system.value) && data.b[i] !== Number(field.system.value)) continue;
        rows.push({
          a: data.systems[data.a[i]], b: data.systems[data.b[i]], gain: data.gain[i], against: data.against[i], p: data.p[i], replicated: replicated ? "replicated" : "not replicated",
          onShown: data.test_sets[data.on[i]], otherShown: data.test_sets[data.other[i]], pShown: p(data.p[i]), gainShown: decimals(data.gain[i], 2), againstShown: decimals(data.against[i], 2),
        });
        const key = data.a[i] < data.b[i] ? `${data.a[i]} ${data.b[i]}` : `${data.b[i]} ${data.a[i]}`;
        const one = counted.get(key) || { key, n: 0, replicated: 0 };
        one.n += 1;
        one.replicated += replicated;
        counted.set(key, one);
      }
      const quantile = (values, q) => (values.length ? values[Math.min(values.length - 1, Math.floor(q * values.length))] : 0);
      const gains = rows.map((row) => row.gain).sort((one, other) => one - other);
      const against = rows.map((row) => row.against).sort((one, other) => one - other);
      const right = 1.05 * (gains[gains.length - 1] || 1);
      const span = Math.max(Math.abs(quantile(against, 0.002)), Math.abs(quantile(against, 0.998)), 0.1) * 1.05;
      await drawn.show({ dots: rows }, {
        right, ends: [-span, span], height: height(), size: rows.length > 1500 ? 18 : 40, opacity: rows.length > 1500 ? 0.5 : 0.75,
      });
      const sampled = inRange < range.n ? ` The data of this page contain ${number(inRange)} of them, evenly spaced.` : "";
      document.getElementById("summary").textContent = `${number(range.n)} pairs with p from ${range.low} to ${range.high}: ${range.share} replicated; ${range.expected} would be expected if both test sets came from the same source.${sampled} Shown: ${number(rows.length)}.`;
      const most = [...counted.values()].sort((one, other) => (other.n - other.replicated) - (one.n - one.replicated) || other.n - one.n);
      list(most, (one) => {
        const [a, b] = one.key.split(" ").map(Number);
        return [[data.systems[a]], [data.systems[b]], [String(one.n), true], [String(one.replicated), true], [String(one.n - one.replicated), true]];
      }, most.length, "pairs that failed to replicate most often first");
      explore.shown = rows;
    }

    document.addEventListener("change", async (event) => {
      if (event.target.form !== form) return;
      if (event.target !== field.cell || await choices()) await show();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
    choices().then(show);
  }

  return { add, pairs, cells };
})();
