// Keys of the pages with captions: j and k go to the next and the previous image, in a grid or from page to page, the
// arrows follow the links to the pages before and after.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, [tabindex='0']")) return;
  const links = [...document.querySelectorAll("article h2 a")];
  const keys = { ArrowLeft: "prev", ArrowRight: "next", ...(links.length ? {} : { k: "prev", j: "next" }) };
  const link = keys[event.key];
  if (link) {
    document.querySelector(`a[rel=${link}]`)?.click();
  } else if (event.key === "j" || event.key === "k") {
    const here = links.findIndex((one) => one.closest("article").contains(document.activeElement));
    links[Math.min(Math.max(here + (event.key === "j" ? 1 : -1), 0), links.length - 1)]?.focus();
  }
});
