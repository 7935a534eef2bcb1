// Checks a file without leaving the page, so that it need not be chosen again to be submitted. What is found is that of
// the page that the server answers with; without scripts, the browser shows that page. A phase whose quota is exhausted
// for the team takes no submissions.
"use strict";

(() => {
  const form = document.getElementById("submit");
  const send = document.getElementById("send");
  const exhausted = form?.dataset.exhausted.split(" ");
  function allow() {
    const { phase, team } = form.elements;
    send.disabled = team.value === form.dataset.team && exhausted.includes(phase.value);
  }
  form?.addEventListener("change", allow);
  if (form) allow();
  form?.addEventListener("submit", async (event) => {
    const button = event.submitter;
    if (button?.value !== "check" || form.dataset.whole) return;
    event.preventDefault();
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true";
    const label = button.textContent;
    button.textContent = "Checking…";
    try {
      const answer = await fetch(location.href, { method: "POST", body: new FormData(form, button) });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.getElementById("found");
      if (!found || page.querySelector("#submit .errorlist, #submit .problems")) throw new Error("fields");
      for (const again of found.querySelectorAll(".again")) again.remove();
      document.getElementById("found").replaceWith(found);
      found.firstElementChild?.scrollIntoView({ block: "nearest" });
      found.querySelector("[tabindex]")?.focus();
    } catch {
      form.dataset.whole = "true"; // errors of fields, refusals: as a page
      form.requestSubmit(button);
    } finally {
      button.ariaDisabled = "false";
      button.textContent = label;
    }
  });
})();
