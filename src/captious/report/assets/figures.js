// What charts share: the look of systems, and how Observable Plot is called.

const COLORS = 8;
const DASHES = [null, "6 3", "2 3", "8 3 2 3"];

function color(number) {
  return `var(--series-${number % COLORS})`;
}

function dash(number) {
  return DASHES[number % DASHES.length];
}

/** The size of one of several charts: two beside each other on phones, so that their text has its size. */
function chartSize() {
  return window.innerWidth < 640 ? { width: 190, height: 130, marginLeft: 34 } : { width: 320, height: 170 };
}

/** A chart; its text is in the page's font, its colors are the page's. */
function chart(label, options) {
  const svg = Plot.plot({ className: "plot", width: 360, height: 200, marginLeft: 44, ...options });
  for (const group of svg.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label"); // not allowed on groups
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  return svg;
}

/** What the colors and dashes of lines mean. */
function legend(names) {
  return element("ul", { class: "legend" }, names.map((name, i) =>
    element("li", {}, drawn("svg", { width: 28, height: 10, "aria-hidden": "true" },
      drawn("line", { x1: 0, x2: 28, y1: 5, y2: 5, class: `series-${i % COLORS}`, "stroke-width": 2.5, "stroke-dasharray": dash(i) })), name)));
}
