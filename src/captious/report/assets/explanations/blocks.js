// Explanations, drawn as their layouts say: pages of results and of the evaluation server share this. Layouts and their
// blocks are those of `captious.report.layouts`; values have the keys of `captious explain --format json`.

const WHY_PADDING = 26; // at both sides of an explanation, in pixels

/**
 * An explanation of one caption.
 * @param {{blocks: object[], signs: object}} layout of its kind
 * @param {object} values
 * @param {{width: number, full: number}} room that there is, in pixels, and what a full bar stands for
 */
function drawExplanation({ blocks, signs }, values, { width, full }) {
  const drawing = { signs, width, used: new Set() };
  const written = { full, full_is: full === 1 ? "" : ", the best corpus score", marked: "Underlined" };
  return element("div", { class: "why", tabindex: 0 }, drawBlocks(blocks, { ...written, ...values }, drawing));
}

function drawBlocks(blocks, values, drawing) {
  const links = blocks.map((block, i) => blocks[i + 1]?.linked && linkedWords(block, blocks[i + 1], values, drawing));
  return blocks.flatMap((block, i) => (links[i - 1] ? null : links[i] || BLOCKS[block.block](block, values, drawing))).filter(Boolean);
}

const BLOCKS = { words: wordsBlock, items: itemsBlock, table: tableBlock, matrix: matrixBlock, facts: factsBlock, note: noteBlock, graph: graphBlock, folded: foldedBlock, each: eachBlock };

function wordsBlock({ name, words, marks, ignored }, values, drawing) {
  const all = at(values, words);
  if (!all) return null;
  const marked = marks ? markedWords(marks, values, drawing) : new Map();
  const left = ignored ? at(values, ignored) ?? [] : [];
  return behindName(filledTemplate(name, values), [
    ...all.map((word, i) => wordOf(Array.isArray(word) ? word[0] : word, marks ? (marked.has(i) ? "matched" : "") : "plain", marked.get(i))),
    all.length ? null : "(no words)", left.length ? element("span", { class: "word" }, `ignored: ${writtenValue(left)}`) : null,
  ]);
}

/** What is said of marked words, by position. */
function markedWords({ of, start, end, label, tone, flags }, values, { signs, used }) {
  const marked = new Map();
  at(values, of).forEach((entry, number) => {
    const kind = flags ? (at(values, flags)[number] ? "hallucinated" : "present") : tone ? at(entry, tone) : "exact", from = at(entry, start);
    if (label) used.add(kind);
    const mark = { kind, text: filledTemplate(label, { ...entry, tone: kind }, signs), title: label ? signs[kind][1] : null };
    for (let i = from; i < (end ? at(entry, end) : from + 1); i++) marked.set(i, mark);
  });
  return marked;
}

/** A word or n-gram; what it is may be "matched", "missed", "plain" or nothing. */
function wordOf(text, what, { kind = "", text: label = "", title = null } = {}) {
  return element("span", { class: `word ${what} ${kind}`.trim(), title }, element("bdi", {}, plain(text)), label ? element("sub", {}, label) : null);
}

function behindName(name, content) {
  return element("p", { class: "words" }, element("span", { class: "side" }, name.trim()), content);
}

function itemsBlock({ name, of, text, share, without, having, most, empty }, values, { signs }) {
  const items = at(values, of).filter((item) => (!without || !at(item, without)) && (!having || at(item, having)));
  if (!items.length && !empty) return null;
  return behindName(filledTemplate(name, values), [
    ...items.slice(0, most).map((item) => {
      const written = text ? filledTemplate(text, item, signs) : writtenValue(item);
      if (!share) return wordOf(written, "plain item");
      const [matched, count] = share.map((path) => at(item, path));
      return wordOf(written, matched ? "matched" : "missed", { text: matched && count > 1 ? `${matched}/${count}` : "" });
    }),
    items.length ? null : empty, items.length > most ? element("span", { class: "word" }, `and ${(items.length - most).toLocaleString("en")} more`) : null,
  ]);
}

