"use strict";
(() => {
  // Tables: sort by the number of a cell if it has one, otherwise by its text; empty cells last.
  const key = (row, column) => {
    const cell = row.cells[column];
    const data = cell.querySelector("data");
    return data ? Number(data.value) : cell.textContent.trim();
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true });
  const sort = (heading) => {
    const table = heading.closest("table");
    const column = heading.cellIndex;
    const up = heading.getAttribute("aria-sort") !== "ascending";
    const rows = [...table.tBodies[0].rows];
    rows.sort((one, other) => {
      const [a, b] = [key(one, column), key(other, column)];
      if (a === "" || b === "") return (a === "") - (b === "");
      return up ? compare(a, b) : compare(b, a);
    });
    table.tBodies[0].append(...rows);
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  };
  for (const button of document.querySelectorAll("th button"))
    button.addEventListener("click", () => sort(button.closest("th")));

  // Figures: a tooltip with the values of the mark under the pointer or with the focus.
  const tip = document.getElementById("tip");
  const show = (reading, x, y) => {
    tip.textContent = reading.getAttribute("aria-label");
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, x + 14), window.innerWidth - width - 8);
    const top = y - height - 12 > 8 ? y - height - 12 : y + 18;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${top}px`;
  };
  const hide = () => { tip.hidden = true; };
  for (const picture of document.querySelectorAll(".picture")) {
    const readings = [...picture.querySelectorAll(".reading")];
    readings.forEach((reading, place) => {
      const title = reading.querySelector("title");
      reading.setAttribute("aria-label", title.textContent);
      // Otherwise the browser shows its own tooltip as well.
      title.remove();
      reading.addEventListener("pointermove", (event) => show(reading, event.clientX, event.clientY));
      reading.addEventListener("pointerleave", hide);
      reading.addEventListener("focus", () => {
        const box = reading.getBoundingClientRect();
        show(reading, box.right, box.top + 12);
      });
      reading.addEventListener("blur", hide);
      reading.addEventListener("keydown", (event) => {
        const last = readings.length - 1;
        const steps = {
          ArrowRight: place + 1, ArrowDown: place + 1, ArrowLeft: place - 1, ArrowUp: place - 1,
          Home: 0, End: last,
        };
        if (event.key === "Escape") hide();
        if (!(event.key in steps)) return;
        event.preventDefault();
        const next = readings[Math.min(Math.max(steps[event.key], 0), last)];
        reading.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      });
    });
  }

  // Print with all details open.
  const folded = () => [...document.querySelectorAll("details:not([open])")];
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = folded();
    for (const details of opened) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
})();
