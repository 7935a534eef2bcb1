// SPICE: tuples of the candidate beside those of the references that they match, and both scene graphs as a drawing.

function drawScene({ candidate, references, precision, recall }, { width }) {
  const written = (names) => (names.length === 1 ? names[0].join("/") : `(${names.map((of) => of.join("/")).join(", ")})`);
  const cell = (names) => element("td", {}, names ? element("bdi", {}, plain(written(names))) : "");
  const isSame = ({ names, match }) => names.every((of, i) => of.some((name) => match[i].includes(name)));
  const rows = candidate.map((fact) => element("tr", { class: fact.match ? null : "unmatched" }, cell(fact.names),
    element("td", { class: "sign" }, fact.match ? (isSame(fact) ? "=" : "≈") : ""), cell(fact.match)));
  rows.push(...references.filter(([, isMet]) => !isMet).map(([names]) => element("tr", { class: "unmatched" }, cell(null), element("td"), cell(names))));
  const matched = candidate.filter(({ match }) => match).length;
  return [
    factsOf(`${matched} of ${count(candidate.length, "tuple")} match; the references have ${count(references.length, "tuple")}`,
      `precision ${score(precision)}`, `recall ${score(recall)}`),
    sceneGraphs(candidate, references.map(([names, isMet]) => ({ names, match: isMet ? names : null })), width),
    element("p", { class: "explained" }, "Square: object. Round: relation, with an arrow to its second object. Dotted: attribute. Filled: matched."),
    element("details", {}, element("summary", {}, "Tuples"), element("table", { class: "tuples" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "candidate"), element("td"), element("th", { scope: "col" }, "references"))),
      element("tbody", {}, rows)), element("p", { class: "explained" }, "= same names  ≈ synonyms")),
  ];
}
