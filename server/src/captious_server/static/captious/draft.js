// The editor of a draft: what was changed can be published, outputs of chosen metrics can rank, and Markdown is shown as it will look, below the text, while
// somebody writes it. The server makes the HTML, and sanitizes it.
"use strict";

(() => {
  const form = document.querySelector("form[data-markdown]");
  if (!form) return;
  const wait = 600;

  // What has been changed can be published: the button saves first.
  form.addEventListener("input", () => {
    const publish = document.getElementById("publish");
    publish.disabled = false;
    publish.removeAttribute("aria-describedby");
    document.getElementById("why-not")?.remove();
  }, { once: true });

  // The outputs of metrics that are not ticked cannot rank.
  const ranked = form.elements.rank_by;
  const ticks = new Map([...form.querySelectorAll("[name=metrics]")].map((tick) => [tick.value, tick]));
  const offer = () => {
    for (const group of ranked.querySelectorAll("optgroup")) {
      const tick = ticks.get(group.label);
      group.hidden = group.disabled = Boolean(tick) && !tick.checked && !group.querySelector(":checked");
    }
  };
  for (const tick of ticks.values()) tick.addEventListener("change", offer);
  ranked.addEventListener("change", offer);
  offer();

  // What was changed is saved before an upload, which loads the page again, and before the preview; other ways ask.
  let changed = false;
  form.addEventListener("input", (event) => { changed ||= event.target.form === form; });
  for (const upload of document.querySelectorAll("form.upload")) {
    upload.addEventListener("submit", async (event) => {
      if (!changed) return;
      event.preventDefault();
      const answer = await fetch(location.href, { method: "POST", body: new FormData(form) });
      changed = false;
      if (answer.ok) upload.requestSubmit();
      else form.requestSubmit(); // which shows what is wrong
    });
  }

  form.addEventListener("submit", () => { changed = false; });
  document.querySelector(".tabs a[href$=preview]").addEventListener("click", (event) => {
    if (!changed) return;
    event.preventDefault();
    form.requestSubmit(document.getElementById("preview"));
  });
  addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });

  for (const area of form.querySelectorAll("textarea.markdown")) {
    const shown = document.createElement("div");
    shown.className = "prose";
    shown.setAttribute("role", "region");
    shown.tabIndex = 0; // beside the text, it scrolls
    shown.setAttribute("aria-label", `Preview of ${area.closest("details").querySelector("summary").textContent.trim()}`);
    area.after(shown);
    let timer;
    let last = 0;

    const render = async () => {
      const turn = ++last;
      const body = new FormData();
      body.append("markdown", area.value);
      body.append("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
      try {
        const answer = await fetch(form.dataset.markdown, { method: "POST", body });
        if (answer.ok && turn === last) shown.innerHTML = await answer.text();
      } catch {
        // The next change tries again.
      }
    };
    area.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(render, wait);
    });
    if (area.value) area.closest("details").addEventListener("toggle", render, { once: true });
  }
})();
