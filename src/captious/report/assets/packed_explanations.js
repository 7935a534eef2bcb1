// Explanations that the page holds as columns: alignments, scene graphs, transport plans, coverage, agreements of words.

const MODULE_NAMES = ["exact", "stem", "synonym", "paraphrase"];

async function readAlignment(about, image, place, system, data) {
  const of = about.systems[system];
  const [best, precision, recall, counts, gaps, lengths, referenceGaps, referenceLengths, modules] = await Promise.all([
    integers(of.reference), numbers(of.precision), numbers(of.recall), integers(of.counts), integers(of.gaps),
    integers(of.lengths), integers(of.reference_gaps), integers(of.reference_lengths), integers(of.modules),
  ]);
  const starts = once(of, () => sums(counts));
  const [candidate, reference] = await Promise.all([
    tokensOf(about.table, system + 1, image), tokensOf(about.table, 0, data.starts[image] + best[place]),
  ]);
  const matches = [];
  let chunk = 0, matched = 0, end = 0, reference_end = 0;
  for (let k = starts[place]; k < starts[place + 1]; k++) {
    if (k === starts[place] || gaps[k] !== 0 || referenceGaps[k] !== 0) chunk++;
    const start = end + gaps[k], reference_start = reference_end + referenceGaps[k];
    end = start + lengths[k];
    reference_end = reference_start + referenceLengths[k];
    matched += lengths[k] + referenceLengths[k];
    matches.push({ start, end, reference_start, reference_end, module: MODULE_NAMES[modules[k]], chunk });
  }
  const isWhole = chunk === 1 && matched === candidate.length + reference.length; // METEOR does not count this chunk
  const fragmentation = matched && !isWhole ? chunk / (matched / 2) : 0;
  return { references: { [best[place]]: { candidate, reference, matches, chunks: chunk, precision: precision[place], recall: recall[place], fragmentation } } };
}

async function readScene(about, image, place, system) {
  const of = about.systems[system];
  const [names, ours, theirs, matches, rows, referenceRows] = await Promise.all([
    strings(about.names), sceneFacts(of), sceneFacts(about.references), integers(of.matches), ...of.rows.map(integers),
  ]);
  const named = (concepts) => concepts.map((concept) => names[concept].split(about.between));
  const references = factsAt(theirs, place).map(named), first = ours.firsts[place], firstReference = theirs.firsts[place], met = new Set();
  const candidate = factsAt(ours, place).map((concepts, i) => {
    const match = matches[first + i], own = named(concepts), other = match ? references[match - 1] : null;
    met.add(match);
    const isSame = () => own.every((names, part) => names.some((name) => other[part].includes(name)));
    return { names: own, match: other, status: other && (isSame() ? "same" : "synonyms"), row: rows[first + i] };
  });
  const matched = candidate.filter(({ match }) => match).length, share = (n) => (n ? matched / n : 0);
  return {
    candidate, matched, references: references.map((names, i) => ({ names, matched: met.has(i + 1), row: referenceRows[firstReference + i] })),
    precision: share(candidate.length), recall: share(references.length),
  };
}

async function sceneFacts(about) {
  const [counts, concepts] = await Promise.all([Promise.all(about.counts.map(integers)), integers(about.concepts)]);
  return once(about, () => {
    const n = counts[0].length, firsts = new Uint32Array(n + 1), starts = new Uint32Array(n + 1);
    for (let i = 0; i < n; i++) {
      firsts[i + 1] = firsts[i] + counts[0][i] + counts[1][i] + counts[2][i];
      starts[i + 1] = starts[i] + counts[0][i] + 2 * counts[1][i] + 3 * counts[2][i];
    }
    return { counts, concepts, firsts, starts };
  });
}

/** Tuples of an image as numbers of names: objects, attributes, relations. */
function factsAt({ counts, concepts, starts }, place) {
  const facts = [];
  let at = starts[place];
  counts.forEach((ofKind, kind) => {
    for (let i = 0; i < ofKind[place]; i++) {
      facts.push(Array.from(concepts.subarray(at, at + kind + 1)));
      at += kind + 1;
    }
  });
  return facts;
}

async function readTransport(about, image, place, system) {
  const of = about.systems[system];
  const [words, ours, theirs, distances, reference, counts, pairs, shares] = await Promise.all([
    strings(about.words), integers(about.pairs[0]), integers(about.pairs[1]), numbers(about.distances),
    integers(of.reference), integers(of.counts), integers(of.moves), numbers(of.shares),
  ]);
  const starts = once(of, () => sums(counts)), moves = [];
  for (let k = starts[place]; k < starts[place + 1]; k++)
    moves.push({ word: words[ours[pairs[k]]], reference_word: words[theirs[pairs[k]]], share: shares[k], distance: distances[pairs[k]], cost: shares[k] * distances[pairs[k]] });
  const distance = moves.length ? moves.reduce((sum, { cost }) => sum + cost, 0) : null;
  return { references: { [reference[place]]: { moves, distance, score: distance === null ? 0 : Math.exp(-distance / about.sigma) } } };
}

