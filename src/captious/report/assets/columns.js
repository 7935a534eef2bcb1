// Columns of the page: base64 of deflated arrays, each in an element of its own, unpacked when it is first asked for.

const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f8: Float64Array };
const NO_NUMBER = -(2 ** 31); // stands for a score that does not exist
const packed = document.querySelectorAll("script.column");
const unpacked = new Map();

/** What `make` gives for this key, made once. */
function once(key, make) {
  if (!unpacked.has(key)) unpacked.set(key, make());
  return unpacked.get(key);
}

/** A typed array. */
function integers(about) {
  return once(about, async () => {
    const kind = ARRAYS[about.type];
    const bytes = await inflated(packed[about.column].textContent);
    return new kind(about.planes ? gathered(bytes, kind.BYTES_PER_ELEMENT) : bytes);
  });
}

async function inflated(base64) {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

/** The bytes of values, of which first come all first bytes, then all second ones, and so on. */
function gathered(buffer, size) {
  const from = new Uint8Array(buffer), to = new Uint8Array(from.length), n = from.length / size;
  for (let plane = 0; plane < size; plane++)
    for (let i = 0; i < n; i++) to[i * size + plane] = from[plane * n + i];
  return to.buffer;
}

/** Numbers, NaN where there is none. */
function numbers(about) {
  return once(`numbers ${about.column}`, async () => {
    const values = await integers(about);
    if (about.type === "f8") return values;
    const scale = 10 ** about.digits;
    return Float64Array.from(values, (value) => (value === NO_NUMBER ? NaN : value / scale));
  });
}

/** An array of strings. */
function strings(about) {
  return once(about, async () => {
    const [bytes, lengths] = await Promise.all([integers(about.text), integers(about.lengths)]);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    let at = 0;
    return Array.from(lengths, (length) => text.slice(at, (at += length)));
  });
}

/** Lists of integers: list i is values.subarray(starts[i], starts[i + 1]). */
function lists(about) {
  return once(about, async () => {
    const [counts, values] = await Promise.all([integers(about.counts), integers(about.values)]);
    return { starts: sums(counts), values };
  });
}

/** 0, and the sums of the first values: where each list starts, given their lengths. */
function sums(counts) {
  const starts = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) starts[i + 1] = starts[i] + counts[i];
  return starts;
}
