// SPICE: tuples of the candidate beside those of the references that they match, and both scene graphs as a drawing.

const KINDS = ["object", "attribute", "relation"];

async function explainScene(about, image, place, system, data, width) {
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
    sceneGraphs(candidate, references, name, width),
    element("p", { class: "explained" }, "Square: object. Round: relation, with an arrow to its second object. Dotted: attribute. Filled: matched."),
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
