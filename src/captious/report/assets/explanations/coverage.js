// coverage: which sentence of the references is covered by which of the caption.

function drawCoverage({ sentences, references, matrix, precision, recall, score: total }) {
  const names = references.flatMap((side, i) => side.map((_, j) => `${i + 1}.${j + 1}`)), theirs = references.flat();
  const columns = theirs.map((_, j) => matrix.map((line) => line[j]));
  const side = (title, labels, texts, scores, others) => element("table", { class: "sentences" },
    element("thead", {}, element("tr", {}, element("th", { scope: "col", colspan: 2 }, title),
      ["best", "with"].map((head) => element("th", { scope: "col", class: "number" }, head)))),
    element("tbody", {}, texts.map((text, i) => {
      const best = Math.max(...scores[i] ?? [], 0);
      return element("tr", {}, element("td", { class: "number" }, labels[i]), element("td", { dir: "auto" }, plain(text)),
        element("td", { class: "number" }, score(best, 3)), element("td", { class: "number" }, others[(scores[i] ?? []).indexOf(best)] ?? "–"));
    })));
  const own = sentences.map((_, i) => String(i + 1));
  const grid = element("table", { class: "matrix" },
    element("thead", {}, element("tr", {}, element("td"), names.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, matrix.map((line, i) => element("tr", {}, element("th", { scope: "row" }, own[i]),
      line.map((value, j) => {
        const cell = element("td", { class: "number", title: `${plain(sentences[i])}\n${plain(theirs[j])}` }, score(value, 2));
        cell.style.setProperty("--share", `${Math.round(100 * Math.min(Math.max(value, 0), 1))}%`);
        return cell;
      })))));
  return [
    side("candidate", own, sentences, matrix, names),
    side("references", names, theirs, columns, own),
    matrix.length && names.length ? element("div", { class: "matrices" }, grid) : null,
    factsOf(`precision ${score(precision)}`, `recall ${score(recall)}`, `score ${score(total)}`),
    element("p", { class: "explained" }, "Rows: sentences of the caption. Columns: sentences of the references; 2.1 is the first of the second one. Best: the score of the sentence of the other side that agrees best."),
  ];
}
