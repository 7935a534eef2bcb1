// Explanations that the page computes from tokens: n-grams of BLEU and CIDEr, common subsequences of ROUGE-L.

/** The words of the candidate of an image, and of its references. */
async function wordsOfImage(about, image, system, data) {
  const rows = Array.from({ length: data.starts[image + 1] - data.starts[image] }, (_, i) => data.starts[image] + i);
  return Promise.all([tokensOf(about.table, system + 1, image), Promise.all(rows.map((row) => tokensOf(about.table, 0, row)))]);
}

/** N-grams of orders 1 to 4 with their counts. */
function ngramsOf(tokens) {
  const ngrams = new Map();
  for (let n = 1; n <= 4; n++)
    for (let i = 0; i + n <= tokens.length; i++) {
      const words = tokens.slice(i, i + n), key = words.join(" ");
      if (ngrams.has(key)) ngrams.get(key).count++;
      else ngrams.set(key, { key, words, count: 1 });
    }
  return ngrams;
}

async function matchNgrams(about, image, place, system, data) {
  const [candidate, references] = await wordsOfImage(about, image, system, data);
  const theirs = references.map(ngramsOf);
  const ngrams = [...ngramsOf(candidate).values()].map(({ key, words, count }) => (
    { words, count, matched: Math.min(count, Math.max(0, ...theirs.map((side) => side.get(key)?.count ?? 0))) }));
  const [tiny, small] = about.added;
  const orders = [1, 2, 3, 4].map((n) => {
    const ofOrder = ngrams.filter(({ words }) => words.length === n);
    const [matched, count] = ["matched", "count"].map((name) => ofOrder.reduce((total, ngram) => total + ngram[name], 0));
    const precision = count + small ? (matched + tiny) / (count + small) : 0;
    return { precision, matched, count, ngrams: ofOrder.sort((a, b) => !a.matched - !b.matched) };
  });
  const length = candidate.length, distance = (n) => Math.abs(n - length);
  const closest_length = references.map((reference) => reference.length).sort((a, b) => distance(a) - distance(b) || a - b)[0];
  const ratio = small ? (length + tiny) / (closest_length + small) : length === closest_length ? 1 : length / closest_length;
  const brevity_penalty = ratio < 1 ? Math.exp(1 - 1 / ratio) : 1;
  const scores = {};
  let product = 1;
  orders.forEach(({ precision }, n) => {
    product *= precision;
    scores[`bleu-${n + 1}`] = product ** (1 / (n + 1)) * brevity_penalty;
  });
  return { candidate, scores, orders, brevity_penalty, length, closest_length };
}

async function matchSubsequences(about, image, place, system, data) {
  const [candidate, references] = await wordsOfImage(about, image, system, data);
  const parts = references.map((reference) => {
    const places = commonPlaces(candidate, reference), isEmpty = !candidate.length && !reference.length; // two empty words
    const share = (n) => (isEmpty ? 1 : places.length / Math.max(n, 1));
    return { reference, places, precision: share(candidate.length), recall: share(reference.length) };
  });
  const f = ({ precision, recall }) => (precision && recall ? ((1 + about.beta ** 2) * precision * recall) / (recall + about.beta ** 2 * precision) : 0);
  const most = (values) => Math.max(...values);
  const best = about.separately
    ? { precision: most(parts.map(({ precision }) => precision)), recall: most(parts.map(({ recall }) => recall)) }
    : parts.reduce((a, b) => (f(b) > f(a) ? b : a));
  return { candidate, references: parts, precision: best.precision, recall: best.recall, score: f(best) };
}

