/* Two models on the tasks that both have. */
import { hasData, loadData } from "../base/data.js";
import { h } from "../base/elements.js";
import { conditionOf } from "../base/results.js";
import { foreign } from "../base/text.js";
import { decide, difference, sentence } from "./differences.js";

/** The query of a choice. @type {(chosen: CompareChoice) => Query} */
export function choiceQuery({ a, b, ca, cb, task }) {
  return { a, b, ca: ca === "main" ? "" : ca, cb: cb === "main" ? "" : cb, task };
}

/** Both rows of a task, and their difference. @type {(index: Index, task: Task, chosen: Compared) => Promise<ComparedTask | null>} */
export async function measured(index, task, chosen) {
  const rows = [[chosen.a, chosen.ca], [chosen.b, chosen.cb]].map(([model, condition]) =>
    index.rows.find((row) => row.task === task.name && row.model === model && conditionOf(row) === condition));
  if (rows.some((row) => !row)) return { task, rows, found: null };
  const data = await Promise.all(rows.map(async (row) => {
    const name = `compare-${task.slug}-${index.model(row.model).slug}`;
    return hasData(name) ? (await loadData(name))[conditionOf(row)] : null;
  }));
  return { task, rows, found: difference(data[0], data[1], rows) };
}

/** Two models on all tasks that both have, under the papers' own condition, decided together.
    @type {(index: Index, a: string, b: string) => Promise<ComparedTask[]>} */
export async function measuredByBoth(index, a, b) {
  const rows = await Promise.all(index.tasks.map((task) => measured(index, task, { a, b, ca: "main", cb: "main" })));
  const both = rows.filter((row) => row.found);
  decide(both.map((row) => row.found));
  return both;
}

/** The table in one sentence, as `comparison_sentence` writes it. @type {(chosen: { a: string, b: string }, rows: ComparedTask[]) => HTMLElement} */
export function summary(chosen, rows) {
  const said = sentence(rows.map((row) => ({ title: row.task.title, found: row.found })));
  return h("p", { class: "summary" }, foreign(chosen.b, "b"), " against ", foreign(chosen.a, "b"), `: ${said}.`);
}
