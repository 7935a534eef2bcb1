// Scene graphs side by side: objects in the middle, their attributes and relations outside, each object with its own as a
// block. What matches is filled. The rows of the tuples are those of `captious.report.layouts`.

const PITCH = 24, BLOCK_GAP = 8, TOP = 30; // heights of a row, between blocks, and of the labels
const HALF = 9.5, PADDING = 7, LEAST_GAP = 30, MOST_GAP = 90, MIDDLE = 34;
const TWO_SIDES = 480; // pixels below which the references are below the candidate

/** Both graphs in one drawing of at most this width; in a narrow one, the references are below the candidate. */
function sceneGraphs(candidate, references, width) {
  const label = "Scene graphs of the candidate and of the references";
  const sides = [graphSide(candidate), graphSide(references.map((fact) => ({ ...fact, match: fact.matched ? fact.names : null })))];
  const isWide = width >= TWO_SIDES;
  const columns = columnWidths(sides, width, isWide);
  const tops = [TOP, TOP], ends = [], parts = [];
  sides.forEach((objects, side) => {
    if (side && !isWide) tops[1] = Math.max(ends[0], TOP + PITCH) + TOP - BLOCK_GAP;
    ends.push(placeBlocks(objects, tops[side], isWide));
  });
  sides.forEach((objects, side) => {
    const x = columns[side], top = tops[side];
    parts.push(drawn("text", { class: "side", x: x.labelAt, y: top - 16, "text-anchor": x.direction < 0 ? "end" : "start" }, side ? "references" : "candidate"));
    if (!objects.length) parts.push(drawn("text", { class: "side", x: x.labelAt, y: top + 4, "text-anchor": x.direction < 0 ? "end" : "start" }, "no tuples"));
    for (const object of objects) parts.push(...edges(object, x));
    for (const object of objects) parts.push(box(object, x.objects, x.direction, x.objectWidth), ...object.tuples.map((tuple) => box(tuple, x.tuples, x.direction, x.tupleWidth)));
  });
  const isPaired = (left) => left.match && sides[1].some((right) => right.match === left.match && right.row === left.row);
  if (isWide) parts.unshift(...sides[0].filter(isPaired).map(({ y }) => drawn("line", {
    class: "pair", x1: columns[0].objects, x2: columns[1].objects, y1: y, y2: y,
  })));
  const height = Math.max(...ends, tops[1] + PITCH + BLOCK_GAP) - PITCH + 2;
  return element("figure", { class: "graph" }, drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, parts));
}

/** Objects with their attributes and relations, by row. */
function graphSide(facts) {
  const node = (kind, names, { match, row }) => {
    const text = plain(names.join("/"));
    return { kind, text, row, match: match && JSON.stringify(match), width: textWidth(text) + 2 * PADDING };
  };
  const objects = new Map(), objectOf = (names) => objects.get(JSON.stringify(names));
  for (const fact of facts) if (fact.names.length === 1) objects.set(JSON.stringify(fact.names[0]), { ...node("object", fact.names[0], fact), tuples: [] });
  for (const fact of facts) {
    const [subject, second, third] = fact.names;
    if (second) objectOf(subject).tuples.push({ ...node(third ? "relation" : "attribute", second, fact), target: third ? objectOf(third) : null });
  }
  return [...objects.values()].sort((a, b) => a.row - b.row);
}

let pen = null; // measures text

function textWidth(text, size = 11) {
  if (!pen) pen = document.createElement("canvas").getContext("2d");
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

/** Give objects and tuples their heights, and say where they end; without their own rows, blocks follow each other closely. */
function placeBlocks(objects, top, hasRows) {
  let row = 0, end = top;
  objects.forEach((object, i) => {
    if (hasRows) ({ row } = object);
    object.y = top + row * PITCH + i * BLOCK_GAP;
    for (const tuple of object.tuples) tuple.y = object.y + (tuple.row - object.row) * PITCH;
    row += Math.max(1, object.tuples.length);
    end = top + row * PITCH + (i + 1) * BLOCK_GAP;
  });
  return end;
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
