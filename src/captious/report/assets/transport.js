// WMD: how the words of the nearest reference are moved to those of the candidate.

async function explainTransport(about, image, place, system) {
  const of = about.systems[system];
  const [words, ours, theirs, distances, reference, counts, moves, shares] = await Promise.all([
    strings(about.words), integers(about.pairs[0]), integers(about.pairs[1]), numbers(about.distances),
    integers(of.reference), integers(of.counts), integers(of.moves), numbers(of.shares),
  ]);
  const starts = once(of, () => sums(counts));
  const plan = [];
  for (let k = starts[place]; k < starts[place + 1]; k++)
    plan.push({ from: words[ours[moves[k]]], to: words[theirs[moves[k]]], share: shares[k], distance: distances[moves[k]] });
  if (!plan.length) return element("div", { class: "why" }, element("p", {}, "The distance is infinite: there is nothing to move."));
  const costs = plan.map(({ share, distance }) => share * distance), total = costs.reduce((a, b) => a + b, 0);
  return element("div", { class: "why" },
    barTable(["candidate → reference", "share", "distance", "cost"], plan.map(({ from, to, share, distance }, i) => barRow(
      { class: from === to ? "same" : null }, [element("bdi", {}, plain(from)), " → ", element("bdi", {}, plain(to))],
      [score(share, 3), score(distance, 3), score(costs[i], 3)], total ? costs[i] / total : 0))),
    element("p", { class: "facts" }, `nearest: reference ${reference[place] + 1} · distance ${score(total, 3)} · score ${score(Math.exp(-total / about.sigma), 3)}`),
    element("p", { class: "explained" }, "Share: fraction of all words with a vector. Cost: share times distance; a full bar is the whole distance."));
}
