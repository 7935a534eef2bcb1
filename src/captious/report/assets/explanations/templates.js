// Templates of layouts, as `captious.report.layouts` describes them: values of an explanation by their paths,
// and as text.

/** The value at a path of keys and positions; undefined if there is none. */
function at(values, path) {
  return path.split(".").reduce((value, part) => (value === undefined || value === null ? undefined : value[part]), values);
}

/** A template with its values; null if it needs one that is missing. */
function filledTemplate(template, values, signs) {
  let isWhole = true;
  const text = template.replace(/\{([^{}:]+)(?::([^{}]*))?\}/g, (_, path, form = "") => {
    const value = at(values, path);
    isWhole &&= value !== undefined;
    return value === undefined ? "" : writtenValue(value, form, signs);
  });
  return isWhole ? text : null;
}

/** A value as text, in a form that templates name. */
function writtenValue(value, form = "", signs = {}) {
  if (form === "sign") return value ? signs[value][0] : "";
  if (form === "pairs") return value.map((pair) => pair.map(nameOf).join(" ≈ ")).join(", ");
  if (form.includes(",")) {
    const [one, several] = form.split(","), n = Array.isArray(value) ? value.length : value;
    return `${n.toLocaleString("en")} ${n === 1 ? one : several}`;
  }
  if (value === null) return "–";
  if (Array.isArray(value)) return form ? value.map((each) => writtenValue(each, form)).join(" ") : listedValue(value);
  if (form) return score(value, Number(form));
  return typeof value === "number" ? value.toLocaleString("en") : plain(value);
}

/** Words, or a tuple of a scene graph, as people write it: dog, (dog, two), (dog, sit on, sofa). */
function listedValue(value) {
  if (!Array.isArray(value[0])) return value.map((word) => plain(word) || "|").join(" ");
  const parts = value.map((names) => names.map(nameOf).join("/"));
  return parts.length === 1 ? parts[0] : `(${parts.join(", ")})`;
}

function nameOf(name) {
  return plain(name).trim();
}
