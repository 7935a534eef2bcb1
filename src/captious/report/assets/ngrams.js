// CIDEr and CIDEr-D: what each n-gram of a candidate adds to its score, from tokens and document frequencies.

const SHOWN = 12;

async function explainNgrams(about, image, place, system, data) {
  const [words, ours, theirs, idf] = await Promise.all([
    strings(manifest.explanations.tables[about.table].tokens), loadTokens(about.table, system + 1), loadTokens(about.table, 0), weights(about),
  ]);
  const references = [];
  for (let row = data.starts[image]; row < data.starts[image + 1]; row++) references.push(theirs(row));
  const { ngrams, score: total } = cider(ours(image), references, idf, about);
  const written = (tokens) => tokens.map((token) => plain(words[token])).join(" ");
  const matched = ngrams.filter((ngram) => ngram.references > 0).sort((a, b) => b.adds - a.adds);
  const strangers = ngrams.filter((ngram) => ngram.references === 0).sort((a, b) => b.weight - a.weight);
  const full = fullBar(about.label);
  const rows = matched.map((ngram, i) => barRow({ hidden: i >= SHOWN }, element("bdi", {}, written(ngram.tokens)),
    [score(ngram.weight, 2), `${ngram.references} of ${references.length}`, score(ngram.adds, 3)], ngram.adds / full));
  const more = element("button", { type: "button", class: "link", onclick: () => { rows.forEach((row) => { row.hidden = false; }); more.remove(); } },
    `Show all ${matched.length}`);
  return element("div", { class: "why" },
    matched.length ? barTable(["n-gram", "weight", "references", "adds"], rows) : element("p", {}, "No n-gram is in a reference."),
    matched.length > SHOWN ? more : null,
    strangers.length ? element("p", { class: "facts" }, "In no reference: ", strangers.slice(0, 8).flatMap((ngram, i) => [i ? ", " : "",
      element("bdi", {}, written(ngram.tokens)), ` (${score(ngram.weight, 2)})`]), strangers.length > 8 ? `, and ${strangers.length - 8} more` : "") : null,
    element("p", { class: "explained" }, `Weight: inverse document frequency over ${count(about.documents, "image")}. A full bar is ${score(full)}${full === 1 ? "" : ", the best corpus score"}. The last column adds up to ${score(total)}.`));
}

/** What a full bar stands for in every image and system: the best corpus score, or 1 where the page has none. */
function fullBar(label) {
  const corpus = manifest.outputs.find(({ name }) => name === label)?.corpus ?? [];
  return Math.max(...corpus) || 1;
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

/** A function of an n-gram, as numbers of tokens, that gives its inverse document frequency. */
async function weights(about) {
  const [lengths, words, documents] = await Promise.all(["lengths", "words", "documents"].map((name) => integers(about.ngrams[name])));
  const nodes = once(about.ngrams, () => {
    const nodes = new Map(), path = [0, 0, 0, 0, 0]; // node 0 is the root, node k + 1 the k-th n-gram
    for (let k = 0; k < lengths.length; k++) {
      const n = lengths[k];
      nodes.set(path[n - 1] * 2 ** 24 + words[k], k + 1);
      path[n] = k + 1;
    }
    return nodes;
  });
  const log = Math.log(about.documents);
  return (ngram) => {
    let node = 0;
    for (const token of ngram) {
      node = nodes.get(node * 2 ** 24 + token);
      if (node === undefined) return log;
    }
    return log - Math.log(Math.max(1, documents[node - 1]));
  };
}

/** The score, and of each n-gram of the candidate its weight, the references that have it, and what it adds. */
function cider(candidate, references, idf, { scale, sigma, clip, relative }) {
  const ours = counted(candidate, idf);
  const length = (tokens) => (relative || tokens.length === 0 ? tokens.length : tokens.length - 1);
  const mine = norms(ours);
  const ngrams = [...ours.values()].map((ngram) => ({ ...ngram, references: 0, adds: 0 }));
  for (const reference of references) {
    const theirs = counted(reference, idf), norm = norms(theirs);
    const delta = length(candidate) - length(reference);
    const penalty = sigma ? Math.exp(-(delta * delta) / (2 * sigma * sigma)) : 1;
    for (const ngram of ngrams) {
      const other = theirs.get(ngram.key);
      if (!other) continue;
      ngram.references++;
      const order = ngram.tokens.length - 1;
      const adjust = relative ? (reference.length - order) / (candidate.length - order) : 1;
      const a = ngram.count * ngram.weight * adjust, b = other.count * ngram.weight, size = mine[order] * adjust * norm[order];
      if (size) ngram.adds += (scale * penalty * (clip ? Math.min(a, b) : a) * b) / size / 4 / references.length;
    }
  }
  return { score: ngrams.reduce((sum, ngram) => sum + ngram.adds, 0), ngrams };
}

function counted(tokens, idf) {
  const ngrams = new Map();
  for (let n = 1; n <= 4; n++)
    for (let i = 0; i + n <= tokens.length; i++) {
      const ngram = Array.from(tokens.slice(i, i + n)), key = ngram.join(" ");
      if (ngrams.has(key)) ngrams.get(key).count++;
      else ngrams.set(key, { key, tokens: ngram, count: 1, weight: idf(ngram) });
    }
  return ngrams;
}

function norms(ngrams) {
  const squares = [0, 0, 0, 0];
  for (const { tokens, count, weight } of ngrams.values()) squares[tokens.length - 1] += (count * weight) ** 2;
  return squares.map(Math.sqrt);
}
