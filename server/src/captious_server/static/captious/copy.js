// Copies the value of a field that is shown once: a button with data-copy="ID OF THE FIELD". Where pages may not copy, there
// is no button.
"use strict";

for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) break;
  const words = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = words; }, 2000);
    } catch {
      field.select(); // not allowed: what is selected can be copied
    }
  });
}
