/* The first page: models by tasks. */
import { replaceQuery } from "../base/addresses.js";
import { checkBox, controlBar, dropDown, searchField } from "../base/controls.js";
import { h } from "../base/elements.js";
import { pageTitle } from "../base/pages.js";
import { bestValue, isBaseline, isHidden, kindOf, loadIndex, shortTitle, suiteTitle, warningsOf } from "../base/results.js";
import { foreign, formatCount } from "../base/text.js";
import { bestOfTasks, verdictSentences } from "./glance.js";
import { matrix, matrixLegend } from "./matrix.js";
import { isKnownBest } from "./known_best.js";

/** The page /. @type {DrawPage} */
export async function leaderboardPage(main, _, query) {
  const index = await loadIndex();
  const chosen = defaults(index, query);
  const place = h("div", { class: "matrix" });
  const said = h("p", { class: "note", role: "status" });
  const glance = h("div");
  const verdict = h("div", { class: "verdicts" });
  /** @type {(changes: Query) => void} */
  const change = (changes) => {
    Object.assign(chosen, changes);
    replaceQuery(changed(index, chosen));
    draw();
  };
  const draw = () => {
    const shown = view(index, chosen);
    said.replaceChildren(summary(shown, chosen));
    place.replaceChildren(shown.models.length || shown.baselines.length || shown.published.length
      ? matrix(index, shown, chosen, change) : h("p", {}, "No results match these filters."));
    place.append(...matrixLegend(shown));
    glance.replaceChildren(bestOfTasks(index, chosen.edition));
    verdict.replaceChildren(...verdictSentences(index, chosen.edition));
  };
  main.append(
    pageTitle("Leaderboard"), verdict, said, choices(index, chosen, change), place, glance, ...missing(index),
  );
  draw();
}

/** Checkpoints without a number, and why. @type {(index: Index) => HTMLElement[]} */
function missing(index) {
  const lines = index.missing.map((line) => h("li", {}, foreign(line)));
  return lines.length ? [h("section", {}, h("h2", {}, "No number"), h("ul", {}, lines))] : [];
}

/** All editions: those of the present questions first, then by number of results. @type {(index: Index) => string[]} */
function editions(index) {
  const times = new Map();
  for (const row of index.rows) if (row.edition) times.set(row.edition, (times.get(row.edition) || 0) + 1);
  const present = new Set(index.tasks.map((task) => task.edition));
  return [...times.keys()].sort((a, b) => Number(present.has(b)) - Number(present.has(a)) || times.get(b) - times.get(a));
}

/** @type {(index: Index) => LeaderboardChoice} */
function initial(index) {
  return {
    q: "", suite: "", kind: "", edition: editions(index)[0] || "", condition: "main", sort: "rank", published: "best",
    intervals: index.models.length > 200 ? "no" : "yes", // thousands of drawings are slow
  };
}

/** @type {(index: Index, query: URLSearchParams) => LeaderboardChoice} */
function defaults(index, query) {
  const start = initial(index);
  for (const name of Object.keys(start)) start[name] = query.get(name) ?? start[name];
  return start;
}

/** The choices that differ from the defaults, for the address. @type {(index: Index, chosen: LeaderboardChoice) => Query} */
function changed(index, chosen) {
  const start = initial(index);
  return Object.fromEntries(Object.keys(start).map((name) => [name, chosen[name] === start[name] ? "" : chosen[name]]));
}

/** @type {(index: Index, chosen: LeaderboardChoice, change: (changes: Query) => void) => HTMLElement} */
function choices(index, chosen, change) {
  const suites = [...new Set(index.tasks.map((task) => task.suite))];
  const kinds = [...new Set(index.models.map(kindOf))].sort();
  const conditions = [...new Set(["main", ...index.tasks.flatMap((task) => task.measured)])];
  /** @type {(values: unknown[]) => boolean} */
  const several = (values) => values.length > 1;
  return controlBar(
    searchField("Find", chosen.q, (q) => change({ q }), "model or task"),
    several(suites) && dropDown("Suite", [["", "all"], ...suites], chosen.suite, (suite) => change({ suite })),
    several(kinds) && dropDown("Models", [["", "all"], ...kinds], chosen.kind, (kind) => change({ kind })),
    several(editions(index)) && dropDown("Edition", editions(index), chosen.edition, (edition) => change({ edition })),
    several(conditions) && dropDown("Condition", conditions, chosen.condition, (condition) => change({ condition })),
    dropDown("Published", [["best", "the best"], ["all", "all rows"], ["none", "none"]], chosen.published, (published) => change({ published })),
    checkBox("Intervals", chosen.intervals === "yes", (on) => change({ intervals: on ? "yes" : "no" })),
  );
}

