/* The plots of a task page: dots with intervals, heat map, bars of conditions. Drawn by Observable Plot. */
import { boundsOf, isHidden, lineEnds, shownInterval, shownValue } from "../base/results.js";
import { sortRows } from "../base/table.js";
import { asWords, formatNumber, printable } from "../base/text.js";
import { figure } from "./figure.js";

/** @type {(name: string) => string} */
export const css = (name) => `var(--${name})`;
const COLOURS = ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"].map(css);

/** Colours by name, always the same within a page. @type {(names: string[]) => Map<string, string>} */
export function coloursOf(names) {
  return new Map(names.map((name, i) => [name, COLOURS[i % COLOURS.length]]));
}

/** Plot.plot with the page's font. @type {(options: PlotOptions) => Element} */
export function drawPlot(options) {
  return Plot.plot({ style: { background: "none", fontSize: "12px", fontFamily: "inherit" }, ...options });
}

/** Left margin for names: fits the longest, up to a share of the width. @type {(names: string[], width: number) => number} */
function marginFor(names, width) {
  return Math.min(width / 2.6, 16 + 6.8 * Math.max(4, ...names.map((name) => name.length)));
}

/** Shorten a name in the middle, where names of checkpoints are most alike. @type {(name: string, room: number) => string} */
export function fitting(name, room) {
  const most = Math.max(8, Math.floor((room - 12) / 6.8));
  return name.length <= most ? name : `${name.slice(0, Math.ceil(most / 2) - 1)}…${name.slice(name.length - Math.floor(most / 2))}`;
}

/** Lines of blind baselines: [{name, value}]. @type {(lines: BaselineLine[], axis?: "x" | "y") => unknown[]} */
export function baselineMarks(lines, axis = "x") {
  if (!lines.length) return [];
  const rule = axis === "x" ? Plot.ruleX : Plot.ruleY;
  return [rule(lines, { [axis]: "value", stroke: css("c2"), strokeDasharray: "4 3", strokeWidth: 1.5 })];
}

/** Labels of lines; lines closer than `gap` share one label. @type {(lines: BaselineLine[], gap: number) => BaselineLine[]} */
export function nameMarks(lines, gap) {
  const found = [];
  for (const line of [...lines].sort((a, b) => a.value - b.value)) {
    const last = found[found.length - 1];
    if (last && line.value - last.value < gap) last.name += `, ${line.name}`;
    else found.push({ ...line });
  }
  return found;
}

/** The largest value of a plot. @type {(rows: Row[], lines: BaselineLine[]) => number} */
export function reach(rows, lines) {
  return Math.max(...rows.map((row) => row.high ?? row.value), ...lines.map((line) => line.value));
}

/** Measured values as dots with intervals, above published values, on one scale, in `options.order`.
    @type {(title: string, ours: Row[], printed: Published[], lines: BaselineLine[], options: FigureOptions & { order: (a: { value: number }, b: { value: number }) => number }) => HTMLElement} */
export function dotChart(title, ours, printed, lines, options) {
  /** @type {any[]} */
  const rows = [
    ...[...ours].sort(options.order).map((row) => ({ ...row, name: row.model, origin: "measured here" })),
    ...[...printed].sort(options.order).map((row) => ({ ...row, name: row.model, origin: "as printed" })),
  ].filter((row) => row.value !== null);
  /** @type {(row: any) => string} */
  const key = (row) => `${row.origin}\u0000${row.name}\u0000${row.source || ""}`;
  const labels = new Map(rows.map((row) => [key(row), row.name]));
  return figure(title, (width) => {
    const left = marginFor(rows.map((row) => row.name), width);
    const isHere = rows.filter((row) => row.origin === "measured here");
    const isPrinted = rows.filter((row) => row.origin !== "measured here");
    return drawPlot({
      width, marginLeft: left, marginRight: 24, marginTop: 28, marginBottom: 42, height: 76 + 20 * rows.length,
      x: { label: options.label, grid: true, zero: true, nice: true },
      y: { label: null, domain: rows.map(key), tickFormat: (one) => fitting(printable(labels.get(one)), left), tickSize: 0 },
      marks: [
        ...baselineMarks(lines),
        Plot.ruleY(isHere.filter((row) => !isHidden(row)), { y: key, x1: "low", x2: "high", stroke: css("c1"), strokeWidth: 5, strokeOpacity: 0.35, strokeLinecap: "round" }),
        Plot.ruleY(isHere.filter(isHidden), { y: key, x1: (row) => boundsOf(row)[0], x2: (row) => boundsOf(row)[1], stroke: css("c1") }),
        Plot.dot(isHere, { y: key, x: "value", r: 4.5, fill: (row) => (isHidden(row) ? css("back") : css("c1")), stroke: css("c1") }),
        Plot.dot(isPrinted, { y: key, x: "value", r: 4, symbol: "diamond", stroke: css("quiet"), fill: css("back"), strokeWidth: 1.5 }),
        Plot.text(nameMarks(lines, 0.16 * reach(rows, lines)), { x: "value", frameAnchor: "top", dy: -14, text: "name", fill: css("c2"), fontSize: 11 }),
        Plot.tip(rows, Plot.pointer({ y: key, x: "value", title: tipTitle, ...TIP })),
      ],
    });
  }, rows.map(({ name, origin, value, low, high, source }) => ({ model: name, origin, value, low, high, source })), options);
}

export const TIP = { fill: css("raised"), stroke: css("line"), textPadding: 8 };

