// Draws the explanations of an image's page, which come as JSON, and again when their width changes. Those below the
// window are drawn when it has been shown, one after another, whenever there is nothing else to do.
"use strict";

function draw(host) {
  const { layout, values } = JSON.parse(host.querySelector("script").textContent);
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(host.clientWidth - width) <= 20) return;
    width = host.clientWidth;
    host.replaceChildren(drawExplanation(layout, values, { width: Math.max(width - WHY_PADDING, 240), full: 1 }));
  }).observe(host);
}

const hosts = [...document.querySelectorAll(".explanation:has(script)")];
const seen = new Set(hosts.filter((host) => host.getBoundingClientRect().top < innerHeight));
seen.forEach(draw);
const later = hosts.filter((host) => !seen.has(host));
const idle = window.requestIdleCallback ?? ((work) => setTimeout(work));
function drawNext() {
  const host = later.shift();
  if (!host) return;
  draw(host);
  idle(drawNext, { timeout: 500 });
}
requestAnimationFrame(() => setTimeout(drawNext));
