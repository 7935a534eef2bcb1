// The editor of a draft: what was changed can be published, and is saved before an upload and the preview; other ways
// ask. The links of problems select their lines.
"use strict";

(() => {
  const form = document.getElementById("editor");
  const toml = document.getElementById("id_toml");
  if (!form || !toml) return;

  let changed = false;
  form.addEventListener("input", () => {
    changed = true;
    const publish = document.getElementById("publish");
    publish.disabled = false; // the button saves first
    publish.removeAttribute("aria-describedby");
    document.getElementById("why-not")?.remove();
  });
  form.addEventListener("submit", () => { changed = false; });
  addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });
  document.querySelector(".tabs a[href$=preview]").addEventListener("click", (event) => {
    if (!changed) return;
    event.preventDefault();
    form.requestSubmit(document.getElementById("preview"));
  });
  const upload = document.querySelector("form.upload");
  upload.addEventListener("submit", async (event) => {
    if (!changed) return;
    event.preventDefault();
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form) });
    changed = false;
    if (answer.ok) upload.requestSubmit();
    else form.requestSubmit(); // which shows what is wrong
  });

  for (const link of document.querySelectorAll("a[data-line]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const lines = toml.value.split("\n");
      const before = lines.slice(0, link.dataset.line - 1);
      const start = before.reduce((sum, line) => sum + line.length + 1, 0);
      toml.focus();
      toml.setSelectionRange(start, start + lines[before.length].length);
      toml.scrollTop = (toml.scrollHeight / lines.length) * Math.max(before.length - 5, 0);
    });
  }
})();
