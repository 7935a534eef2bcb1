// Explanations as drawings: pages of results and of the evaluation server share them. An explanation has the keys of
// `captious explain --format json`; its kind says how it is drawn.

const DRAWINGS = {
  alignment: drawAlignment, coverage: drawCoverage, "ngram-matches": drawNgramMatches, "ngram-weights": drawNgramWeights,
  scene: drawScene, subsequences: drawSubsequences, transport: drawTransport,
};

const WHY_PADDING = 26; // at both sides of an explanation, in pixels

/**
 * An explanation of one caption.
 * @param {string} kind one of DRAWINGS
 * @param {object} explanation
 * @param {{width: number, full: number}} room that there is, in pixels, and what a full bar of n-grams stands for
 */
function drawExplanation(kind, explanation, room) {
  return element("div", { class: "why", tabindex: 0 }, DRAWINGS[kind](explanation, room));
}

/** Words of one side after its name; `mark` gives the element of a word by its position. */
function sideOf(name, words, mark) {
  return element("p", { class: "words" }, element("span", { class: "side" }, name), Array.from(words, mark));
}

/** A word or n-gram, underlined if it matches. */
function wordOf(text, isMatched, attributes = {}, ...after) {
  return element("span", { ...attributes, class: `word${isMatched ? " matched" : ""}${attributes.class ? ` ${attributes.class}` : ""}` }, element("bdi", {}, plain(text)), ...after);
}

function factsOf(...parts) {
  return element("p", { class: "facts" }, parts.join(" · "));
}

/** A table of things with numbers, and a bar at the end of each row. */
function barTable(heads, rows) {
  return element("table", { class: "ngrams" },
    element("thead", {}, element("tr", {}, heads.map((head, i) => element("th", { scope: "col", class: i ? "number" : null }, head)), element("td"))),
    element("tbody", {}, rows));
}

/** A row of such a table; its bar is as long as the share, which is at most 1. */
function barRow(attributes, content, numbers, share) {
  const bar = drawn("svg", { width: "100%", height: 8, "aria-hidden": "true" }, drawn("rect", { width: `${(100 * Math.min(Math.max(share, 0), 1)).toFixed(2)}%`, height: 8 }));
  return element("tr", attributes, element("td", {}, content),
    numbers.map((number) => element("td", { class: "number" }, number)), element("td", { class: "bar" }, bar));
}
