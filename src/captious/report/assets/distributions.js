// Distributions of caption scores: one chart per output, one line per system.

const MOST_BINS = 40;
const LEAST = SCALE * 0.001; // captions with lower scores are counted, not drawn,
const SPIKE = 0.25; // if they are as large a share of a system's captions: BLEU-4 without a common 4-gram

function showDistributions({ scores }) {
  const section = document.getElementById("distributions");
  const charts = manifest.outputs.map((output, i) => distribution(output, scores[i]));
  section.append(legend(manifest.systems), element("div", { class: "charts" }, charts));
  section.append(element("p", { class: "explained" }, "Captions by score, in percent of all captions. Triangles are corpus scores.",
    section.querySelector(".spike") ? " Where many are near 0, their share is above the chart, which shows the others." : ""));
}

function distribution(output, ofSystems) {
  const [low, high] = extent(ofSystems);
  const size = Math.min(MOST_BINS, Math.max(8, Math.round(1.5 * Math.sqrt(manifest.images))));
  const width = (high - low) / size;
  const isLow = (value) => value >= 0 && value < LEAST;
  const lows = ofSystems.map((values) => values.reduce((n, value) => n + isLow(value), 0) / values.length);
  const isSpike = Math.max(...lows) >= SPIKE;
  const isDrawn = (value) => Number.isFinite(value) && !(isSpike && isLow(value) && Math.min(...lows) < 1);
  const points = ofSystems.flatMap((values, system) => {
    const bins = new Float64Array(size + 1);
    for (const value of values) if (isDrawn(value)) bins[Math.min(size - 1, Math.floor((value - low) / width))]++;
    const n = values.reduce((n, value) => n + Number.isFinite(value), 0);
    bins[size] = bins[size - 1]; // the line ends where the last bin does
    return Array.from(bins, (count, bin) => ({ system, x: low + bin * width, y: n ? (100 * count) / n : 0 }));
  });
  const corpus = output.corpus.map((value, system) => ({ value: value === null ? null : SCALE * value, system })).filter(({ value }) => value !== null);
  return element("figure", {}, element("figcaption", {}, labeled(output), isSpike ? spike(lows) : null), chart(`Distribution of ${output.name}`, {
    ...chartSize(),
    x: { label: null, nice: true },
    y: { label: null, grid: true, ticks: 4, tickFormat: (value) => `${value}%` },
    marks: [
      ...ofSystems.map((_, system) => Plot.lineY(points.filter((point) => point.system === system), {
        x: "x", y: "y", curve: "step-after", stroke: color(system), strokeWidth: 1.6, strokeDasharray: dash(system) ?? "none",
      })),
      ...corpus.map(({ value, system }) => Plot.dot([value], { x: (d) => d, y: 0, symbol: "triangle", r: 4, fill: color(system), stroke: "var(--paper)", strokeWidth: 0.5 })),
    ],
  }));
}

/** The shares of captions of which only the number is told. */
function spike(shares) {
  return element("span", { class: "spike" }, ` · below ${shown(score, LEAST, 3)}: `, shares.flatMap((share, system) => [system ? ", " : "",
    element("span", { class: `series-${system % COLORS}` }, `${Math.round(100 * share)}%`)]));
}

function extent(ofSystems) {
  let low = Infinity, high = -Infinity;
  for (const values of ofSystems)
    for (const value of values) if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  if (low < high) return [low, high];
  return low === high && (low < 0 || low > 1) ? [low - 0.5, low + 0.5] : [0, 1]; // one value has no extent
}
