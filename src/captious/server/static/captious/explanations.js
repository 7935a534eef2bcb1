// Draws the explanations of an image's page, which come as JSON, and again when their width changes. Those below the
// window are drawn when the window has been shown.
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
if (hosts[0]?.getBoundingClientRect().top < innerHeight) hosts.forEach(draw);
else requestAnimationFrame(() => setTimeout(() => hosts.forEach(draw)));
