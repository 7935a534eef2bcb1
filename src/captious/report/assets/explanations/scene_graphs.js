// Scene graphs side by side: objects in the middle, their attributes and relations outside, each object with its own as a
// block. What matches is filled, and blocks and tuples that match are at one height.

const PITCH = 24, BLOCK_GAP = 8, TOP = 30; // heights of a row, between blocks, and of the labels
const HALF = 9.5, PADDING = 7, LEAST_GAP = 30, MOST_GAP = 90, MIDDLE = 34;
const TWO_SIDES = 480; // pixels below which the references are below the candidate

/** Both graphs in one drawing of at most this width; in a narrow one, the references are below the candidate. */
function sceneGraphs(candidate, references, width) {
  const label = "Scene graphs of the candidate and of the references";
  const sides = [graphSide(candidate), graphSide(references.map(({ names, matched }) => ({ names, match: matched ? names : null })))];
  const blocks = blocksOf(...sides);
  const isWide = width >= TWO_SIDES;
  const columns = columnWidths(sides, width, isWide);
  const parts = [], tops = [TOP, TOP], bottoms = [TOP, TOP];
  if (isWide) placeBlocks(blocks, bottoms);
  else {
    placeBlocks(blocks.map(([left]) => [left, null]), bottoms);
    bottoms[1] = tops[1] = Math.max(bottoms[0], TOP + PITCH) + TOP - BLOCK_GAP;
    placeBlocks(blocks.map(([, right]) => [null, right]), bottoms);
  }
  sides.forEach((objects, side) => {
    const x = columns[side], top = tops[side];
    parts.push(drawn("text", { class: "side", x: x.labelAt, y: top - 16, "text-anchor": x.direction < 0 ? "end" : "start" }, side ? "references" : "candidate"));
    if (!objects.length) parts.push(drawn("text", { class: "side", x: x.labelAt, y: top + 4, "text-anchor": x.direction < 0 ? "end" : "start" }, "no tuples"));
    for (const object of objects) parts.push(...edges(object, x));
    for (const object of objects) parts.push(box(object, x.objects, x.direction, x.objectWidth), ...object.tuples.map((tuple) => box(tuple, x.tuples, x.direction, x.tupleWidth)));
  });
  if (isWide) parts.unshift(...blocks.filter(([left, right]) => left && right).map(([left, right]) => drawn("line", {
    class: "pair", x1: columns[0].objects, x2: columns[1].objects, y1: left.y, y2: right.y,
  })));
  const height = Math.max(...bottoms, tops[1] + PITCH + BLOCK_GAP) - PITCH + 2;
  return element("figure", { class: "graph" }, drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, parts));
}

/** Objects with their attributes and relations, and the tuples that they match. */
function graphSide(facts) {
  const objects = new Map();
  const node = (kind, names, match) => {
    const text = plain(names.join("/"));
    return { kind, text, match: match && JSON.stringify(match), width: textWidth(text) + 2 * PADDING };
  };
  const object = (names) => {
    const key = JSON.stringify(names);
    if (!objects.has(key)) objects.set(key, { ...node("object", names, null), tuples: [] });
    return objects.get(key);
  };
  for (const { names, match } of facts) {
    const subject = object(names[0]), [, second, third] = names;
    if (!second) subject.match = match && JSON.stringify(match);
    else subject.tuples.push({ ...node(third ? "relation" : "attribute", second, match), target: third ? object(third) : null });
  }
  return [...objects.values()];
}

let pen = null; // measures text

