// How search results are ranked: as Sphinx does by default, but pages come before names of Python.
var Scorer = {
  score: (result) => {
    const [page, , , , score, , kind] = result;
    return kind === "object" && page === "docs/api" ? score - 12 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