function tableBlock({ of, columns, n_texts, bar, whole, tone, having, most, empty }, values, { signs, used }) {
  const entries = at(values, of).filter((entry) => !having || at(entry, having));
  if (!entries.length) return element("p", {}, empty);
  const full = whole ? at(values, whole) : values.full;
  const rows = entries.map((entry, i) => {
    const kind = tone ? at(entry, tone) : "";
    if (kind) used.add(kind);
    return element("tr", { class: tone && !kind ? "unmatched" : null, hidden: i >= most },
      columns.map(([, cell], place) => element("td", { class: place >= n_texts ? "number" : null }, element("bdi", {}, filledTemplate(cell, { ...values, ...entry }, signs) ?? ""))),
      bar ? element("td", { class: "bar" }, barOf(full ? at(entry, bar) / full : 0)) : null);
  });
  const more = element("button", { type: "button", class: "link", onclick: () => { rows.forEach((row) => { row.hidden = false; }); more.remove(); } }, `Show all ${rows.length}`);
  return [element("table", { class: bar ? "with-bars" : null },
    element("thead", {}, element("tr", {}, columns.map(([head], place) => element(head ? "th" : "td", { scope: head ? "col" : null, class: place >= n_texts ? "number" : null }, head)), bar ? element("td") : null)),
    element("tbody", {}, rows)), rows.length > most ? more : null];
}

/** A bar as long as the share, which is at most 1. */
function barOf(share) {
  return drawn("svg", { width: "100%", height: 8, "aria-hidden": "true" }, drawn("rect", { width: `${(100 * Math.min(Math.max(share, 0), 1)).toFixed(2)}%`, height: 8 }));
}

function matrixBlock({ of, rows, columns, name }, values) {
  const matrix = at(values, of), [ours, theirs] = [rows, columns].map((path) => at(values, path));
  if (!ours.length || !theirs.length) return null;
  const headOf = (entry, scope) => element("th", { scope, title: plain(entry.text) }, filledTemplate(name, entry));
  const cellOf = (value) => {
    const cell = element("td", { class: "number" }, score(value, 2));
    cell.style.setProperty("--share", `${Math.round(100 * Math.min(Math.max(value, 0), 1))}%`);
    return cell;
  };
  return element("div", { class: "matrices" }, element("table", { class: "matrix" },
    element("thead", {}, element("tr", {}, element("td"), theirs.map((entry) => headOf(entry, "col")))),
    element("tbody", {}, matrix.map((line, i) => element("tr", {}, headOf(ours[i], "row"), line.map(cellOf))))));
}

function factsBlock({ parts }, values, { signs }) {
  const written = parts.split(" · ").map((part) => filledTemplate(part, values, signs)).filter(Boolean);
  return element("p", { class: "facts" }, written.flatMap((part, i) => [i ? " · " : "", element("span", {}, part)]));
}

function noteBlock({ text, signs: explained, bars }, values, { signs, used }) {
  const known = explained.filter((name) => used.has(name)).map((name) => signs[name].slice(0, 2).join(" "));
  if (explained.length && !known.length) return null;
  return element("p", { class: `explained${bars ? " of-bars" : ""}` }, [filledTemplate(text, values), ...known].filter(Boolean).join("  "));
}

function graphBlock({ candidate, references, note }, values, { width }) {
  return [sceneGraphs(at(values, candidate), at(values, references), width), element("p", { class: "explained" }, note)];
}

function foldedBlock({ title, blocks }, values, drawing) {
  return element("details", {}, element("summary", {}, title), drawBlocks(blocks, values, drawing));
}

/** Entries are a list, or an object with some of them by position. The best are shown, the others on request. */
function eachBlock({ of, blocks, best }, values, drawing) {
  const entries = at(values, of), places = Object.keys(entries).map(Number);
  const isSingle = Array.isArray(entries) && entries.length === 1;
  const first = new Set(best.length ? best.map((path) => places.reduce((a, b) => (at(entries[b], path) > at(entries[a], path) ? b : a))) : places);
  const draw = (place) => drawBlocks(blocks, { ...values, ...entries[place], number: isSingle ? "" : place + 1, best: "" }, drawing);
  const others = places.filter((place) => !first.has(place));
  return [...[...first].flatMap(draw), others.length ? foldedOthers(others.length, others.flatMap(draw)) : null];
}

function foldedOthers(n, content) {
  return element("details", {}, element("summary", {}, count(n, "other reference")), content);
}
