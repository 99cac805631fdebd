/* A radar chart: categories around a centre of 0, a line for each model. */
import { svg } from "../base/elements.js";
import { asWords, formatNumber, printable } from "../base/text.js";
import { coloursOf, fitting } from "./charts.js";
import { figure } from "./figure.js";

const SIZE = 460;
const ROOM = 92; // px around the circle, for names

/** rows: with model, category, value; at least three categories.
    @type {(title: string, rows: Row[], categories: string[], models: string[], options?: FigureOptions) => HTMLElement} */
export function radarChart(title, rows, categories, models, options = {}) {
  const colour = coloursOf(models);
  const most = options.most || Math.max(0.01, ...rows.map((row) => row.value || 0));
  const value = new Map(rows.map((row) => [`${row.model}\u0000${row.category}`, row.value]));
  return figure(title, (width) => image(Math.min(width, SIZE), categories, models, colour, value, ceiling(most)), rows.map(
    ({ model, category, value: one, low, high }) => ({ model, category, value: one, low, high }),
  ), { ...options, legend: models.map((model) => [model, colour.get(model)]) });
}

/** The next round number. @type {(most: number) => number} */
function ceiling(most) {
  const step = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 2.5, 5, 10].map((times) => times * step).find((one) => one >= most - 1e-9);
}

/** @type {(size: number, categories: string[], models: string[], colour: Map<string, string>, value: Map<string, number>, most: number) => SVGElement} */
function image(size, categories, models, colour, value, most) {
  const radius = size / 2 - (size < 400 ? 64 : ROOM);
  /** @type {(i: number) => number} */
  const angle = (i) => (2 * Math.PI * i) / categories.length - Math.PI / 2;
  /** @type {(i: number, one: number) => [number, number]} */
  const at = (i, one) => [Math.cos(angle(i)) * radius * (one / most), Math.sin(angle(i)) * radius * (one / most)];
  /** @type {(points: [number, number][]) => string} */
  const path = (points) => `M${points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L")}Z`;
  const half = size / 2;
  return svg(
    "svg", { class: "radar", width: size, height: size, viewBox: `${-half} ${-half} ${size} ${size}` },
    [0.25, 0.5, 0.75, 1].map((part) => [
      svg("path", { class: "web", d: path(categories.map((_, i) => at(i, part * most))) }),
      part < 1 && svg("text", { class: "degree", x: 3, y: -radius * part - 2 }, formatNumber(part * most, most < 0.2 ? 2 : most > 5 ? 0 : 2)),
    ]),
    categories.map((name, i) => spoke(name, at(i, most), at(i, most * (1 + 12 / radius)), size)),
    models.map((model) => {
      const points = categories.map((name, i) => at(i, Math.max(0, value.get(`${model}\u0000${name}`) || 0)));
      return [
        svg("path", { class: "shape", d: path(points), style: { fill: colour.get(model), stroke: colour.get(model) } }),
        points.map(([cx, cy], i) => svg(
          "circle", { cx, cy, r: 3, style: { fill: colour.get(model) } },
          svg("title", {}, `${printable(model)}, ${printable(asWords(categories[i]))}: ${formatNumber(value.get(`${model}\u0000${categories[i]}`))}`),
        )),
      ];
    }),
  );
}

/** @type {(name: string, inner: [number, number], outer: [number, number], size: number) => SVGElement[]} */
function spoke(name, [x, y], [tx, ty], size) {
  const shown = fitting(printable(asWords(name)), size < 400 ? 110 : 160);
  const anchor = Math.abs(tx) < 8 ? "middle" : tx > 0 ? "start" : "end";
  return [
    svg("line", { class: "web", x1: 0, y1: 0, x2: x, y2: y }),
    svg("text", { x: tx, y: ty + 4, "text-anchor": anchor }, shown),
  ];
}
