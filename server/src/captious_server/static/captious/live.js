// Keeps the page of a submission up to date while it waits or is scored, and reloads the page when that is over.
"use strict";

(() => {
  const live = document.getElementById("live");
  if (!live) return;
  const word = document.getElementById("live-word");
  const detail = document.getElementById("live-detail");
  const progress = document.getElementById("live-progress");
  const shortest = 2000;
  const longest = 30000;
  let wait = shortest;
  let timer; // undefined while an answer is awaited, and at the end

  function write(element, text) {
    if (element.textContent !== text) element.textContent = text; // a screen reader reads every change
  }

  function show(now) {
    const queued = now.status === "queued";
    write(word, queued ? "Queued" : "Scoring");
    if (queued) write(detail, now.place === 1 ? "next in the queue" : now.place ? `place ${now.place} in the queue` : "");
    else write(detail, now.doing || "");
    progress.value = now.progress || 0;
  }

  async function look() {
    timer = undefined;
    try {
      const answer = await fetch(live.dataset.status, { headers: { Accept: "application/json" }, cache: "no-store" });
      if (answer.status === 403 || answer.status === 404) return;
      if (!answer.ok) throw new Error(answer.statusText);
      const now = await answer.json();
      if (now.status !== "queued" && now.status !== "running") return void location.reload();
      show(now);
      wait = shortest;
    } catch {
      wait = Math.min(2 * wait, longest);
    }
    timer = setTimeout(look, document.hidden ? longest : wait);
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden || timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    look();
  });
  timer = setTimeout(look, shortest);
})();
