/* Data shared by all pages: tasks, models, and the rows of the leaderboard. */
import { pageLink } from "./addresses.js";
import { loadData } from "./data.js";
import { h } from "./elements.js";
import { asWords, formatCount, formatInterval, formatNumber, formatPercent, printable } from "./text.js";

/** @type {Promise<Index>} */
let known;
/** @type {Promise<any>} */
let madeOf; // the data that it was made of

/** Convert the columns of a data file, which may be dictionary-encoded, to rows. @type {(columns: Record<string, any[]>) => any[]} */
export function unpackRows(columns) {
  const names = Object.keys(columns);
  const values = names.map((name) => unpacked(columns[name]));
  return (values[0] || []).map((_, i) => Object.fromEntries(names.map((name, k) => [name, values[k][i]])));
}

/** @type {(column: any[]) => any[]} */
function unpacked(column) {
  const isPacked = column.length === 2 && Array.isArray(column[0]) && Array.isArray(column[1]);
  return isPacked ? column[1].map((/** @type {number} */ number) => column[0][number]) : column;
}

/** await loadIndex(): {tasks, models, rows, published, rankings, task(name), model(name), ...}. @type {() => Promise<Index>} */
export function loadIndex() {
  const loaded = loadData("index");
  if (loaded === madeOf) return known;
  madeOf = loaded;
  known = loaded.then((/** @type {Omit<Index, "rows"> & { rows: Record<string, any[]> }} */ data) => {
    const tasks = new Map(data.tasks.map((task) => [task.name, task]));
    const models = new Map(data.models.map((model) => [model.name, model]));
    return {
      ...data,
      rows: withBaselines(unpackRows(data.rows), models, tasks),
      task: (/** @type {string} */ name) => tasks.get(name),
      model: (/** @type {string} */ name) => models.get(name),
    };
  });
  return known;
}

/** Add the best baseline on the same questions to each row; null if there is none.
    @type {(rows: Row[], models: Map<string, Model>, tasks: Map<string, Task>) => Row[]} */
function withBaselines(rows, models, tasks) {
  const found = new Map();
  /** @type {(row: Row) => string} */
  const place = (row) => JSON.stringify([row.task, row.condition, row.edition]);
  for (const row of rows) {
    if (row.value === null || row.partial || !isBaseline(models.get(row.model))) continue;
    const task = tasks.get(row.task);
    const before = found.get(place(row));
    if (!before || isBetter(task, row.value, before.value)) found.set(place(row), { value: row.value, end: isLowestBest(task) ? row.low : row.high });
  }
  return rows.map((row) => ({ ...row, baseline: (found.get(place(row)) || { value: null }).value, baseline_end: endOf(tasks.get(row.task), row, found.get(place(row))) }));
}

/** The end of the best blind baseline's interval that models have to pass; null if none is known.
    @type {(task: Task, row: Row, measured?: { end: number }) => number | null} */
function endOf(task, row, measured) {
  return bestValue(task, blindValues(task, row, measured && measured.end));
}

/** The known ones of chance, the constant response and a baseline's value.
    @type {(task: Task, row: Row, baseline: number | null | undefined) => number[]} */
function blindValues(task, row, baseline) {
  const chance = row.condition === "main" ? chanceLevel(task, row.edition) : null;
  return [chance, row.constant, baseline].filter((value) => value !== null && value !== undefined);
}

/** Whether the lowest value of a metric is the best. @type {(task: Task, metric?: string) => boolean} */
export function isLowestBest(task, metric = task.metric) {
  return task.lower_is_better.includes(metric);
}

/** Whether a value of a metric is better than another. @type {(task: Task, value: number, other: number, metric?: string) => boolean} */
export function isBetter(task, value, other, metric = task.metric) {
  return isLowestBest(task, metric) ? value < other : value > other;
}

/** Whether the whole 95 % interval of a row is better than a value. @type {(task: Task, row: Row, value: number | null) => boolean} */
export function isShownBetter(task, row, value) {
  const end = isLowestBest(task) ? row.high : row.low;
  return end !== null && value !== null && isBetter(task, end, value);
}

/** The best of values of a metric; null if there are none. @type {(task: Task, values: number[], metric?: string) => number | null} */
export function bestValue(task, values, metric = task.metric) {
  return values.length ? values.reduce((a, b) => (isBetter(task, b, a, metric) ? b : a)) : null;
}

