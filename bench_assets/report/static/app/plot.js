/* Figures: a title, a plot, and its numbers in a folded table. */
"use strict";
(() => {
  /** Make a figure.

      makeSvg(width) is called once d3 and Plot are loaded, and again when the width changes; it returns an element
      (`Plot.plot({...})`). rows: the plotted numbers. options: {note, columns (as for `Bench.table`; default: the
      keys of the rows), alt, legend: [[name, colour]]}. */
  function plot(title, makeSvg, rows, options = {}) {
    const columns = options.columns || columnsOf(rows);
    const place = Bench.h("div", { class: "drawn" });
    const numbers = Bench.h("details", { class: "numbers" }, Bench.h("summary", {}, "Numbers"));
    numbers.addEventListener("toggle", () => {
      if (!numbers.open || numbers.children.length > 1) return;
      numbers.append(Bench.table(columns, rows, { label: title }));
    });
    const figure = Bench.h(
      "figure", { class: "plot" }, Bench.h("figcaption", {}, Bench.printable(title)),
      options.note && Bench.h("p", { class: "note" }, options.note), options.legend && Bench.legend(options.legend), place, numbers,
    );
    draw(place, makeSvg, options.alt || `${title}; its numbers are in the table below`);
    return figure;
  }

  async function draw(place, makeSvg, alt) {
    await Bench.plotting();
    let width = 0;
    const again = () => {
      const now = Math.floor(place.clientWidth);
      if (!now || Math.abs(now - width) < 8) return;
      width = now;
      place.replaceChildren(readied(makeSvg(width), alt));
    };
    new ResizeObserver(again).observe(place);
  }

  /** Remove Plot's own styles, which the page's policy forbids; they are in style/plot.css. */
  function readied(drawn, alt) {
    for (const style of drawn.querySelectorAll("style")) style.remove();
    const image = drawn.localName === "svg" ? drawn : drawn.querySelector("svg") || drawn;
    image.setAttribute("role", "img");
    image.setAttribute("aria-label", Bench.printable(alt));
    for (const part of image.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
    return drawn;
  }

  function columnsOf(rows) {
    const keys = Object.keys(rows[0] || {}).filter((key) => rows.some((row) => row[key] !== null && row[key] !== undefined));
    return keys.map((key) => {
      const isFraction = rows.some((row) => typeof row[key] === "number" && !Number.isInteger(row[key]));
      return {
        key, title: Bench.words(key), number: rows.some((row) => typeof row[key] === "number"),
        cell: isFraction ? (row) => Bench.number(row[key]) : null,
      };
    });
  }

  Bench.plot = plot;
})();
