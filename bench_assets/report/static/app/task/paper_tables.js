/* Tables with the columns and rows of the paper, and the measured rows above. */
import { h } from "../base/elements.js";
import { bestFirst, bestValue, isLowestBest, markElements, shownInterval, shownValue } from "../base/results.js";
import { sortableTable } from "../base/table.js";
import { asWords, foreign, formatNumber, metricName, printable } from "../base/text.js";

/** All tables: one of the primary metric by category, then the papers' tables by source.
    Each: {name, columns: [{key, metric, condition, category, title}], printed: rows}.
    @type {(data: TaskData, task: Task) => PaperTable[]} */
export function paperTables(data, task) {
  const sources = [...new Set(data.published.map((row) => row.source))];
  const found = sources.map((name) => ofSource(name, data.published.filter((row) => row.source === name)));
  /** @type {PaperTable} */
  const own = {
    name: "", printed: [],
    columns: titled(["all", ...data.categories].map((category) => ({ metric: task.metric, condition: "main", category }))),
  };
  return [own, ...found];
}

/** The default table: of the primary metric, with most columns measured here. @type {(data: TaskData, task: Task) => string} */
export function mainTable(data, task) {
  const ours = new Set(data.rows.map(keyOf));
  /** @type {(table: PaperTable) => number} */
  const shared = (table) => table.columns.filter((column) => ours.has(column.key)).length;
  const found = paperTables(data, task).slice(1).filter((table) => table.columns.some((column) => column.metric === task.metric));
  return found.length ? found.reduce((a, b) => (shared(b) > shared(a) ? b : a)).name : "";
}

/** @type {(name: string, printed: Published[]) => PaperTable} */
function ofSource(name, printed) {
  const columns = new Map();
  for (const row of printed) {
    columns.set(keyOf(row), { metric: row.metric, condition: row.condition, category: row.category });
  }
  return { name, printed, columns: titled([...columns.values()]) };
}

/** @type {(cell: Cell) => string} */
function keyOf({ metric, condition, category }) {
  return [metric, condition, category].join("\u0000");
}

/** Title columns by the parts in which they differ. @type {(columns: Cell[]) => PaperColumn[]} */
function titled(columns) {
  /** @type {(name: keyof Cell) => boolean} */
  const differs = (name) => new Set(columns.map((column) => column[name])).size > 1;
  /** @type {(keyof Cell)[]} */
  const names = ["metric", "condition", "category"];
  const parts = names.filter(differs);
  return columns.map((column) => ({
    ...column, key: keyOf(column),
    title: (parts.length ? parts : names.slice(2)).filter((name) => !(name === "category" && column[name] === "all" && parts.length > 1))
      .map((name) => (name === "metric" ? metricName : asWords)(column[name])).join(", ") || "all",
  }));
}

/** Draw a table. `link(row)`: address of the samples of a measured cell.
    @type {(task: Task, table: PaperTable, rows: Row[], link: (row: Row) => string) => HTMLElement} */
export function paperTable(task, table, rows, link) {
  const cells = new Map(rows.map((row) => [`${row.model}\u0000${keyOf(row)}`, row]));
  /** @type {(column: PaperColumn) => boolean} */
  const isHere = (column) => rows.some((row) => keyOf(row) === column.key);
  const models = [...new Set(rows.filter((row) => table.columns.some((column) => column.key === keyOf(row))).map((row) => row.model))];
  /** @type {PaperRow[]} */
  const ours = models.map((model) => ({
    model, marks: marksOf(rows.filter((row) => row.model === model && row.category === "all")), at: (key) => cells.get(`${model}\u0000${key}`),
  }));
  /** @type {Map<string, Map<string, Published>>} */
  const printed = new Map();
  for (const row of table.printed) {
    if (!printed.has(row.model)) printed.set(row.model, new Map());
    printed.get(row.model).set(keyOf(row), row);
  }
  const best = bestOf(task, table.columns, printed);
  /** @type {Column<PaperRow>[]} */
  const columns = [
    { key: "model", title: "Model", cell: (row) => [foreign(row.model), row.marks] },
    ...table.columns.map((column) => /** @type {Column<PaperRow>} */ ({
      key: column.key, title: printable(column.title), number: true, ascending: isLowestBest(task, column.metric),
      hint: isHere(column) ? null : "not measured here",
      value: (row) => (row.at(column.key) || {}).value,
      cell: (row) => cell(row.at(column.key), row, best.get(column.key), link),
    })),
  ];
  /** @type {PaperRow[]} */
  const below = [...printed].map(([model, of]) => ({ model, at: (key) => of.get(key), isPrinted: true }));
  return sortableTable(columns, ours, {
    label: table.name || "Measured here", class: "paper", heading: "model", sort: bestFirst(task, table.columns[0].key, table.columns[0].metric),
    below: [{ class: "published", title: `As printed: ${printable(table.name)}`, rows: below }],
  });
}

/** The marks of all cells of a model, each once. @type {(rows: Row[]) => HTMLElement[]} */
function marksOf(rows) {
  const found = new Map();
  for (const row of rows) for (const element of markElements(row)) found.set(element.textContent, element);
  return [...found.values()];
}

/** @type {(task: Task, columns: PaperColumn[], printed: Map<string, Map<string, Published>>) => Map<string, number | null>} */
function bestOf(task, columns, printed) {
  return new Map(columns.map((column) => {
    const values = [...printed].filter(([model]) => !/^(human|oracle|random)/i.test(model)).map(([, of]) => of.get(column.key)).filter(Boolean).map((row) => row.value);
    return [column.key, bestValue(task, values, column.metric)];
  }));
}

/** @type {(found: any, row: { isPrinted?: boolean }, best: number | null | undefined, link: (row: Row) => string) => HTMLElement} */
function cell(found, row, best, link) {
  if (!found || found.value === null) return h("span", { class: "quiet" }, "–");
  if (row.isPrinted) {
    return h(found.value === best ? "b" : "span", { title: printable([`printed ${found.printed}`, found.note].filter(Boolean).join("; ")) }, formatNumber(found.value));
  }
  const about = [shownInterval(found), `n = ${found.n_scored}`].filter(Boolean).join(", ");
  return h("a", { class: "value", href: link(found), title: about }, shownValue(found));
}
