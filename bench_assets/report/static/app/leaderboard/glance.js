/* The leaderboard in sentences: the best model of each task, and whether runs learn. */
import { pageLink } from "../base/addresses.js";
import { h } from "../base/elements.js";
import { bestBaseline, byMerit, isBaseline, isBetter, isLowestBest, isShownBetter, shownValue } from "../base/results.js";
import { foreign, formatCount, formatInterval, formatNumber, metricName } from "../base/text.js";
import { measuredByBoth, summary } from "../compare/measured.js";
import { isKnownBest } from "./known_best.js";

/** The first sentences of an edition, under the main condition: the best model, and whether runs learn.
    @type {(index: Index, edition: string) => HTMLElement[]} */
export function verdictSentences(index, edition) {
  const rows = complete(index, edition);
  const ranked = index.rankings.find((one) => one.edition === edition && one.condition === "main" && one.tasks.length > 1);
  return [ranked && ranked.ranks.length > 1 && winner(ranked), ...steps(index, rows).map((run) => learned(index, run))].filter(Boolean);
}

/** @type {(ranked: Ranking) => HTMLElement} */
function winner(ranked) {
  const [first] = ranked.ranks;
  const interval = first.low === null ? "" : ` (95 % interval ${formatInterval(first.low, first.high, 1)})`;
  return h(
    "p", { class: "winner" }, foreign(first.model, "b"),
    ` has the best mean rank, ${formatNumber(first.mean, 1)}${interval}, of ${ranked.ranks.length} models over ${ranked.tasks.length} tasks.`,
  );
}

/** The best model of each task, in sentences. @type {(index: Index, edition: string) => Node | string} */
export function bestOfTasks(index, edition) {
  const rows = complete(index, edition);
  if (!rows.length) return "";
  return h("section", { class: "glance" }, h("h2", {}, "Best at each task"), bestAtEach(index, rows));
}

/** @type {(index: Index, edition: string) => Row[]} */
function complete(index, edition) {
  return index.rows.filter((row) => row.edition === edition && row.condition === "main" && row.value !== null
    && !row.unreadable && !row.partial && !row.n_failed);
}

/** @type {(index: Index, rows: Row[]) => HTMLElement} */
function bestAtEach(index, rows) {
  const measured = index.tasks.filter((task) => rows.some((row) => row.task === task.name));
  return h("dl", { class: "facts" }, measured.map((task) => {
    const models = rows.filter((row) => row.task === task.name && !isBaseline(index.model(row.model)));
    return [h("dt", {}, h("a", { href: pageLink(["task", task.name]) }, task.title)), h("dd", {}, best(task, models))];
  }));
}

/** @type {(task: Task, rows: Row[]) => Child} */
function best(task, rows) {
  if (!rows.length) return "only baselines were evaluated";
  const first = [...rows].sort(byMerit(task))[0];
  const blind = bestBaseline(task, first);
  if (!isKnownBest(task, first, rows)) return ["not known: too many responses are unread; ", foreign(first.model), ` has ${shownValue(first)}`];
  const equals = rows.filter((row) => row.value === first.value);
  if (first.value === 0 && !isLowestBest(task)) return `no model gets anything right (${metricName(task.metric)} 0)`;
  if (blind !== null && !isBetter(task, first.value, blind)) {
    return ["none: the best, ", foreign(first.model), ` with ${shownValue(first)}, is not better than ${formatNumber(blind)}, the best blind baseline`];
  }
  const shown = isShownBetter(task, first, blind);
  return [
    equals.map((row, i) => [i ? ", " : "", foreign(row.model, "b")]),
    ` with ${metricName(task.metric)} ${shownValue(first)}`, first.stale && " (stale)",
    blind === null ? "" : shown ? `; best blind baseline: ${formatNumber(blind)}` : `; not shown to be better than the best blind baseline (${formatNumber(blind)})`,
  ];
}

/** Runs with at least two steps, each with its rows ordered by step.
    @type {(index: Index, rows: Row[]) => { name: string, of: (Row & { step: number })[] }[]} */
function steps(index, rows) {
  /** @type {Map<string, (Row & { step: number })[]>} */
  const runs = new Map();
  for (const row of rows) {
    const model = index.model(row.model);
    if (model.step === null || model.run === null) continue;
    if (!runs.has(model.run)) runs.set(model.run, []);
    runs.get(model.run).push({ ...row, step: model.step });
  }
  return [...runs].map(([name, of]) => ({ name: name || "the run", of: of.sort((a, b) => a.step - b.step) }))
    .filter((run) => new Set(run.of.map((row) => row.step)).size > 1);
}

/** The verdict on the last step against the first, as on the page Compare and in the terminal.
    @type {(index: Index, run: { name: string, of: (Row & { step: number })[] }) => HTMLElement} */
function learned(index, run) {
  const [first, last] = [run.of[0], run.of[run.of.length - 1]];
  const place = h("div", { class: "learned" }, h("p", {}, "…"));
  const link = h("a", { href: pageLink(["compare"], { a: first.model, b: last.model }) }, "compare");
  measuredByBoth(index, first.model, last.model).then((rows) => {
    const found = rows.length ? summary({ a: first.model, b: last.model }, rows) : h("p", {}, foreign(run.name), ": no task can be compared.");
    place.replaceChildren(found, h("p", { class: "note" }, `Step ${formatCount(first.step)} to step ${formatCount(last.step)}, paired question by question, all tasks together at 5 %: `, link, "."));
  });
  return place;
}
