/* Results of a task on other sources, with links to their samples. */
import { pageLink } from "../base/addresses.js";
import { h } from "../base/elements.js";
import { bestFirst, conditionOf, isLowestBest, markElements } from "../base/results.js";
import { sortableTable } from "../base/table.js";
import { foreign, formatInterval, formatNumber, metricName, printable } from "../base/text.js";

/** A section of the task's page; null if there are no other sources. @type {(page: TaskView) => HTMLElement | null} */
export function otherSources({ index, task, data, chosen }) {
  const here = new Set(["", task.edition, ...data.rows.map((row) => row.edition)]);
  const rows = index.rows.filter((row) => row.task === task.name && row.value !== null && !here.has(row.edition));
  if (!rows.length) return null;
  return h(
    "section", { class: "all" }, h("h2", {}, "Measured on other sources"),
    h("p", { class: "note" }, "Other questions: not comparable with the numbers above."),
    sortableTable([
      { key: "model", title: "Model", cell: (row) => [foreign(row.model), markElements(row)] },
      { key: "edition", title: "Edition" },
      { key: "value", title: metricName(task.metric), number: true, ascending: isLowestBest(task), cell: (row) => h("b", {}, formatNumber(row.value)) },
      { key: "low", title: "95 % interval", number: true, cell: (row) => formatInterval(row.low, row.high) },
      { key: "n_scored", title: "n", number: true },
      {
        key: "ways", title: "Look", plain: true, value: () => "", cell: (row) => h(
          "span", { class: "ways" }, way(["samples", task.name], { condition: conditionOf(row), model: row.model }, "samples", row),
          way(["samples", task.name], { condition: conditionOf(row), model: row.model, outcome: "wrong" }, "wrong ones", row),
          way(["compare"], { b: row.model, cb: conditionOf(row), task: task.name }, "compare", row),
        ),
      },
    ], rows, { label: "Measured on other sources", heading: "model", sort: bestFirst(task, "value"), rowClass: (row) => (row.model === chosen.model ? "chosen" : null) }),
  );
}

/** @type {(parts: string[], query: Query, text: string, row: Row) => HTMLElement} */
function way(parts, query, text, row) {
  return h("a", { href: pageLink(parts, query), "aria-label": `${text} of ${printable(row.model)}, ${row.edition}` }, text);
}
