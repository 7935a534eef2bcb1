// SPICE: tuples of the candidate beside those of the references that they match, and both scene graphs as drawings.

const STEPS = 300; // of the simulation that places a graph
const KINDS = ["object", "attribute", "relation"];

async function explainScene(about, image, place, system) {
  const [names, ours, theirs, matches] = await Promise.all([
    strings(about.names), sceneFacts(about.systems[system]), sceneFacts(about.references), integers(about.systems[system].matches),
  ]);
  const candidate = factsAt(ours, place), references = factsAt(theirs, place);
  const first = ours.firsts[place];
  candidate.forEach((fact, i) => { fact.match = matches[first + i]; });
  const met = new Set(candidate.map((fact) => fact.match));
  references.forEach((fact, i) => { fact.match = met.has(i + 1) ? i + 1 : 0; });
  const name = (concept) => names[concept].split(about.between);
  const n = candidate.filter((fact) => fact.match).length;
  const written = (fact) => {
    const parts = fact.concepts.map((concept) => name(concept).join("/"));
    return parts.length === 1 ? parts[0] : `(${parts.join(", ")})`;
  };
  const rows = candidate.map((fact) => {
    const other = fact.match ? references[fact.match - 1] : null;
    const isSame = (concept, i) => name(concept).some((ours) => name(other.concepts[i]).includes(ours));
    const sign = other ? (fact.concepts.every(isSame) ? "=" : "≈") : "";
    return element("tr", { class: other ? null : "unmatched" }, element("td", {}, element("bdi", {}, written(fact))),
      element("td", { class: "sign" }, sign), element("td", {}, other ? element("bdi", {}, written(other)) : ""));
  });
  rows.push(...references.filter((fact) => !fact.match).map((fact) => element("tr", { class: "unmatched" },
    element("td"), element("td"), element("td", {}, element("bdi", {}, written(fact))))));
  return element("div", { class: "why" },
    element("p", { class: "facts" }, [
      `${n} of ${count(candidate.length, "tuple")} match; the references have ${count(references.length, "tuple")}`,
      `precision ${score(candidate.length ? n / candidate.length : 0)}`, `recall ${score(references.length ? n / references.length : 0)}`,
    ].join(" · ")),
    element("div", { class: "graphs" }, sceneGraph("candidate", candidate, name), sceneGraph("references", references, name)),
    element("details", {}, element("summary", {}, "Tuples"), element("table", { class: "tuples" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "candidate"), element("td"), element("th", { scope: "col" }, "references"))),
      element("tbody", {}, rows)), element("p", { class: "explained" }, "= same names  ≈ synonyms")));
}

async function sceneFacts(about) {
  const [counts, concepts] = await Promise.all([Promise.all(about.counts.map(integers)), integers(about.concepts)]);
  return once(about, () => {
    const n = counts[0].length, firsts = new Uint32Array(n + 1), starts = new Uint32Array(n + 1);
    for (let i = 0; i < n; i++) {
      firsts[i + 1] = firsts[i] + counts[0][i] + counts[1][i] + counts[2][i];
      starts[i + 1] = starts[i] + counts[0][i] + 2 * counts[1][i] + 3 * counts[2][i];
    }
    return { counts, concepts, firsts, starts };
  });
}

function factsAt({ counts, concepts, starts }, place) {
  const facts = [];
  let at = starts[place];
  counts.forEach((ofKind, kind) => {
    for (let i = 0; i < ofKind[place]; i++) {
      facts.push({ kind: KINDS[kind], concepts: Array.from(concepts.subarray(at, at + kind + 1)), match: 0 });
      at += kind + 1;
    }
  });
  return facts;
}

/** A scene graph: objects, and their attributes and relations, which lie between them; what matches is filled. */
function sceneGraph(label, facts, name) {
  const nodes = [], links = [], objects = new Map();
  const node = (kind, concept, match) => {
    const box = { kind, text: plain(name(concept).join("/")).slice(0, 24), match };
    nodes.push(box);
    return box;
  };
  const object = (concept) => {
    if (!objects.has(concept)) objects.set(concept, node("object", concept, 0));
    return objects.get(concept);
  };
  for (const { kind, concepts, match } of facts) {
    if (kind === "object") object(concepts[0]).match = match;
    else {
      const between = node(kind, concepts[1], match);
      links.push({ source: object(concepts[0]), target: between });
      if (kind === "relation") links.push({ source: between, target: object(concepts[2]), arrow: true });
    }
  }
  if (!nodes.length) return element("figure", {}, element("figcaption", {}, label), element("p", { class: "quiet" }, "no tuples"));
  for (const box of nodes) box.half = 6 + 3.3 * box.text.length;
  const forces = d3.forceSimulation(nodes).stop()
    .force("link", d3.forceLink(links).distance(({ source, target }) => 24 + 0.5 * (source.half + target.half)).strength(0.6))
    .force("charge", d3.forceManyBody().strength(-160).distanceMax(260))
    .force("x", d3.forceX().strength(0.07)).force("y", d3.forceY().strength(0.12));
  for (let step = 0; step < STEPS; step++) {
    forces.tick();
    if (step > STEPS / 3) setApart(nodes);
  }
  for (let step = 0; step < 40; step++) setApart(nodes);
  const [left, right] = [Math.min(...nodes.map(({ x, half }) => x - half)), Math.max(...nodes.map(({ x, half }) => x + half))];
  const [top, bottom] = [Math.min(...nodes.map(({ y }) => y)), Math.max(...nodes.map(({ y }) => y))];
  const width = Math.ceil(right - left) + 4, height = Math.ceil(bottom - top) + 24;
  const box = ({ kind, match, text, half, x, y }) => drawn("g", { class: `node ${kind}${match ? " matched" : ""}`, transform: `translate(${x.toFixed(1)},${y.toFixed(1)})` },
    drawn("rect", { x: -half, y: -9.5, width: 2 * half, height: 19, rx: kind === "object" ? 2 : 9.5 }),
    drawn("text", { "text-anchor": "middle", dy: "0.34em" }, text));
  const line = ({ source, target, arrow }) => drawn("line", {
    x1: source.x.toFixed(1), y1: source.y.toFixed(1), x2: target.x.toFixed(1), y2: target.y.toFixed(1), class: arrow ? "arrow" : null,
  });
  return element("figure", { class: "graph" }, element("figcaption", {}, label),
    drawn("svg", { viewBox: `${Math.floor(left) - 2} ${Math.floor(top) - 12} ${width} ${height}`, width, height, role: "img", "aria-label": `Scene graph of the ${label}` }, links.map(line), nodes.map(box)));
}

/** Push boxes that overlap apart, each by half of what they share in the direction in which they share less. */
function setApart(nodes) {
  for (let i = 0; i < nodes.length; i++)
    for (let j = i + 1; j < nodes.length; j++) {
      const a = nodes[i], b = nodes[j], dx = b.x - a.x, dy = b.y - a.y;
      const x = a.half + b.half + 6 - Math.abs(dx), y = 24 - Math.abs(dy);
      if (x <= 0 || y <= 0) continue;
      if (x < y) { const by = (dx < 0 ? -x : x) / 2; a.x -= by; b.x += by; } else { const by = (dy < 0 ? -y : y) / 2; a.y -= by; b.y += by; }
    }
}
