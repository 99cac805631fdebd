/* Figures: a title, a plot, and its numbers in a folded table. */
import { loadPlot } from "../base/data.js";
import { h } from "../base/elements.js";
import { sortableTable } from "../base/table.js";
import { asWords, foreign, formatNumber, printable } from "../base/text.js";

/** Make a figure.

    makeSvg(width) is called once d3 and Plot are loaded, and again when the width changes; it returns an element
    (`Plot.plot({...})`). rows: the plotted numbers. options: {note, columns (as for `sortableTable`; default: the
    keys of the rows), alt, legend: [[name, colour]]}.
    @type {(title: string, makeSvg: (width: number) => Element, rows: Record<string, any>[], options?: FigureOptions) => HTMLElement} */
export function figure(title, makeSvg, rows, options = {}) {
  const columns = options.columns || columnsOf(rows);
  const place = h("div", { class: "drawn" });
  const numbers = h("details", { class: "numbers" }, h("summary", {}, "Numbers"));
  numbers.addEventListener("toggle", () => {
    if (!numbers.open || numbers.children.length > 1) return;
    numbers.append(sortableTable(columns, rows, { label: title }));
  });
  const element = h(
    "figure", { class: "plot" }, h("figcaption", {}, printable(title)),
    options.note && h("p", { class: "note" }, options.note), options.legend && legend(options.legend), place, numbers,
  );
  draw(place, makeSvg, options.alt || `${title}; its numbers are in the table below`);
  return element;
}

/** Legend of a plot: a row of coloured names. @type {(entries: (string | undefined)[][]) => HTMLElement} */
function legend(entries) {
  return h("ul", { class: "legend" }, entries.map(([name, colour, kind]) =>
    h("li", {}, h("span", { class: `swatch ${kind || ""}`, style: { "--colour": colour } }), foreign(name))));
}

/** @type {(place: HTMLElement, makeSvg: (width: number) => Element, alt: string) => Promise<void>} */
async function draw(place, makeSvg, alt) {
  await loadPlot();
  let width = 0;
  const again = () => {
    const now = Math.floor(place.clientWidth);
    if (!now || Math.abs(now - width) < 8) return;
    width = now;
    place.replaceChildren(readied(makeSvg(width), alt));
  };
  new ResizeObserver(again).observe(place);
}

/** Remove Plot's own styles, which the page's policy forbids; they are in style/plot.css. @type {(drawn: Element, alt: string) => Element} */
function readied(drawn, alt) {
  for (const style of drawn.querySelectorAll("style")) style.remove();
  const image = drawn.localName === "svg" ? drawn : drawn.querySelector("svg") || drawn;
  image.setAttribute("role", "img");
  image.setAttribute("aria-label", printable(alt));
  for (const part of image.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
  return drawn;
}

/** @type {(rows: Record<string, any>[]) => Column<any>[]} */
function columnsOf(rows) {
  const keys = Object.keys(rows[0] || {}).filter((key) => rows.some((row) => row[key] !== null && row[key] !== undefined));
  return keys.map((key) => {
    const isFraction = rows.some((row) => typeof row[key] === "number" && !Number.isInteger(row[key]));
    return {
      key, title: asWords(key), number: rows.some((row) => typeof row[key] === "number"),
      cell: isFraction ? (row) => formatNumber(row[key]) : null,
    };
  });
}
