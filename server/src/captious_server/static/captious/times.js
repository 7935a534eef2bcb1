// Writes the times of a page in the reader's own time zone; without scripts, they are in UTC.
"use strict";

document.getElementById("zone").textContent = "Times are in your time zone.";
for (const element of document.querySelectorAll("time")) {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(element.textContent);
  if (!isDay && !element.textContent.endsWith(" UTC")) continue;
  const parts = new Intl.DateTimeFormat("en", {
    year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short",
  }).formatToParts(new Date(element.dateTime));
  const { year, month, day, hour, minute, timeZoneName } = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  element.title = element.textContent;
  element.textContent = `${year}-${month}-${day}${isDay ? "" : ` ${hour}:${minute} ${timeZoneName}`}`;
}
