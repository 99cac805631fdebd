/* Time, tokens and cost of responses, and confusion of options. */
import { controlBar, dropDown } from "../base/controls.js";
import { h } from "../base/elements.js";
import { sortableTable } from "../base/table.js";
import { formatCount, formatNumber, metricName, printable, shaded } from "../base/text.js";
import { scatterChart } from "../charts/charts.js";

/** What is drawn against the metric: the first that is known. @type {Record<string, string>} */
const AXES = { cost: "cost", tokens: "tokens per response", each: "seconds per response" };

/** Time, tokens and cost of the responses, also plotted against the metric. @type {(page: TaskView, rows: Row[]) => Child} */
export function usageSection(page, rows) {
  const used = page.data.usage.filter((one) => one.condition === page.chosen.condition && rows.some((row) => row.model === one.model))
    .map((one) => /** @type {Usage} */ ({ ...one, tokens: one.completion_tokens && one.completion_tokens / one.responses, each: one.seconds && one.seconds / one.responses }));
  const measure = Object.keys(AXES).find((name) => used.some((one) => one[name]));
  if (!measure) return null;
  const axis = AXES[measure];
  const dots = rows.filter((row) => row.value !== null)
    .map((row) => ({ ...row, took: used.find((one) => one.model === row.model)?.[measure] })).filter((row) => row.took);
  /** @type {Column<Usage>[]} */
  const columns = [
    { key: "model", title: "Model" },
    { key: "responses", title: "Responses", number: true },
    { key: "each", title: "Seconds each", number: true, hint: "mean per response, from the request to the last token", cell: (one) => formatNumber(one.each, 2) },
    { key: "prompt_tokens", title: "Prompt tokens", number: true, cell: (one) => formatCount(one.prompt_tokens) },
    { key: "completion_tokens", title: "Response tokens", number: true, cell: (one) => formatCount(one.completion_tokens) },
    { key: "tokens", title: "Tokens each", number: true, hint: "mean per response", cell: (one) => formatNumber(one.tokens, 1) },
    { key: "cost", title: "Cost", number: true, hint: "at the prices of bench.toml, without the judge", cell: (one) => formatNumber(one.cost, 4) },
  ];
  return wideSection(
    "Time, tokens and cost",
    dots.length > 1 && scatterChart(`${metricName(page.chosen.metric)} against ${axis}`, dots, { axes: [axis, metricName(page.chosen.metric)] }),
    sortableTable(columns.filter(({ key }) => key !== "cost" || used.some((one) => one.cost)), used, { label: "Time, tokens and cost", heading: "model", sort: "model" }),
  );
}

/** Chosen options against right options. @type {(page: TaskView, rows: Row[]) => Child} */
export function confusionSection(page, rows) {
  const all = page.data.confusion.filter((one) => one.condition === page.chosen.condition);
  const names = rows.map((row) => row.model).filter((name) => all.some((one) => one.model === name));
  if (!names.length) return null;
  const model = names.includes(page.chosen.model) ? page.chosen.model : names[0];
  const cells = all.filter((one) => one.model === model);
  const right = [...new Set(cells.map((one) => one.right))].sort();
  const chosen = [...new Set([...right, ...cells.map((one) => one.chosen)])].sort((a, b) => Number(a === "") - Number(b === "") || a.localeCompare(b));
  /** @type {(row: string, column: string) => number} */
  const n = (row, column) => cells.filter((one) => one.right === row && one.chosen === column).reduce((sum, one) => sum + one.n, 0);
  const most = Math.max(...right.flatMap((row) => chosen.map((column) => n(row, column))));
  return wideSection(
    "Confusion of choices",
    names.length > 1 && controlBar(dropDown("Model", names, model, (name) => page.change({ model: name }))),
    sortableTable([
      { key: "right", title: "Right answer" },
      ...chosen.map((column) => /** @type {Column<{ right: string }>} */ ({
        key: `chosen-${column}`, title: column ? `chose ${printable(column)}` : "no option", number: true, value: (one) => n(one.right, column),
        cell: (one) => shaded(n(one.right, column) / most, formatCount(n(one.right, column))),
      })),
    ], right.map((one) => ({ right: one })), { label: `Confusion of choices: ${model}`, heading: "right", sort: "right" }),
  );
}

/** A section that takes the whole width. @type {(title: string, ...children: Child[]) => HTMLElement} */
export function wideSection(title, ...children) {
  return h("section", { class: "all" }, h("h2", {}, title), children);
}
