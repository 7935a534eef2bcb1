// What happens when the page is opened.

async function start() {
  document.querySelector(".needs-script")?.remove();
  if (manifest.kind === "systems") {
    chooseTables();
    const data = await loadScores();
    const explorer = new Explorer(data);
    await explorer.start(document.getElementById("captions"));
    showDistributions(data);
    printLists(explorer.list);
  } else {
    const host = document.getElementById("figures");
    if (host) showFigures(host);
  }
  document.documentElement.dataset.ready = "true"; // tests and pictures wait for it
}

start().catch((error) => {
  document.getElementById("main").prepend(element("div", { class: "note wrong", role: "alert" },
    element("p", {}, "This browser cannot show all of this page, which needs a current version of Chrome, Edge, Firefox or Safari."),
    element("p", { class: "quiet" }, String(error))));
  throw error;
});
