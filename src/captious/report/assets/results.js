// Charts of judgments and studies.

const CHARTS = { dots: dotsChart, curves: curvesChart, matrix: matrixChart, clouds: cloudsChart };

function showFigures(host) {
  for (const about of manifest.figures) {
    const names = (about.lines ?? about.clouds ?? []).map(({ label }) => label);
    host.append(element("figure", { class: "wide" }, element("h2", {}, about.title), names.length > 1 ? legend(names) : null, CHARTS[about.kind](about)));
  }
}

/** The width that there is, so that text has its size. */
function room(most) {
  return Math.min(most, document.getElementById("main").clientWidth - 24);
}

/** Values with their intervals, one below the other. */
function dotsChart({ title, x, rows, line = null }) {
  const longest = Math.max(...rows.map(({ label }) => label.length), 1);
  const dots = rows.filter(({ value }) => value !== null), spans = dots.filter(({ low, high }) => low !== null && high !== null);
  return chart(title, {
    width: room(640), height: 60 + 22 * rows.length, marginLeft: Math.min(20 + 6.2 * longest, room(640) / 2), marginBottom: 40,
    x: { label: x, labelAnchor: "left", labelArrow: "none", grid: true },
    y: { label: null, domain: rows.map(({ label }) => label) },
    marks: [
      line === null ? null : Plot.ruleX([line], { stroke: "var(--edge)" }),
      Plot.ruleY(spans, { y: "label", x1: "low", x2: "high", stroke: ({ series }) => color(series), strokeWidth: 2, strokeOpacity: 0.6 }),
      Plot.dot(dots, { y: "label", x: "value", fill: ({ series }) => color(series), r: 3.5 }),
    ],
  });
}

/** Lines, with bands for their intervals; points, with bars for theirs. */
function curvesChart({ title, x, y, lines, logarithmic }) {
  const marks = lines.flatMap((line, i) => {
    const points = line.x.map((at, k) => ({ x: at, y: line.y[k], low: line.low?.[k] ?? null, high: line.high?.[k] ?? null, name: line.names?.[k] ?? "" }));
    const spans = points.filter(({ low, high }) => low !== null && high !== null);
    const named = Plot.text(points.filter(({ name }) => name), { x: "x", y: "y", text: "name", dx: 5, dy: -6, textAnchor: "start", fill: "var(--ink)", fontSize: 10 });
    if (line.points) return [Plot.ruleX(spans, { x: "x", y1: "low", y2: "high", stroke: color(i), strokeOpacity: 0.4 }), Plot.dot(points, { x: "x", y: "y", r: 2.5, fill: color(i) }), named];
    return [
      Plot.areaY(spans, { x: "x", y1: "low", y2: "high", fill: color(i), fillOpacity: 0.15 }),
      Plot.lineY(points, { x: "x", y: "y", stroke: color(i), strokeWidth: 1.8, strokeDasharray: dash(i) ?? "none", marker: points.length <= 25 ? "dot" : "none" }),
      named,
    ];
  });
  return chart(title, {
    width: room(720), height: Math.min(room(720) * 0.6, 420), marginBottom: 40,
    x: { label: x, labelArrow: "none", type: logarithmic ? "log" : "linear" }, y: { label: y, labelArrow: "none", grid: true }, marks,
  });
}

/** A heat map from -1 to 1, with the numbers in it. */
function matrixChart({ title, labels, values }) {
  const longest = Math.max(...labels.map((label) => label.length), 1);
  const margin = 16 + 6.2 * longest;
  const cells = values.flatMap((row, i) => row.map((value, j) => ({ row: labels[i], column: labels[j], value }))).filter(({ value }) => value !== null);
  const size = margin + 46 * labels.length;
  const plot = chart(title, {
    width: size + 10, height: size + 10, marginLeft: margin, marginTop: 8, marginBottom: margin, padding: 0,
    x: { label: null, domain: labels, tickRotate: -90 }, y: { label: null, domain: labels },
    color: { type: "linear", scheme: "RdBu", domain: [1, -1] },
    marks: [
      Plot.cell(cells, { x: "column", y: "row", fill: "value", inset: 0.5 }),
      Plot.text(cells, { x: "column", y: "row", text: ({ value }) => score(value, 2), fill: ({ value }) => (Math.abs(value) > 0.6 ? "white" : "black") }),
    ],
  });
  const region = element("div", { class: "scroll fixed", role: "region", tabindex: 0, "aria-label": title }, plot);
  plot.style.width = `${size + 10}px`;
  return region;
}

/** Points with their outlines, and a triangle for the one that represents them all. */
function cloudsChart({ title, x, y, clouds }) {
  return chart(title, {
    width: room(720), height: Math.min(room(720) * 0.75, 520), marginBottom: 40, aspectRatio: 1,
    x: { label: x, labelArrow: "none", grid: true }, y: { label: y, labelArrow: "none", grid: true },
    marks: clouds.flatMap(({ points, outline, center }, i) => [
      Plot.line(outline.length ? [...outline, outline[0]] : [], { x: 0, y: 1, stroke: color(i), fill: color(i), fillOpacity: 0.1 }),
      Plot.dot(points, { x: 0, y: 1, r: 1.8, fill: color(i), fillOpacity: 0.7 }),
      Plot.dot([center], { x: 0, y: 1, symbol: "triangle", r: 6, fill: color(i), stroke: "var(--ink)" }),
    ]),
  });
}
