// The editor of a draft: what was changed can be published, and Markdown is shown as it will look, below the text, while
// somebody writes it. The server makes the HTML, and sanitises it.
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
    if (area.value) render();
  }
})();