/** Sort of a table by a column of a metric, the best first. @type {(task: Task, key: string, metric?: string) => string} */
export function bestFirst(task, key, metric = task.metric) {
  return isLowestBest(task, metric) ? key : `-${key}`;
}

/** Order of rows by a metric, the best first. @type {(task: Task, metric?: string) => (a: { value: number }, b: { value: number }) => number} */
export function byMerit(task, metric = task.metric) {
  return (a, b) => (isLowestBest(task, metric) ? a.value - b.value : b.value - a.value);
}

/** A task's short name: its title if it is the suite's only task, otherwise its name without the suite.
    @type {(index: Index, task: Task) => string} */
export function shortTitle(index, task) {
  const alone = index.tasks.filter((one) => one.suite === task.suite).length === 1;
  return alone ? task.title : asWords(task.name.split("/").slice(1).join(" "));
}

/** A suite's title: the common first words of its tasks' titles; without any, its name. @type {(index: Index, suite: string) => string} */
export function suiteTitle(index, suite) {
  const titles = index.tasks.filter((task) => task.suite === suite).map((task) => task.title.split(" "));
  const alike = titles[0].findIndex((word, i) => titles.some((title) => bare(title[i]) !== bare(word)));
  return bare(titles[0].slice(0, alike < 0 ? undefined : alike).join(" ")) || suite;
}

/** @type {(word: string | undefined) => string} */
function bare(word) {
  return (word || "").replace(/[,:;]$/, "");
}

/** Chance level on the questions of an edition; null if unknown. @type {(task: Task, edition: string) => number | null} */
export function chanceLevel(task, edition) {
  return !edition || !task.edition || edition === task.edition ? task.chance : null;
}

/** The best blind baseline: chance, a constant response or a baseline model; null if unknown. @type {(task: Task, row: Row) => number | null} */
export function bestBaseline(task, row) {
  return bestValue(task, blindValues(task, row, row.baseline));
}

/** A row's condition as samples and comparisons name it, with the edition for other sources. @type {(row: Row) => string} */
export function conditionOf(row) {
  return (row.edition || "").includes(", ") ? `${row.condition}, ${row.edition}` : row.condition;
}

/** A warning if one cluster has at least a tenth of the weight, and twice that of an equal share. @type {(row: Row) => string} */
export function dominatingCluster(row) {
  const [largest, n] = [row.largest_cluster || 0, row.n_clusters || 0];
  return n > 9.999 && largest >= 0.1 && largest * n >= 2 ? `one cluster has ${formatPercent(largest)} of the weight` : "";
}

/** Marks of a row whose number is not to be taken at face value: [{mark, why}]. @type {(row: Row) => Mark[]} */
export function warningsOf(row) {
  const found = [];
  if (row.unreadable) found.push({ mark: "unreadable", why: row.unreadable });
  if (row.stale) found.push({ mark: "stale", why: row.stale });
  if (row.partial) found.push({ mark: "partial", why: `only part of the questions was evaluated: ${row.partial}` });
  if (row.n_failed) found.push({ mark: `${formatCount(row.n_failed)} failed`, why: "questions without a response: the value covers the others" });
  if (row.n_unscored) found.push({ mark: `${formatCount(row.n_unscored)} unscored`, why: "left out, because a judge or a connection failed" });
  if (row.n_rejected) found.push({ mark: `${formatCount(row.n_rejected)} rejected`, why: "rows of the source that are not usable as questions" });
  if (row.n_expired) found.push({ mark: `${formatCount(row.n_expired)} expired`, why: "left out, because people had not decided by the deadline" });
  return found;
}

/** Further notes on a row, as marks. @type {(row: Row) => Mark[]} */
export function notesOf(row) {
  const found = [];
  if (row.n_refused) found.push({ mark: `${formatCount(row.n_refused)} refused`, why: "permanently refused by the provider; accepted, and counted as wrong" });
  if (row.mixed) found.push({ mark: "mixed", why: `several models or snapshots answered: ${row.served}` });
  if (row.unread) found.push({ mark: unreadMark(row), why: WHY_UNREAD, href: unreadAddress(row) });
  if (row.named) found.push({ mark: `${formatPercent(row.named)} only named`, why: "answers that a response names and does not state: 6 to 16 % of them are read wrongly" });
  if (row.asked_again) found.push({ mark: `${formatPercent(row.asked_again)} asked again`, why: "a reader looked again at responses that no rule reads" });
  if (row.people) {
    const mark = row.people.startsWith("not") ? "not checked by people" : row.people.split("; ")[0];
    found.push({ mark, why: row.people.slice(mark.length + 2) || "the judge's own number: bench annotate verdicts" });
  }
  if (row.reader) found.push({ mark: row.reader, why: "null test of the reader" });
  return found;
}

