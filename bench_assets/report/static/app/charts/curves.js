/* Checkpoint curves: a line for each run, its interval as a band, blind baselines as dashed lines. */
import { boundsOf, isHidden, lineEnds } from "../base/results.js";
import { formatCount } from "../base/text.js";
import { baselineMarks, coloursOf, css, drawPlot, nameMarks, reach, TIP, tipTitle } from "./charts.js";
import { figure } from "./figure.js";

/** rows: with `run`, `step`, `model`, value, low, high; lines: [{name, value}].
    @type {(title: string, rows: Row[], lines: BaselineLine[], options?: FigureOptions) => HTMLElement} */
export function curveChart(title, rows, lines, options = {}) {
  const runs = [...new Set(rows.map((row) => row.run))];
  const colour = coloursOf(runs);
  const last = Math.max(...rows.map((row) => row.step));
  const ordered = [...rows].sort((a, b) => a.step - b.step);
  const named = ordered.map((row) => ({ ...row, name: `${row.run || "run"}, step ${formatCount(row.step)}` }));
  return figure(title, (width) => draw(width, width > 560), ordered.map(({ run, step, value, low, high, n_scored }) => ({ run, step, value, low, high, n: n_scored })),
  { ...options, legend: runs.map((run) => [run || "run", colour.get(run)]) });

  /** Labels of lines are beside the plot if there is room. @type {(width: number, beside: boolean) => Element} */
  function draw(width, beside) {
    return drawPlot({
      width, height: Math.min(360, 180 + width / 5), marginLeft: 48, marginRight: beside ? 150 : 16, marginTop: 28, marginBottom: 42,
      x: { label: "step", nice: false, ticks: width > 500 ? 8 : 4, tickFormat: last < 20_000 ? formatCount : "~s" },
      y: { label: options.label, grid: true, zero: true, nice: true },
      marks: [
        Plot.ruleY([0], { stroke: css("line") }),
        ...baselineMarks(lines, "y"),
        Plot.text(nameMarks(lines, 0.06 * reach(rows, lines)), { y: "value", frameAnchor: "right", textAnchor: beside ? "start" : "end", dx: beside ? 6 : 0, dy: beside ? 0 : -7, text: "name", fill: css("c2"), stroke: css("back"), strokeWidth: 3, fontSize: 11 }),
        Plot.areaY(named, { x: "step", y1: (row) => lineEnds(row)[0], y2: (row) => lineEnds(row)[1], z: "run", fill: (row) => colour.get(row.run), fillOpacity: 0.18 }),
        Plot.lineY(named, { x: "step", y: "value", z: "run", stroke: (row) => colour.get(row.run), strokeWidth: 2 }),
        Plot.ruleX(named.filter(isHidden), { x: "step", y1: (row) => boundsOf(row)[0], y2: (row) => boundsOf(row)[1], stroke: (row) => colour.get(row.run) }),
        Plot.dot(named, { x: "step", y: "value", fill: (row) => (isHidden(row) ? css("back") : colour.get(row.run)), stroke: (row) => colour.get(row.run), r: 4 }),
        Plot.tip(named, Plot.pointer({ x: "step", y: "value", title: tipTitle, ...TIP })),
      ],
    });
  }
}
