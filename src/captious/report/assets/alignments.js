// METEOR: the candidate and its best reference; matched words have the number of their chunk and the sign of their module.

const MODULES = [["=", "exact"], ["~", "stem"], ["≈", "synonym"], [":", "paraphrase"]];

async function explainAlignment(about, image, place, system, data) {
  const of = about.systems[system];
  const [reference, precision, recall, counts, gaps, lengths, referenceGaps, referenceLengths, modules] = await Promise.all([
    integers(of.reference), numbers(of.precision), numbers(of.recall), integers(of.counts), integers(of.gaps),
    integers(of.lengths), integers(of.reference_gaps), integers(of.reference_lengths), integers(of.modules),
  ]);
  const starts = once(of, () => sums(counts));
  const [words, ours, theirs] = await Promise.all([
    strings(manifest.explanations.tables[about.table].tokens), loadTokens(about.table, system + 1), loadTokens(about.table, 0),
  ]);
  const marks = [new Map(), new Map()];
  const used = new Set();
  let chunk = 0, at = 0, referenceAt = 0, matched = 0;
  for (let k = starts[place]; k < starts[place + 1]; k++) {
    if (k === starts[place] || gaps[k] !== 0 || referenceGaps[k] !== 0) chunk++;
    const begin = at + gaps[k], referenceBegin = referenceAt + referenceGaps[k];
    at = begin + lengths[k];
    referenceAt = referenceBegin + referenceLengths[k];
    const mark = { chunk, module: modules[k] };
    for (let i = begin; i < at; i++) marks[0].set(i, mark);
    for (let i = referenceBegin; i < referenceAt; i++) marks[1].set(i, mark);
    matched += lengths[k] + referenceLengths[k];
    used.add(modules[k]);
  }
  const n = starts[place + 1] - starts[place];
  const candidate = ours(image), best = theirs(data.starts[image] + reference[place]);
  const isWhole = chunk === 1 && matched === candidate.length + best.length; // METEOR does not count this chunk
  const side = (label, tokens, of) => element("p", { class: "words" }, element("span", { class: "side" }, label),
    Array.from(tokens, (token, i) => alignedWord(words[token], of.get(i))));
  return element("div", { class: "why" },
    side("candidate", candidate, marks[0]),
    side(`reference ${reference[place] + 1}`, best, marks[1]),
    element("p", { class: "facts" }, [
      `${n} match${n === 1 ? "" : "es"} in ${count(chunk, "chunk")}`, `precision ${score(precision[place])}`, `recall ${score(recall[place])}`,
      `fragmentation ${score(matched && !isWhole ? chunk / (matched / 2) : 0)}`,
    ].join(" · ")),
    used.size ? element("p", { class: "explained" }, `Number: chunk. ${[...used].sort().map((m) => MODULES[m].join(" ")).join("  ")}`) : null);
}

function alignedWord(word, mark) {
  if (!mark) return element("span", { class: "word" }, element("bdi", {}, plain(word)));
  const [sign, name] = MODULES[mark.module];
  return element("span", { class: `word matched ${name}`, title: `${name}, chunk ${mark.chunk}` },
    element("bdi", {}, plain(word)), element("sub", {}, `${mark.chunk}${sign}`));
}