const MOST_UNREAD = 0.1; // share above which a value is shown as its bounds

/** The least and the most that a value may be, by its unread responses; null without any.
    @type {(row: Omit<MetricRow, "metric" | "low" | "high" | "n_scored">) => [number, number] | null} */
export function boundsOf(row) {
  const ends = [row.if_unread_wrong, row.if_unread_right];
  if (ends.some((one) => one === null || one === undefined)) return null;
  return [Math.min(row.value, ...ends), Math.max(row.value, ...ends)];
}

/** Whether so many responses are unread that a value is only known within its bounds.
    @type {(row: Omit<MetricRow, "metric" | "low" | "high" | "n_scored">) => boolean} */
export function isHidden(row) {
  return (row.unread || 0) > MOST_UNREAD && boundsOf(row) !== null;
}

/** A value, or its bounds. @type {(row: MetricRow) => string} */
export function shownValue(row) {
  return isHidden(row) ? boundsOf(row).map((one) => formatNumber(one)).join(" to ") : formatNumber(row.value);
}

/** The interval beside a value; "" if bounds stand in the value's place. @type {(row: MetricRow) => string} */
export function shownInterval(row) {
  return isHidden(row) ? "" : formatInterval(row.low, row.high);
}

/** Ends of the line at a value: of its bounds if it is only known within them. @type {(row: Row) => [number, number]} */
export function lineEnds(row) {
  return isHidden(row) ? boundsOf(row) : [row.low, row.high];
}

const WHY_UNREAD = "responses from which no answer could be read; the value is between what it would be if all of them were wrong, and if all were right. To read them: bench evaluate --reader MODEL, or bench annotate verdicts TASK --n 50";

/** The share of unread responses, with the bounds if they do not stand in place of the value. @type {(row: Row) => string} */
function unreadMark(row) {
  const between = isHidden(row) ? null : boundsOf(row);
  return `${formatPercent(row.unread)} unread${between ? `: ${between.map((one) => formatNumber(one)).join(" to ")}` : ""}`;
}

/** Address of the unread responses of a row. @type {(row: Row) => string} */
function unreadAddress(row) {
  const condition = conditionOf(row);
  return pageLink(["samples", row.task], { model: row.model, condition: condition === "main" ? "" : condition, outcome: "unread" });
}

/** The share of unread responses of a row, as a link to them. @type {(row: Row) => Child} */
export function unreadLink(row) {
  const label = `unread responses of ${printable(row.model)}`;
  return row.unread ? h("a", { href: unreadAddress(row), "aria-label": label }, formatPercent(row.unread)) : formatPercent(row.unread);
}

/** Marks and notes as elements, to follow a number. @type {(row: Row) => HTMLElement[]} */
export function markElements(row) {
  return [...warningsOf(row), ...notesOf(row)].map(({ mark, why, href }) =>
    h(href ? "a" : "span", { class: "mark", href, title: printable(why) }, mark));
}

/** Why numbers of models on a task are stale, a paragraph for each reason. @type {(index: Index, task: string, models: string[]) => HTMLElement[]} */
export function staleNotes(index, task, models) {
  const rows = index.rows.filter((row) => row.stale && row.task === task && models.includes(row.model));
  return [...new Set(rows.map((row) => row.stale))].map((why) => h("p", { class: "note" }, h("span", { class: "mark" }, "stale"), " ", printable(why)));
}

/** Whether a model is a blind baseline. @type {(model: { name: string, kind?: string }) => boolean} */
export function isBaseline(model) {
  return ["random", "most_frequent", "scripted", "blind"].includes(model.kind) || model.name === "random";
}

/** Displayed kinds of models. @type {Record<string, string>} */
const KINDS = {
  random: "baseline", most_frequent: "baseline", scripted: "baseline", transformers: "local", vllm: "local",
  server: "server", recorded: "recorded", python: "written in Python", "": "not configured now",
};

/** @type {(model: Model) => string} */
export function kindOf(model) {
  return isBaseline(model) ? "baseline" : KINDS[model.kind] || asWords(model.kind);
}
