// One image: its candidates with all scores, its references, and why the candidates got a score.

/** What gives the explanation of a caption, by its kind. */
const READERS = {
  alignment: readAlignment, coverage: readCoverage, "ngram-matches": matchNgrams, "ngram-weights": weighNgrams,
  scene: readScene, subsequences: matchSubsequences, transport: readTransport, words: readAgreement,
};

class ImagePanel {
  /** @param {(by: number) => void} move selects the image before or after this one */
  constructor(data, move) {
    this.data = data;
    this.move = move;
    this.explanation = 0;
    this.node = element("section", { class: "image", "aria-label": "Image" });
    new ResizeObserver(() => { if (this.shown && Math.abs(this.node.clientWidth - this.width) > 20) this.show(...this.shown); }).observe(this.node);
  }

  /** Explain by the metric that an output is of, or is made of, if the page has its explanations. */
  explainBy(output) {
    const place = manifest.explanations.metrics.findIndex(({ explains }) => explains.includes(output));
    if (place >= 0) this.explanation = place;
  }

  async show(image, place) {
    const key = (this.latest = {});
    if (image < 0) return;
    this.shown = [image, place];
    this.width = this.node.clientWidth;
    const captions = await Promise.all(manifest.captions.lists.map((_, list) => loadCaptions(list)));
    const explanations = manifest.explanations.metrics;
    const why = explanations.length ? await this.why(image, explanations[this.explanation]) : [];
    if (key !== this.latest) return;
    const id = this.data.ids.texts[image];
    const focused = this.node.contains(document.activeElement) ? document.activeElement.dataset.name : null;
    const references = [];
    for (let row = this.data.starts[image]; row < this.data.starts[image + 1]; row++) references.push(element("li", { dir: "auto" }, captions[0].text(row)));
    this.node.replaceChildren(...[
      element("div", { class: "top" }, element("h3", {}, `Image ${id}`), this.steps(place)),
      this.picture(imageAddress(this.data, image), id),
      explanations.length ? element("div", { class: "controls" }, field("Explain", this.chooser(explanations))) : null,
      ...manifest.systems.map((name, system) => element("article", { class: "candidate" },
        element("h4", {}, element("span", { class: `mark series-${system % COLORS}`, "aria-hidden": "true" }), name),
        element("p", { class: "caption", dir: "auto" }, captions[system + 1].text(image)),
        this.scores(image, system),
        why[system] ?? null)),
      element("h4", {}, `References`),
      element("ul", { class: "references" }, references),
    ].filter(Boolean));
    if (focused) this.node.querySelector(`[data-name="${focused}"]`)?.focus();
  }

  steps({ position, of }) {
    const button = (text, by, name) => element("button", {
      type: "button", class: "quiet", "data-name": name, "aria-label": `${text} image`, onclick: () => this.move(by),
      "aria-disabled": String(position + by < 0 || position + by >= of),
    }, text);
    return element("div", { class: "steps" }, button("Previous", -1, "previous"),
      element("span", { class: "quiet" }, `${(position + 1).toLocaleString("en")} of ${of.toLocaleString("en")}`), button("Next", 1, "next"));
  }

  chooser(explanations) {
    const select = choice(explanations.map(({ label }, i) => [i, label]), this.explanation, (value) => {
      this.explanation = Number(value);
      this.show(...this.shown);
    });
    select.dataset.name = "explain";
    return select;
  }

  scores(image, system) {
    return element("dl", { class: "scores" }, manifest.outputs.map((output, i) => {
      const value = this.data.scores[i][system][image];
      const others = this.data.scores[i].map((values) => values[image]);
      const [best, worst] = output.lower ? [Math.min(...others), Math.max(...others)] : [Math.max(...others), Math.min(...others)];
      return element("div", { class: output.ranked && value === best && best !== worst ? "best" : null }, element("dt", {}, labeled(output)), element("dd", {}, shown(score, value, 4)));
    }));
  }

  picture(address, id) {
    if (!address) return null;
    const figure = element("p", { class: "picture" });
    figure.append(element("img", {
      src: address, alt: `Image ${id}`, decoding: "async", referrerpolicy: "no-referrer",
      onerror: () => figure.replaceChildren(element("span", { class: "quiet" }, "The picture cannot be loaded from "), element("code", {}, address)),
    }));
    return figure;
  }

  /** One explanation per system. */
  async why(image, about) {
    const place = about.systems ? await explainedPlace(image) : image; // the others are computed here
    if (place < 0) return manifest.systems.map(() => element("p", { class: "quiet" }, `This image is not among those whose explanations by ${about.label} are in this file.`));
    const width = Math.max(this.node.clientWidth - WHY_PADDING, 240);
    return Promise.all(manifest.systems.map(async (_, system) => (
      drawExplanation(about.layout, await READERS[about.kind](about, image, place, system, this.data), { width, full: fullBar(about.label) }))));
  }
}

/** What a full bar stands for in every image and system: the best corpus score, or 1 where the page has none. */
function fullBar(label) {
  const corpus = manifest.outputs.find(({ name }) => name === label)?.corpus ?? [];
  return Math.max(...corpus) || 1;
}

/** Where an image is, or null. */
function imageAddress({ ids, files }, image) {
  if (files) return files[image];
  return manifest.url && manifest.url.map((piece) => (typeof piece === "string" ? piece : padded(ids.texts[image], piece, ids.isNumber(image)))).join("");
}

/** An id in an address: numbers with leading zeros, text with its special characters escaped. */
function padded(id, digits, isNumber) {
  if (!isNumber) return id.split("/").map(encodeURIComponent).join("/");
  return id.startsWith("-") ? `-${id.slice(1).padStart(digits - 1, "0")}` : id.padStart(digits, "0");
}
