// Tables of which one is shown at a time: differences of a pair of systems, scores of an output by group.

/** Show one of the blocks of a section, which a drop-down list names. */
function chooseOne(id, selector, label, names, first = 0) {
  const section = document.getElementById(id);
  const blocks = section ? [...section.querySelectorAll(selector)] : [];
  if (blocks.length < 2) return;
  const show = (chosen) => blocks.forEach((block, i) => { block.hidden = i !== Number(chosen); });
  section.querySelector("h2").after(element("div", { class: "controls" }, field(label, choice(names.map((name, i) => [i, name]), first, show))));
  show(first);
}

function chooseTables() {
  const pairs = [...document.querySelectorAll("#differences .pair")].map(({ dataset }) => `${manifest.systems[dataset.b]} − ${manifest.systems[dataset.a]}`);
  const outputs = manifest.outputs.map(({ name }) => name);
  chooseOne("differences", ".pair", "Systems", pairs);
  chooseOne("groups", ".output", "Metric", outputs, outputs.indexOf(manifest.by));
}
