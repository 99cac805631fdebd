/* The models of a task, with their counts and links. */
import { pageLink } from "../base/addresses.js";
import { hasData } from "../base/data.js";
import { h } from "../base/elements.js";
import { bestFirst, dominatingCluster, isLowestBest, markElements, shownInterval, shownValue, unreadLink } from "../base/results.js";
import { sortableTable } from "../base/table.js";
import { foreign, formatNumber, metricName, printable } from "../base/text.js";

const OUTCOMES = ["n_no_answer", "n_refused", "unread", "n_rejected", "n_expired"]; // columns hidden if they are empty

/** @type {(page: TaskView, rows: Row[]) => HTMLElement} */
export function modelTable(page, rows) {
  const { task, chosen } = page;
  if (!rows.length) return h("p", {}, `No results of this task under this condition yet. Run: bench evaluate ${task.name} --model …`);
  /** @type {(row: Row) => Query} */
  const asked = (row) => ({ model: row.model, condition: row.condition === "main" ? "" : row.condition });
  const sentence = page.task.conditions[chosen.condition];
  /** @type {Column<Row>[]} */
  const columns = [
    { key: "model", title: "Model", cell: (row) => [foreign(row.model), markElements({ ...row, task: task.name })] },
    { key: "value", title: metricName(chosen.metric), number: true, ascending: isLowestBest(task, chosen.metric), cell: (row) => h("b", {}, shownValue(row)) },
    { key: "low", title: "95 % interval", number: true, cell: (row) => shownInterval(row) },
    { key: "n_scored", title: "n", number: true, hint: "units behind the value: questions, pairs, ..." },
    { key: "n_clusters", title: "Clusters", number: true, hint: "effective number of clusters: questions that share an image or group count once, uneven clusters count less; below ten, the interval of dependent questions is rough", cell: (row) => h("span", { title: dominatingCluster(row) || null }, formatNumber(row.n_clusters, 1), dominatingCluster(row) && "°") },
    { key: "n_no_answer", title: "No answer", number: true, hint: "cut off, an error, a tool call; counted as wrong" },
    { key: "n_refused", title: "Refused", number: true, hint: "permanently refused by the provider; accepted, and counted as wrong" },
    { key: "unread", title: "Unread", number: true, hint: "share of the responses from which no answer could be read", cell: (row) => unreadLink({ ...row, task: task.name }) },
    { key: "n_rejected", title: "Rejected", number: true, hint: "rows of the source that are not usable as questions" },
    { key: "n_expired", title: "Expired", number: true, hint: "left out, because people had not decided by the deadline" },
    { key: "constant", title: "Best constant", number: true, hint: "value of the best constant response", cell: (row) => h("span", { title: row.baselines || null }, formatNumber(row.constant)) },
    { key: "shuffled", title: "Shuffled", number: true, hint: "value of this model's responses, shuffled across questions", cell: (row) => h("span", { title: row.baselines || null }, formatNumber(row.shuffled)) },
    {
      key: "ways", title: "Look", plain: true, value: () => "", cell: (row) => h(
        "span", { class: "ways" },
        way(["samples", task.name], asked(row), "samples", row), way(["samples", task.name], { ...asked(row), outcome: "wrong" }, "wrong ones", row),
        way(["compare"], { b: row.model, task: task.name }, "compare", row),
        hasData(`number-${numberOf(page, row)}`) && way(["number", numberOf(page, row)], { condition: asked(row).condition }, "where from", row),
      ),
    },
  ];
  return h(
    "section", { class: "all" }, h("h2", {}, `${metricName(chosen.metric)}, over all questions`),
    chosen.condition !== "main" && h("p", { class: "note" }, printable(sentence)),
    sortableTable(columns.filter(({ key }) => !OUTCOMES.includes(key) || rows.some((row) => row[key])), rows, {
      label: "Models", heading: "model", sort: bestFirst(task, "value", chosen.metric), rowClass: (row) => (row.model === chosen.model ? "chosen" : null),
    }),
  );
}

/** @type {(parts: string[], query: Query, text: string, row: Row) => HTMLElement} */
function way(parts, query, text, row) {
  return h("a", { href: pageLink(parts, query), "aria-label": `${text} of ${printable(row.model)}` }, text);
}

/** Name of a number's page. @type {(page: TaskView, row: Row) => string} */
function numberOf({ index, task }, row) {
  return `${task.slug}-${(index.model(row.model) || {}).slug}`;
}