/** @type {(row: Row) => string} */
export function tipTitle(row) {
  const interval = shownInterval(row);
  const lines = [row.name || row.model, `${shownValue(row)}${interval && ` (${interval})`}`];
  for (const key of ["category", "condition", "source"]) if (row[key] && row[key] !== "all") lines.push(asWords(row[key]));
  return lines.map(printable).join("\n");
}

/** Heat map of models by categories, with the value in each cell.
    @type {(title: string, rows: Row[], categories: string[], models: string[], options?: FigureOptions) => HTMLElement} */
export function heatMap(title, rows, categories, models, options = {}) {
  return figure(title, (width) => {
    const left = marginFor(models, width);
    const isWide = (width - left) / categories.length > 34;
    return drawPlot({
      width, marginLeft: left, marginRight: 4, marginTop: 8, marginBottom: 130, height: 146 + 26 * models.length,
      padding: 0.04,
      x: { domain: categories, label: null, tickRotate: -40, tickSize: 0, tickFormat: (one) => fitting(asWords(printable(one)), 185) },
      y: { domain: models, label: null, tickSize: 0, tickFormat: (one) => fitting(printable(one), left) },
      marks: [
        Plot.cell(rows, { x: "category", y: "model", fill: css("c1"), fillOpacity: (row) => shade(row, rows), rx: 3 }),
        isWide ? Plot.text(rows, { x: "category", y: "model", text: (row) => (isHidden(row) ? "?" : formatNumber(row.value, 2)), fill: css("text") }) : null,
        Plot.tip(rows, Plot.pointer({ x: "category", y: "model", title: tipTitle, ...TIP })),
      ],
    });
  }, rows.map(({ model, category, value, low, high, n_scored }) => ({ model, category, value, low, high, n: n_scored })), options);
}

/** Opacity of a cell: almost 0 at 0, about a half at the highest value, so that text stays legible. @type {(row: Row, rows: Row[]) => number} */
function shade(row, rows) {
  const most = Math.max(...rows.map((one) => one.value || 0)) || 1;
  return row.value === null ? 0 : 0.04 + 0.5 * Math.max(0, row.value / most);
}

/** Conditions side by side: a bar with its interval for each model and condition.
    @type {(title: string, rows: Row[], conditions: string[], models: string[], lines: BaselineLine[], options?: FigureOptions) => HTMLElement} */
export function barChart(title, rows, conditions, models, lines, options = {}) {
  const colour = coloursOf(conditions);
  return figure(title, (width) => {
    const left = marginFor(models, width);
    const height = 14 * conditions.length + 14;
    return drawPlot({
      width, marginLeft: left, marginRight: 24, marginBottom: 42, height: 64 + height * models.length,
      x: { label: options.label, grid: true, zero: true, nice: true },
      y: { domain: conditions, axis: null, padding: 0.15 },
      fy: { domain: models, label: null, padding: 0.15, axis: "left", tickSize: 0, tickFormat: (one) => fitting(printable(one), left) },
      marks: [
        ...baselineMarks(lines),
        Plot.barX(rows, { x: "value", y: "condition", fy: "model", fill: (row) => colour.get(row.condition), fillOpacity: 0.8 }),
        Plot.ruleY(rows, { x1: (row) => lineEnds(row)[0], x2: (row) => lineEnds(row)[1], y: "condition", fy: "model", stroke: css("text"), strokeWidth: 1.2 }),
        Plot.ruleX([0], { stroke: css("line") }),
        Plot.tip(rows, Plot.pointer({ x: "value", y: "condition", fy: "model", title: tipTitle, ...TIP })),
      ],
    });
  }, rows.map(({ model, condition, value, low, high, n_scored }) => ({ model, condition, value, low, high, n: n_scored })),
  { ...options, legend: conditions.map((name) => [asWords(name), colour.get(name)]) });
}

/** Score against cost per response: a dot and an interval for each model.
    @type {(title: string, rows: Row[], options: FigureOptions & { axes: [string, string] }) => HTMLElement} */
export function scatterChart(title, rows, options) {
  const [x, y] = options.axes;
  return figure(title, (width) => drawPlot({
    width, height: 300, marginLeft: 48, marginRight: 90, marginBottom: 42,
    x: { label: x, grid: true, zero: true, nice: true }, y: { label: y, grid: true, zero: true, nice: true },
    marks: [
      Plot.ruleX(rows, { x: "took", y1: (row) => lineEnds(row)[0], y2: (row) => lineEnds(row)[1], stroke: css("c1"), strokeWidth: 4, strokeOpacity: 0.35 }),
      Plot.dot(rows, { x: "took", y: "value", r: 4.5, fill: css("c1") }),
      ...rows.map((row) => Plot.text([row], { x: "took", y: "value", text: [fitting(printable(row.model), 140)], textAnchor: "start", dx: 8, dy: apart(row, rows), fill: css("text"), fontSize: 11 })),
      Plot.tip(rows, Plot.pointer({ x: "took", y: "value", title: tipTitle, ...TIP })),
    ],
  }), rows.map(({ model, took, value, low, high }) => ({ model, [x]: took, [y]: value, low, high })), options);
}

/** Vertical offset of a label, in px, that separates labels of close points. @type {(row: Row, rows: Row[]) => number} */
function apart(row, rows) {
  /** @type {(name: string, share: number) => (one: Row) => boolean} */
  const near = (name, share) => (one) => Math.abs(one[name] - row[name]) < share * Math.max(...rows.map((other) => other[name]));
  const group = sortRows(rows.filter(near("took", 0.15)).filter(near("value", 0.06)), { key: "value" }, true);
  return 13 * (group.indexOf(row) - (group.length - 1) / 2);
}

