/* The section "Why the score moved" of the page Compare. */
import { pageLink } from "../base/addresses.js";
import { hasData, loadData } from "../base/data.js";
import { h } from "../base/elements.js";
import { conditionOf } from "../base/results.js";
import { sortableTable } from "../base/table.js";
import { foreign, formatCount, formatSigned, metricName } from "../base/text.js";
import { splitByCause } from "./causes.js";

/** The section; null if the report lacks data of a side. sides: the sample data of each.
    @type {(index: Index, row: ComparedTask, chosen: Compared, sides: SampledSide[] | null) => Promise<Child>} */
export async function movedSection(index, { task, rows }, chosen, sides) {
  const known = sides && await Promise.all(sides.map((side, i) => origins(index, task, rows[i], side)));
  if (!known || known.some((one) => !one)) return null;
  const { whole, rows: found } = splitByCause(known[0], known[1]);
  return h(
    "section", {}, h("h3", {}, "Why the score moved"),
    h(
      "p", {}, `${metricName(task.metric)}: `, h("b", {}, effect(whole)), " in total, split by cause, one after the other. ",
      h("span", { class: "quiet" }, `${formatCount(whole.n_better)} questions gained points, ${formatCount(whole.n_worse)} lost some, of ${formatCount(whole.n)} that both have.`),
    ),
    found.length ? table(task, chosen, found) : h("p", { class: "quiet" }, "No step from the questions to their points differs."),
    found.some((row) => row.effect === null) && h("p", { class: "note" }, "This metric is not a sum over questions: the command below computes the effect of each cause."),
  );
}

/** The input of `causes` for a side; null if the report lacks it.
    @type {(index: Index, task: Task, row: Row, side: SampledSide) => Promise<CauseSide | null>} */
async function origins(index, task, row, side) {
  const model = index.model(row.model).slug;
  const names = [`origins-${task.slug}-${model}`, `origins${side.asked.slice("samples".length)}`, `compare-${task.slug}-${model}`];
  if (!names.every(hasData)) return null;
  const [origin, exam, parts] = await Promise.all(names.map(loadData));
  const [of, measured] = [origin, parts].map((one) => one[conditionOf(row)]);
  if (!of || !measured || measured.value === null || row.value === null) return null;
  return { ids: side.listed.ids, categories: side.listed.categories, shares: side.of.shares, exam, of, parts: measured, written: row.value };
}

/** @type {(task: Task, chosen: Compared, rows: CauseRow[]) => HTMLElement} */
function table(task, chosen, rows) {
  return sortableTable([
    { key: "cause", title: "Cause" },
    { key: "effect", title: "Effect", number: true, cell: (row) => h("b", {}, effect(row)) },
    { key: "n", title: "Questions", number: true }, { key: "n_better", title: "Better", number: true }, { key: "n_worse", title: "Worse", number: true },
    { key: "before", title: "A", plain: true }, { key: "after", title: "B", plain: true },
    { key: "examples", title: "Lost most", plain: true, cell: (row) => row.examples.map((one) => example(task, chosen, row, one)) },
  ], rows, { label: "Why the score moved", heading: "cause", class: "spelled causes" });
}

/** @type {(row: CauseRow) => string} */
function effect(row) {
  return row.effect === null ? "not told apart" : formatSigned(row.effect);
}

/** A link to a question; those that B lacks are shown of A. @type {(task: Task, chosen: Compared, row: CauseRow, id: string) => HTMLElement} */
function example(task, chosen, row, id) {
  const gone = row.cause === "questions removed";
  const [model, condition] = gone ? [chosen.a, chosen.ca] : [chosen.b, chosen.cb];
  const beside = !gone && chosen.ca === chosen.cb ? chosen.a : "";
  return h("a", { href: pageLink(["samples", task.name], { condition: condition === "main" ? "" : condition, model, beside, sample: id }) }, foreign(id));
}