/** What is shown: tasks, models with their rows, and published rows. @type {(index: Index, chosen: LeaderboardChoice) => Matrix} */
function view(index, chosen) {
  const words = chosen.q.toLowerCase().split(/\s+/).filter(Boolean);
  /** @type {(...texts: string[]) => boolean} */
  const fits = (...texts) => words.every((word) => texts.join(" ").toLowerCase().includes(word));
  /** @type {(task: Task) => boolean} */
  const isTask = (task) => words.length > 0 && fits(task.name, task.title);
  const inSuite = index.tasks.filter((task) => !chosen.suite || task.suite === chosen.suite);
  const named = inSuite.filter(isTask);
  const tasks = (named.length ? named : inSuite).filter((task) => task.measured.includes(chosen.condition) || chosen.condition === "main");
  /** @type {(model: Model) => boolean} */
  const modelFits = (model) => (named.length > 0 || fits(model.name, kindOf(model), model.kind))
    && (!chosen.kind || kindOf(model) === chosen.kind);
  const names = new Set(tasks.map((task) => task.name));
  const cells = new Map();
  for (const row of index.rows) {
    if (row.condition !== chosen.condition || !names.has(row.task)) continue;
    if (row.edition && row.edition !== chosen.edition) continue;
    if (!cells.has(row.model)) cells.set(row.model, {});
    cells.get(row.model)[row.task] = row;
  }
  const ranked = index.rankings.find((one) => one.edition === chosen.edition && one.condition === chosen.condition && one.tasks.length > 1);
  const ranks = new Map((ranked ? ranked.ranks : []).map((one) => [one.model, one]));
  const measured = index.models.filter((model) => cells.has(model.name) && modelFits(model)).map((model) => ({
    model, cells: cells.get(model.name), rank: ranks.get(model.name) || null, only: askedOnly(index, model),
  }));
  const models = measured.filter((one) => !isBaseline(one.model));
  const baselines = measured.filter((one) => isBaseline(one.model));
  const published = index.published.filter((row) => row.condition === chosen.condition && names.has(row.task));
  return { edition: chosen.edition, tasks, models, baselines, ranked, published, best: bestOf(tasks, models), scale: scales(tasks, models) };
}

/** The only suite or tasks that a model was evaluated on; null if it has several suites. @type {(index: Index, model: Model) => string[] | null} */
function askedOnly(index, model) {
  const suites = new Set(index.rows.filter((row) => row.model === model.name).map((row) => row.task));
  const tasks = index.tasks.filter((task) => suites.has(task.name));
  const others = index.tasks.filter((task) => !suites.has(task.name) && task.asked_of === "model");
  const inSuites = [...new Set(tasks.map((task) => task.suite))];
  if (tasks.length && tasks.every((task) => task.asked_of === "encoder")) return tasks.map((task) => shortTitle(index, task));
  return others.length && inSuites.length === 1 ? [suiteTitle(index, inSuites[0])] : null;
}

/** @type {(tasks: Task[], models: ModelRow[]) => Record<string, number | null>} */
function bestOf(tasks, models) {
  return Object.fromEntries(tasks.map((task) => {
    const rows = models.map((one) => one.cells[task.name]).filter((row) => row && row.value !== null && !warningsOf(row).length);
    const known = rows.filter((row) => !isHidden(row) && isKnownBest(task, row, rows));
    return [task.name, bestValue(task, known.map((row) => row.value))];
  }));
}

/** Scale of each column's interval drawing: 1, or the highest end of an interval.
    @type {(tasks: Task[], models: ModelRow[]) => Record<string, number>} */
function scales(tasks, models) {
  return Object.fromEntries(tasks.map((task) => {
    const ends = models.map((one) => one.cells[task.name]).filter((row) => row && row.value !== null).map((row) => row.high);
    return [task.name, Math.max(1, ...ends)];
  }));
}

/** @type {(shown: Matrix, chosen: LeaderboardChoice) => string} */
function summary(shown, chosen) {
  /** @type {(n: number, what: string) => string} */
  const some = (n, what) => `${formatCount(n)} ${what}${n === 1 ? "" : "s"}`;
  return `${some(shown.models.length, "model")}, ${some(shown.tasks.length, "task")}; edition ${chosen.edition || "unknown"}. `
    + "Numbers of different editions are not comparable, nor are published numbers, which are listed separately.";
}
