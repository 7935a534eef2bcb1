// BLEU: the n-grams that match, by order. CIDEr: what each n-gram of a candidate adds to its score.

const SHOWN = 12;

function drawNgramMatches({ precisions, ngrams, brevity_penalty, length, closest_length, score: total }) {
  const orders = precisions.map((_, i) => {
    const ofOrder = ngrams.filter(({ words }) => words.length === i + 1);
    const [matched, all] = ["matched", "count"].map((name) => ofOrder.reduce((sum, ngram) => sum + ngram[name], 0));
    const shown = [...ofOrder.filter((ngram) => ngram.matched), ...ofOrder.filter((ngram) => !ngram.matched)];
    return sideOf(`${i + 1}-grams ${matched}/${all}`, shown, ({ words, count: n, matched: m }) => (
      wordOf(words.join(" "), m, {}, n > 1 && m ? element("sub", {}, `${m}/${n}`) : null)));
  });
  return [
    ...orders,
    factsOf(`precisions ${precisions.map((precision) => score(precision)).join(", ")}`, `brevity penalty ${score(brevity_penalty)}`,
      `${count(length, "word")}, closest reference ${closest_length}`, `BLEU-4 ${score(total)}`),
    element("p", { class: "explained" }, "Underlined: in a reference. n/m: n of m occurrences match."),
  ];
}

function drawNgramWeights({ ngrams, n_references, n_documents, score: total }, { full }) {
  const written = ({ words }) => element("bdi", {}, plain(words.join(" ")));
  const matched = ngrams.filter((ngram) => ngram.references > 0), strangers = ngrams.filter((ngram) => ngram.references === 0);
  const rows = matched.map((ngram, i) => barRow({ hidden: i >= SHOWN }, written(ngram),
    [score(ngram.weight, 2), `${ngram.references} of ${n_references}`, score(ngram.adds, 3)], ngram.adds / full));
  const more = element("button", { type: "button", class: "link", onclick: () => { rows.forEach((row) => { row.hidden = false; }); more.remove(); } },
    `Show all ${matched.length}`);
  return [
    matched.length ? barTable(["n-gram", "weight", "references", "adds"], rows) : element("p", {}, "No n-gram is in a reference."),
    matched.length > SHOWN ? more : null,
    strangers.length ? element("p", { class: "facts" }, "In no reference: ", strangers.slice(0, 8).flatMap((ngram, i) => [i ? ", " : "",
      written(ngram), ` (${score(ngram.weight, 2)})`]), strangers.length > 8 ? `, and ${strangers.length - 8} more` : "") : null,
    element("p", { class: "explained" }, `Weight: inverse document frequency over ${count(n_documents, "image")}. The last column adds up to ${score(total)}.`,
      element("span", { class: "of-bars" }, ` A full bar is ${score(full)}${full === 1 ? "" : ", the best corpus score"}.`)),
  ];
}
