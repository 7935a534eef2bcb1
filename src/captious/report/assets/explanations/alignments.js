// METEOR: the candidate and its best reference; matched words have the number of their chunk and the sign of their module.

const MODULES = { exact: "=", stem: "~", synonym: "≈", paraphrase: ":" };

function drawAlignment({ best, references }) {
  const { candidate, reference, matches, chunks, precision, recall, fragmentation } = references[best];
  const marks = [new Map(), new Map()];
  let chunk = 0;
  matches.forEach((match, k) => {
    const before = matches[k - 1];
    if (!before || before.end !== match.start || before.reference_end !== match.reference_start) chunk++;
    for (let i = match.start; i < match.end; i++) marks[0].set(i, { chunk, module: match.module });
    for (let i = match.reference_start; i < match.reference_end; i++) marks[1].set(i, { chunk, module: match.module });
  });
  const used = Object.entries(MODULES).filter(([module]) => matches.some((match) => match.module === module));
  return [
    sideOf("candidate", candidate, (word, i) => alignedWord(word, marks[0].get(i))),
    sideOf(`reference ${best + 1}`, reference, (word, i) => alignedWord(word, marks[1].get(i))),
    factsOf(`${matches.length} match${matches.length === 1 ? "" : "es"} in ${count(chunks, "chunk")}`,
      `precision ${score(precision)}`, `recall ${score(recall)}`, `fragmentation ${score(fragmentation)}`),
    used.length ? element("p", { class: "explained" }, `Number: chunk. ${used.map(([module, sign]) => `${sign} ${module}`).join("  ")}`) : null,
  ];
}

function alignedWord(word, mark) {
  if (!mark) return wordOf(word, false);
  return wordOf(word, true, { class: mark.module, title: `${mark.module}, chunk ${mark.chunk}` }, element("sub", {}, `${mark.chunk}${MODULES[mark.module]}`));
}
