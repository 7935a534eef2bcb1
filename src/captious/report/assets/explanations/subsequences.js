// ROUGE-L: the longest common subsequence of the candidate and each reference.

function drawSubsequences({ candidate, references, precision, recall, score: total }) {
  const best = (name) => references.findIndex((part) => part[name] === Math.max(...references.map((other) => other[name])));
  const first = [...new Set([best("recall"), best("precision")])];
  const others = references.map((_, i) => i).filter((i) => !first.includes(i));
  const pair = (i) => {
    const { reference, places } = references[i];
    const [ours, theirs] = [0, 1].map((side) => new Set(places.map((place) => place[side])));
    return [
      sideOf("candidate", candidate, (word, at) => wordOf(word, ours.has(at))),
      sideOf(`reference ${i + 1}`, reference, (word, at) => wordOf(word, theirs.has(at))),
      factsOf(`${count(places.length, "word")} in common`, `precision ${score(references[i].precision)}`, `recall ${score(references[i].recall)}`),
    ];
  };
  return [
    ...first.flatMap(pair),
    others.length ? element("details", {}, element("summary", {}, count(others.length, "other reference")), others.flatMap(pair)) : null,
    first.length > 1 || others.length ? factsOf(`precision ${score(precision)}`, `recall ${score(recall)}`, `score ${score(total)}`) : null,
    element("p", { class: "explained" }, "Underlined: the longest common subsequence."),
  ];
}
