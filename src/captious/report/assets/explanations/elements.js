// Elements and numbers. Text from outside goes into text nodes and attributes only, never into HTML.

/** An element. Attributes that are null or false are left out; children may be text. */
function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

let fields = 0; // so far, which have ids

/** A control under its label. */
function field(label, control, attributes = {}) {
  control.id = `field-${fields++}`;
  return element("div", { class: "field", ...attributes }, element("label", { for: control.id }, label), control);
}

/** A drop-down list of [value, text]. */
function choice(options, chosen, changed) {
  const select = element("select", { onchange: () => changed(select.value) });
  select.append(...options.map(([value, text]) => element("option", { value, selected: String(value) === String(chosen) }, text)));
  return select;
}

/** ".7080", "1.0957", "−.0312"; a dash where there is no number. */
function score(value, digits = 4) {
  if (Number.isNaN(value) || value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "−inf";
  let text = value.toFixed(digits);
  if (Number(text) === 0) text = text.replace("-", "");
  return text.replace(/^(-?)0\./, "$1.").replace("-", "−");
}

function signed(value, digits = 4) {
  const text = score(value, digits);
  return /^[−–]/.test(text) ? text : `+${text}`;
}

function count(n, noun) {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

/** Text on one line: control characters as spaces. */
function plain(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => (c === "\u200c" || c === "\u200d" ? c : " "));
}

/** The name of an output, marked if lower scores are better. */
function labeled({ name, lower }) {
  return lower ? `${name} ↓` : name;
}
