// WMD: how the words of the nearest reference are moved to those of the candidate.

function drawTransport({ best, references }) {
  const { moves, distance, score: total } = references[best];
  if (!moves.length) return element("p", {}, "The distance is infinite: there is nothing to move.");
  const rows = moves.map(({ word, reference_word, share, distance: way }) => barRow(
    { class: word === reference_word ? "same" : null }, [element("bdi", {}, plain(word)), " → ", element("bdi", {}, plain(reference_word))],
    [score(share, 3), score(way, 3), score(share * way, 3)], distance ? (share * way) / distance : 0));
  return [
    barTable(["candidate → reference", "share", "distance", "cost"], rows),
    factsOf(`nearest: reference ${best + 1}`, `distance ${score(distance, 3)}`, `score ${score(total, 3)}`),
    element("p", { class: "explained" }, "Share: fraction of all words with a vector. Cost: share times distance.",
      element("span", { class: "of-bars" }, " A full bar is the whole distance.")),
  ];
}