/** Positions of the longest common subsequence in both, as far to the left as possible. */
function commonPlaces(ours, theirs) {
  const longest = Array.from({ length: ours.length + 1 }, () => new Uint16Array(theirs.length + 1));
  for (let i = ours.length - 1; i >= 0; i--)
    for (let j = theirs.length - 1; j >= 0; j--)
      longest[i][j] = ours[i] === theirs[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const places = [];
  for (let i = 0, j = 0; i < ours.length && j < theirs.length && longest[i][j];) {
    if (ours[i] === theirs[j]) places.push([i++, j++]);
    else if (longest[i + 1][j] >= longest[i][j + 1]) i++;
    else j++;
  }
  return places;
}

async function weighNgrams(about, image, place, system, data) {
  const [[candidate, references], idf] = await Promise.all([wordsOfImage(about, image, system, data), weights(about)]);
  const { ngrams, score } = cider(candidate, references, idf, about);
  return {
    candidate, score, ngrams: ngrams.sort((a, b) => b.adds - a.adds || b.weight - a.weight),
    orders: [1, 2, 3, 4].map((n) => ngrams.reduce((sum, { words, adds }) => sum + (words.length === n ? adds : 0), 0)),
    n_references: references.length, n_documents: about.documents,
  };
}

/** A function of the words of an n-gram that gives its inverse document frequency. */
async function weights(about) {
  const [tokens, ...columns] = await Promise.all([
    strings(manifest.explanations.tables[about.table].tokens), ...["lengths", "words", "documents"].map((name) => integers(about.ngrams[name])),
  ]);
  const [lengths, words, documents] = columns;
  const nodes = once(about.ngrams, () => {
    const nodes = new Map(), path = [0, 0, 0, 0, 0]; // node 0 is the root, node k + 1 the k-th n-gram
    for (let k = 0; k < lengths.length; k++) {
      const n = lengths[k];
      nodes.set(path[n - 1] * 2 ** 24 + words[k], k + 1);
      path[n] = k + 1;
    }
    return nodes;
  });
  const numberOf = once(tokens, () => new Map(tokens.map((token, number) => [token, number])));
  const log = Math.log(about.documents);
  return (ngram) => {
    let node = 0;
    for (const word of ngram) {
      node = nodes.get(node * 2 ** 24 + numberOf.get(word));
      if (node === undefined) return log;
    }
    return log - Math.log(Math.max(1, documents[node - 1]));
  };
}

/** The score, and of each n-gram of the candidate its weight, the references that have it, and what it adds. */
function cider(candidate, references, idf, { scale, clip, relative, factor }) {
  const counted = (tokens) => [...ngramsOf(tokens).values()].map((ngram) => ({ ...ngram, weight: idf(ngram.words) }));
  const ngrams = counted(candidate).map((ngram) => ({ ...ngram, references: 0, adds: 0 }));
  const mine = norms(ngrams);
  for (const reference of references) {
    const weighted = counted(reference), norm = norms(weighted), theirs = new Map(weighted.map((ngram) => [ngram.key, ngram]));
    const similarity = scale * FACTORS[factor.kind](candidate, reference, factor);
    for (const ngram of ngrams) {
      const other = theirs.get(ngram.key);
      if (!other) continue;
      ngram.references++;
      const order = ngram.words.length - 1;
      const adjust = relative ? (reference.length - order) / (candidate.length - order) : 1;
      const a = ngram.count * ngram.weight * adjust, b = other.count * ngram.weight, size = mine[order] * adjust * norm[order];
      if (size) ngram.adds += (similarity * (clip ? Math.min(a, b) : a) * b) / size / 4 / references.length;
    }
  }
  return { score: ngrams.reduce((sum, ngram) => sum + ngram.adds, 0), ngrams };
}

function norms(ngrams) {
  const squares = [0, 0, 0, 0];
  for (const { words, count, weight } of ngrams) squares[words.length - 1] += (count * weight) ** 2;
  return squares.map(Math.sqrt);
}

/** What the similarity with a reference is multiplied by: nothing in CIDEr, the length in CIDEr-D, both in CIDEr-R. */
const FACTORS = {
  none: () => 1,
  length: (candidate, reference, { sigma, in_words }) => {
    const [a, b] = [candidate, reference].map(({ length }) => (in_words ? length : Math.max(length - 1, 0)));
    return Math.exp(-((a - b) ** 2) / (2 * sigma ** 2));
  },
  repetition: (candidate, reference, { repetition, length }) => {
    const [c, r] = [candidate, reference].map((words) => Math.max(words.length, 1));
    const [ours, theirs] = [candidate, reference].map(pieceCounts);
    let logs = 0;
    for (const [piece, n] of ours) logs -= Math.log(1 + (theirs.has(piece) ? Math.abs(theirs.get(piece) - n) : n - 1));
    return ours.size ? Math.exp(-(((c - r) / r) ** 2) * length + (logs / ours.size) * repetition) : 0;
  },
};

function pieceCounts(words) {
  const counts = new Map();
  for (const piece of words.join(" ").match(/[\p{L}\p{N}_]+/gu) ?? []) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  return counts;
}
