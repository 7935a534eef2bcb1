// Printing: the list becomes rows one below the other, as many as fit on about two pages, from the first one in sight.

const PRINTED = 40;

function printLists(list) {
  window.addEventListener("beforeprint", () => list.print(PRINTED));
  window.addEventListener("afterprint", () => list.again());
}
