// What the page knows: systems, scores, captions and their tokens.

const manifest = JSON.parse(document.getElementById("manifest").textContent);

const SCALE = manifest.percent ? 100 : 1; // of scores

/** A score or a difference as it is shown, in hundredths with one decimal or with these digits. */
function shown(write, value, digits) {
  return write(value, manifest.percent ? 1 : digits);
}

/** Scores by output and system, image ids, where the references of each image start, and the group of each image. */
async function loadScores() {
  const { outputs, ids, references, groups, files } = manifest;
  const scores = await Promise.all(outputs.map((output) => Promise.all(output.scores.map(async (about) => (await numbers(about)).map((value) => SCALE * value)))));
  return { scores, files: files && (await strings(files)), ids: await imageIds(ids), starts: sums(await integers(references)), groups: groups && (await integers(groups.of_images)) };
}

async function imageIds(about) {
  if (about.numbers) return { texts: Array.from(await integers(about.numbers), String), isNumber: () => true };
  const [texts, areNumbers] = await Promise.all([strings(about.texts), integers(about.are_numbers)]);
  return { texts, isNumber: (image) => areNumbers[image] === 1 };
}

/** Captions: list 0 has the references, list s + 1 the candidates of system s. */
async function loadCaptions(list) {
  const [words, of] = await Promise.all([strings(manifest.captions.words), lists(manifest.captions.lists[list])]);
  return {
    size: of.starts.length - 1,
    text: (row) => Array.from(of.values.subarray(of.starts[row], of.starts[row + 1]), (word) => words[word]).join(" "),
  };
}

/** Tokens of the captions of a list: a function of the row that gives numbers of tokens. */
async function loadTokens(table, list) {
  const about = manifest.explanations.tables[table];
  const other = about.others.find((entry) => entry.list === list);
  const [ofWords, captions, rows, counts, values] = await Promise.all([
    lists(about.of_words), lists(manifest.captions.lists[list]), integers(other.rows), integers(other.counts), integers(other.values),
  ]);
  const starts = sums(counts);
  const exceptions = once(other, () => new Map(Array.from(rows, (row, i) => [row, i])));
  return (row) => {
    const i = exceptions.get(row);
    if (i !== undefined) return values.slice(starts[i], starts[i + 1]);
    const tokens = [];
    for (let at = captions.starts[row]; at < captions.starts[row + 1]; at++) {
      const word = captions.values[at];
      for (let k = ofWords.starts[word]; k < ofWords.starts[word + 1]; k++) tokens.push(ofWords.values[k]);
    }
    return tokens;
  };
}

/** The tokens of one caption. */
async function tokensOf(table, list, row) {
  const [words, tokens] = await Promise.all([strings(manifest.explanations.tables[table].tokens), loadTokens(table, list)]);
  return Array.from(tokens(row), (token) => words[token]);
}

/** The place of an image among those that are explained, or -1. */
async function explainedPlace(image) {
  const about = manifest.explanations.rows;
  if (about === null) return image;
  const rows = await integers(about);
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] < image) low = middle + 1;
    else high = middle;
  }
  return rows[low] === image ? low : -1;
}
