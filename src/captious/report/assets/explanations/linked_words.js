// Words of two sides on two lines, with links between what matches, such as METEOR's alignment.

const LINK = { size: 14, gap: 9, top: 18, bottom: 84, small: 11 }; // sizes of text and heights of lines, in pixels

/** The words of two blocks, linked; null if they do not fit into one line each, or a side has no words. */
function linkedWords(above, below, values, drawing) {
  const blocks = [above, below], lines = [LINK.top, LINK.bottom];
  const names = blocks.map(({ name }) => filledTemplate(name, values).trim());
  const left = Math.max(...names.map((name) => textWidth(name, LINK.size))) + 2 * LINK.gap;
  const sides = blocks.map(({ words }) => placedWords(at(values, words) ?? [], left));
  const width = Math.max(...sides.map((words) => words.at(-1)?.end ?? Infinity)) + 2;
  if (width > drawing.width) return null;
  const marked = blocks.map(({ marks }) => markedWords(marks, values, drawing));
  const parts = names.map((name, side) => drawn("text", { class: "side", x: 0, y: lines[side] }, name));
  sides.forEach((words, side) => words.forEach(({ text, start, end }, place) => {
    const mark = marked[side].get(place);
    parts.push(drawn("text", { class: mark ? "matched" : "side", x: start, y: lines[side] }, text));
    if (mark) parts.push(drawn("line", { class: mark.kind, x1: start, x2: end, y1: lines[side] + 5, y2: lines[side] + 5 }));
  }));
  // Above all links, each where its own begins; links that follow one another with the same label have it once.
  const labels = [];
  let last;
  at(values, above.marks.of).forEach((entry) => {
    const [from, to] = blocks.map(({ marks }, side) => middleOf(sides[side], at(entry, marks.start), at(entry, marks.end)));
    const [y1, y2] = [LINK.top + 6, LINK.bottom - LINK.size], half = (y1 + y2) / 2;
    const kind = at(entry, above.marks.tone), label = filledTemplate(above.marks.label, { ...entry, tone: kind }, drawing.signs);
    parts.push(drawn("path", { class: kind, d: `M${from} ${y1}C${from} ${half} ${to} ${half} ${to} ${y2}` }));
    if (label !== last) labels.push(drawn("text", { class: "label", x: from, y: y1 + LINK.small }, drawn("title", {}, drawing.signs[kind][1]), label));
    last = label;
  });
  const height = LINK.bottom + 10;
  return element("figure", { class: "links-drawn" }, drawn("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${names.join(" and ")}, with links between words that match`,
  }, parts, labels));
}

/** Words from left to right, behind the names of the sides. */
function placedWords(words, left) {
  let x = left;
  return words.map((word) => {
    const text = plain(Array.isArray(word) ? word[0] : word), start = x, end = x + textWidth(text, LINK.size);
    x = end + LINK.gap;
    return { text, start, end };
  });
}

function middleOf(words, start, end) {
  return ((words[start].start + words[end - 1].end) / 2).toFixed(1) * 1;
}