function textWidth(text, size = 11) {
  if (!pen) pen = document.createElement("canvas").getContext("2d");
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

/** Pairs of objects that match, then those of one side, each next to those it is related to: [candidate's, references']. */
function blocksOf(ours, theirs) {
  const partners = new Map(theirs.filter(({ match }) => match).map((object) => [object.match, object]));
  const blocks = new Map(); // object -> its block
  for (const object of ours) {
    const partner = partners.get(object.match);
    partners.delete(object.match);
    const block = partner ? [object, partner] : [object, null];
    block.forEach((member) => member && blocks.set(member, block));
  }
  for (const object of theirs) if (!blocks.has(object)) blocks.set(object, [null, object]);
  const ordered = [], reached = new Set();
  const size = (block) => block.reduce((n, object) => n + (object?.tuples.length ?? 0), 0);
  const all = [...new Set(blocks.values())].sort((a, b) => size(b) - size(a));
  for (const isOfGroup of [([left, right]) => left && right, ([left]) => left, () => true]) {
    const visit = (block) => {
      if (reached.has(block) || !isOfGroup(block)) return;
      reached.add(block);
      ordered.push(block);
      for (const object of block) for (const { target } of object?.tuples ?? []) if (target) visit(blocks.get(target));
    };
    all.forEach(visit);
  }
  for (const [left, right] of ordered) if (left && right) alignTuples(left, right);
  return ordered;
}

/** Tuples of both objects that match come first, in one order. */
function alignTuples(left, right) {
  const others = new Map(right.tuples.filter(({ match }) => match).map((tuple) => [tuple.match, tuple]));
  const shared = left.tuples.filter(({ match }) => others.has(match)).filter(({ match }, i, all) => all.findIndex((tuple) => tuple.match === match) === i);
  const partners = shared.map(({ match }) => others.get(match));
  left.tuples = [...shared, ...left.tuples.filter((tuple) => !shared.includes(tuple))];
  right.tuples = [...partners, ...right.tuples.filter((tuple) => !partners.includes(tuple))];
}

/** Give objects and tuples their heights; `bottoms` are those of both sides. */
function placeBlocks(blocks, bottoms) {
  for (const block of blocks) {
    const sides = [0, 1].filter((side) => block[side]);
    if (!sides.length) continue;
    const top = Math.max(...sides.map((side) => bottoms[side]));
    const rows = Math.max(...sides.map((side) => Math.max(1, block[side].tuples.length)));
    for (const side of sides) {
      block[side].y = top;
      block[side].tuples.forEach((tuple, row) => { tuple.y = top + row * PITCH; });
      bottoms[side] = top + rows * PITCH + BLOCK_GAP;
    }
  }
}

/** Where the columns of each side begin, and the direction in which they go from there. */
function columnWidths(sides, width, isWide) {
  const n = isWide ? 2 : 1;
  const most = (width - 2 - MIDDLE * (n - 1) - LEAST_GAP * n) / (2 * n);
  const natural = sides.map((objects) => [objects, objects.flatMap(({ tuples }) => tuples)].map((boxes) => Math.min(most, Math.max(0, ...boxes.map((box) => box.width)))));
  const taken = isWide ? natural.flat().reduce((sum, w) => sum + w, 0) : Math.max(...natural.map(([a, b]) => a + b));
  const gap = Math.min(MOST_GAP, (width - 2 - MIDDLE * (n - 1) - taken) / n);
  const used = taken + n * gap + MIDDLE * (n - 1);
  return natural.map(([objectWidth, tupleWidth], side) => {
    const direction = isWide && side === 0 ? -1 : 1;
    const start = isWide ? (width - used) / 2 + natural[0][0] + natural[0][1] + gap + (side ? MIDDLE : 0) : 1;
    return { direction, objects: start, objectWidth, tupleWidth, tuples: start + direction * (objectWidth + gap), labelAt: start };
  });
}

/** A box that begins at x and goes in a direction; what does not fit in is left out. */
function box({ kind, text, match, width, y }, x, direction, most) {
  const size = Math.min(width, most), shown = width <= most ? text : shortened(text, size - 2 * PADDING);
  return drawn("g", { class: `node ${kind}${match ? " matched" : ""}`, transform: `translate(${(x + (direction * size) / 2).toFixed(1)},${y})` },
    shown === text ? null : drawn("title", {}, text),
    drawn("rect", { x: (-size / 2).toFixed(1), y: -HALF, width: size.toFixed(1), height: 2 * HALF, rx: kind === "object" ? 2 : HALF }),
    drawn("text", { "text-anchor": "middle", dy: "0.34em" }, shown));
}

function shortened(text, width) {
  let letters = [...text];
  while (letters.length > 1 && textWidth(`${letters.join("")}…`) > width) letters = letters.slice(0, -1);
  return `${letters.join("")}…`;
}

/** From an object to its tuples, and from its relations to the objects that they end at. */
function edges({ width, y, tuples }, x) {
  const from = x.objects + x.direction * Math.min(width, x.objectWidth);
  return tuples.flatMap((tuple) => {
    const bend = (x.tuples - from) / 2;
    const lines = [drawn("path", { d: `M${from.toFixed(1)} ${y}C${(from + bend).toFixed(1)} ${y} ${(x.tuples - bend).toFixed(1)} ${tuple.y} ${x.tuples.toFixed(1)} ${tuple.y}` })];
    if (tuple.target) {
      const end = x.objects + x.direction * Math.min(tuple.target.width, x.objectWidth), tip = end + 5 * x.direction, at = tuple.target.y + 4;
      lines.push(drawn("path", { class: "arrow", d: `M${x.tuples.toFixed(1)} ${tuple.y + 4}C${(x.tuples - bend).toFixed(1)} ${tuple.y + 4} ${(tip + bend).toFixed(1)} ${at} ${tip.toFixed(1)} ${at}` }),
        drawn("path", { class: "tip", d: `M${end.toFixed(1)} ${at}L${tip.toFixed(1)} ${at - 3}V${at + 3}Z` }));
    }
    return lines;
  });
}
