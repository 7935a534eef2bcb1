// The captions of all images: chosen by text and by scores, sorted, each with its explanations.

const ORDERS = { high: "highest first", low: "lowest first", large: "largest first" };

class Explorer {
  constructor(data) {
    this.data = data;
    this.texts = []; // of each list of captions, once a search has asked for them
    const by = manifest.outputs.findIndex((output) => output.name === manifest.by);
    const several = manifest.systems.length > 1;
    this.chosen = {
      by: several ? "difference" : "score", output: by, other: by > 0 ? 0 : Math.min(1, manifest.outputs.length - 1),
      a: 0, b: several ? 1 : 0, order: several ? "large" : this.worst(by), from: "", to: "", text: "", group: -1,
    };
    this.image = new ImagePanel(data, (by) => this.list.move(by));
    this.image.explainBy(manifest.by);
    this.list = new List("Captions", (row) => this.row(row), (row) => this.image.show(row, this.place()));
    this.controls = element("form", { class: "controls", onsubmit: (event) => event.preventDefault() });
    this.summary = element("p", { class: "where", role: "status" });
  }

  async start(host) {
    this.captions = await Promise.all(manifest.systems.map((_, system) => loadCaptions(system + 1)));
    this.search = element("input", { type: "search", placeholder: "words of a caption, or an image id", oninput: () => this.later() });
    host.append(element("div", { class: "controls" }, field("Search", this.search, { class: "field wide" })), this.controls, this.summary,
      element("div", { class: `explorer${manifest.systems.length > 1 ? "" : " one"}` }, this.list.node, this.image.node));
    this.drawControls();
    await this.refresh();
  }

  /** The order that has the worst captions of an output first. */
  worst(output) {
    return manifest.outputs[output].lower ? "high" : "low";
  }

  place() {
    return { position: this.list.position, of: this.list.rows.length };
  }