async function readCoverage(about, image, place, system) {
  const of = about.systems[system];
  const [theirs, lengths, perImage, ours, counts, cells] = await Promise.all([
    strings(about.sentences), integers(about.counts), integers(about.references), strings(of.sentences), integers(of.counts), numbers(of.cells),
  ]);
  const firsts = once(about, () => ({ side: sums(perImage), sentence: sums(lengths) }));
  const [first, last] = [firsts.side[place], firsts.side[place + 1]];
  const references = [];
  for (let side = first; side < last; side++) references.push(theirs.slice(firsts.sentence[side], firsts.sentence[side + 1]));
  const ownFirsts = once(of, () => {
    const sentence = sums(counts), cell = [0];
    for (let i = 0; i < counts.length; i++)
      cell.push(cell[i] + counts[i] * (firsts.sentence[firsts.side[i + 1]] - firsts.sentence[firsts.side[i]]));
    return { sentence, cell };
  });
  const sentences = ours.slice(ownFirsts.sentence[place], ownFirsts.sentence[place + 1]), m = references.flat().length;
  const matrix = sentences.map((_, i) => Array.from(cells.slice(ownFirsts.cell[place] + i * m, ownFirsts.cell[place] + (i + 1) * m)));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
  const names = references.flatMap((side, i) => side.map((_, j) => `${i + 1}.${j + 1}`)), own = sentences.map((_, i) => String(i + 1));
  const covered = (name, text, scores, others) => {
    const best = Math.max(0, ...scores);
    return { name, text, best, by: best > 0 ? others[scores.indexOf(best)] : null };
  };
  const candidate = sentences.map((text, i) => covered(own[i], text, matrix[i], names));
  const theirSentences = references.flat().map((text, j) => covered(names[j], text, matrix.map((line) => line[j]), own));
  let at = 0;
  const recalls = references.filter((side) => side.length).map((side) => mean(theirSentences.slice(at, (at += side.length)).map(({ best }) => best)));
  const precision = m ? mean(candidate.map(({ best }) => best)) : 0, recall = mean(recalls), total = precision + recall;
  return { candidate, references: theirSentences, matrix, precision, recall, score: total ? (2 * precision * recall) / total : 0 };
}

async function readAgreement(about, image, place, system) {
  const of = about.systems[system], names = Object.keys(about.coefficients);
  const [tokens, own, scores, centroids, values, unsound, ...ofParts] = await Promise.all([
    strings(manifest.explanations.tables[about.table].tokens), tokensOf(about.table, system + 1, image), numbers(of.scores),
    numbers(of.centroids), numbers(of.features), lists(of.unsound), ...[of.cosines, of.words, of.missing].map(({ counts }) => integers(counts)),
  ]);
  const [cosines, shares, similarities, supported, closest, instead, missing, losses] = await Promise.all([
    numbers(of.cosines.values), numbers(of.words.shares), numbers(of.words.similarities), integers(of.words.supported),
    integers(of.words.closest), integers(of.words.instead), integers(of.missing.words), numbers(of.missing.losses),
  ]);
  const starts = once(of, () => ofParts.map(sums));
  const places = starts.map((of) => Array.from({ length: of[place + 1] - of[place] }, (_, i) => of[place] + i));
  const named = (number) => (number ? tokens[number - 1] : null), ends = ["", ...own, ""];
  const features = names.map((name, i) => ({ name, value: values[place * names.length + i] }));
  const value = Object.fromEntries(features.map(({ name, value }) => [name, value]));
  return {
    score: scores[place], centroid: centroids[place], precision: value.precision, recall: value.recall,
    cosines: places[0].map((k) => cosines[k]),
    words: places[1].map((k, i) => ({
      word: own[i], share: shares[k], similarity: similarities[k], closest: named(closest[k]), instead: named(instead[k]),
      status: supported[k] ? "supported" : "unsupported",
    })),
    missing: places[2].map((k) => [named(missing[k]), losses[k]]),
    unsound: Array.from(unsound.values.subarray(unsound.starts[place], unsound.starts[place + 1]), (i) => [ends[i], ends[i + 1]]),
    features: features.map(({ name, value }) => ({ name, value, adds: value * about.coefficients[name] })),
  };
}