  later() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => { this.chosen.text = this.search.value; this.refresh(); }, 150);
  }

  /** The controls that the chosen order needs. */
  drawControls() {
    const { chosen } = this, { systems, outputs } = manifest;
    const set = (name, isNumber) => (value) => {
      chosen[name] = isNumber ? Number(value) : value;
      if (name === "output") this.image.explainBy(outputs[chosen.output].name);
      this.drawControls();
      this.refresh();
    };
    const outputList = outputs.map((output, i) => [i, labeled(output)]), systemList = systems.map((name, i) => [i, name]);
    const kinds = [["score", "score"], ...(systems.length > 1 ? [["difference", "difference between systems"]] : []),
      ...(outputs.length > 1 ? [["disagreement", "disagreement of metrics"]] : []), ["place", "order of the references"]];
    const isScored = chosen.by !== "place";
    const focused = [...this.controls.elements].indexOf(document.activeElement);
    this.controls.replaceChildren(...[
      manifest.groups && field(manifest.groups.by, choice([[-1, "all"], ...manifest.groups.names.map((name, i) => [i, name])], chosen.group, set("group", true))),
      field("Sort by", choice(kinds, chosen.by, (value) => {
        chosen.order = value === "score" ? this.worst(chosen.output) : "large";
        chosen.from = chosen.to = "";
        set("by")(value);
      })),
      isScored && field(chosen.by === "disagreement" ? "of metric" : "in metric", choice(outputList, chosen.output, set("output", true))),
      chosen.by === "disagreement" && field("with metric", choice(outputList, chosen.other, set("other", true))),
      systems.length > 1 && field(chosen.by === "difference" ? "from system" : "System", choice(systemList, chosen.a, set("a", true))),
      systems.length > 1 && field(chosen.by === "difference" ? "to system" : "beside", choice(systemList, chosen.b, set("b", true))),
      isScored && field("Order", choice(Object.entries(ORDERS).filter(([key]) => key !== "large" || chosen.by !== "score"), chosen.order, set("order"))),
      isScored && field("From", this.bound("from"), { class: "field bound" }),
      isScored && field("to", this.bound("to"), { class: "field bound" }),
    ].filter(Boolean));
    if (focused >= 0) this.controls.elements[focused]?.focus();
  }

  bound(name) {
    const input = element("input", {
      type: "number", step: "any", value: this.chosen[name],
      oninput: () => { this.chosen[name] = input.value; this.refresh(); },
    });
    return input;
  }

  /** What images are sorted by, or null for their own order. */
  values() {
    const { by, output, other, a, b } = this.chosen, { scores } = this.data;
    if (by === "place") return null;
    if (by === "score") return scores[output][a];
    if (by === "difference") return scores[output][b].map((value, i) => value - scores[output][a][i]);
    const ranks = [output, other].map((i) => percentiles(scores[i][a], manifest.outputs[i].lower));
    return ranks[0].map((value, i) => value - ranks[1][i]);
  }

  async refresh() {
    const { chosen } = this, key = (this.latest = {});
    const values = this.values();
    const matches = await this.matching(chosen.text.trim().toLowerCase());
    if (key !== this.latest) return; // something else was chosen meanwhile
    const from = chosen.from === "" ? -Infinity : Number(chosen.from), to = chosen.to === "" ? Infinity : Number(chosen.to);
    const rows = [];
    for (let i = 0; i < manifest.images; i++) {
      const value = values ? values[i] : 0;
      const isInside = from === -Infinity && to === Infinity ? true : value >= from && value <= to;
      const isOfGroup = chosen.group < 0 || this.data.groups[i] === chosen.group;
      if (isInside && isOfGroup && (matches === null || matches[i])) rows.push(i);
    }
    if (values) {
      const size = { high: (v) => v, low: (v) => -v, large: Math.abs }[chosen.order];
      const sizes = values.map((v) => (Number.isNaN(v) ? -Infinity : size(v)));
      rows.sort((i, j) => (sizes[i] === sizes[j] ? i - j : sizes[i] < sizes[j] ? 1 : -1)); // images without a value last
    }
    this.current = values;
    this.summary.textContent = `${count(rows.length, "image")}${rows.length < manifest.images ? ` of ${manifest.images.toLocaleString("en")}` : ""}${this.meaning()}`;
    this.list.node.hidden = this.image.node.hidden = rows.length === 0;
    this.list.show(rows);
  }

  meaning() {
    const { by, output, other, a, b } = this.chosen, { systems, outputs } = manifest;
    const of = systems.length > 1 ? ` of ${systems[a]}` : "";
    if (by === "score") return ` · ${outputs[output].name}${of}`;
    if (by === "difference") return ` · ${outputs[output].name}, ${systems[b]} − ${systems[a]}`;
    if (by === "disagreement") return ` · percentile in ${outputs[output].name} − percentile in ${outputs[other].name}${of}`;
    return "";
  }

  /** Which images have this text in a caption, a reference or their id; null for all of them. */
  async matching(text) {
    if (text === "") return null;
    const matches = new Uint8Array(manifest.images), { starts, ids } = this.data;
    for (let list = 0; list < manifest.captions.lists.length; list++) {
      if (!this.texts[list]) {
        const captions = await loadCaptions(list);
        this.texts[list] = Array.from({ length: captions.size }, (_, row) => captions.text(row).toLowerCase());
      }
    }
    for (let image = 0; image < manifest.images; image++) {
      matches[image] = ids.texts[image] === text || this.texts.some((texts, list) => (list > 0
        ? texts[image].includes(text)
        : texts.slice(starts[image], starts[image + 1]).some((caption) => caption.includes(text)))) ? 1 : 0;
    }
    return matches;
  }

  thumbnail(image) {
    const src = imageAddress(this.data, image);
    return src && element("img", { class: "thumbnail", src, alt: "", decoding: "async", referrerpolicy: "no-referrer", onerror: (event) => event.target.removeAttribute("src") });
  }

  /** A row of the list: the image, what it is sorted by, and the captions of the chosen systems. */
  row(image) {
    const { a, b, output, by } = this.chosen;
    const value = this.current ? this.current[image] : null;
    const key = by === "difference" ? shown(signed, value, 3) : by === "disagreement" ? signed(value, 3) : "";
    const systems = a === b ? [a] : [a, b];
    return [
      this.thumbnail(image),
      element("span", { class: "head" }, element("span", { class: "id" }, this.data.ids.texts[image]), element("span", { class: "key" }, key)),
      ...systems.map((system) => element("span", { class: "line" },
        element("span", { class: `mark series-${system % COLORS}`, "aria-hidden": "true" }),
        element("span", { class: "caption", dir: "auto" }, plain(this.captions[system].text(image)).slice(0, 300) || "(empty)"),
        element("span", { class: "value" }, shown(score, this.data.scores[output][system][image], 3)))),
    ];
  }
}

/** Shares of values that are worse, those that are equal counting half; NaN stays. */
function percentiles(values, lowerIsBetter) {
  const sign = lowerIsBetter ? -1 : 1;
  const ranked = Array.from(values.keys()).filter((i) => !Number.isNaN(values[i])).sort((i, j) => sign * (values[i] - values[j]));
  const shares = new Float64Array(values.length).fill(NaN);
  for (let start = 0, end; start < ranked.length; start = end) {
    for (end = start; end < ranked.length && values[ranked[end]] === values[ranked[start]]; end++);
    for (let k = start; k < end; k++) shares[ranked[k]] = (start + end) / 2 / ranked.length;
  }
  return shares;
}
