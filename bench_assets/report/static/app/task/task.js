/* A task: its models, the paper's tables, and plots. */
import { pageLink, replaceQuery } from "../base/addresses.js";
import { controlBar, dropDown } from "../base/controls.js";
import { loadData } from "../base/data.js";
import { append, h } from "../base/elements.js";
import { pageTitle } from "../base/pages.js";
import { bestValue, byMerit, isBaseline, isLowestBest, loadIndex, unpackRows } from "../base/results.js";
import { asWords, foreign, metricName, printable } from "../base/text.js";
import { barChart, dotChart, heatMap } from "../charts/charts.js";
import { curveChart } from "../charts/curves.js";
import { radarChart } from "../charts/radar.js";
import { taskFacts } from "./list.js";
import { modelTable } from "./model_table.js";
import { otherSources } from "./other_sources.js";
import { mainTable, paperTable, paperTables } from "./paper_tables.js";
import { confusionSection, usageSection, wideSection } from "./usage.js";

/** The page /task/:task. @type {DrawPage} */
export async function taskPage(main, params, query) {
  const index = await loadIndex();
  const task = index.task(params.task);
  if (!task) throw new Error(`This report has no task named ${params.task}.`);
  const data = { ...await loadData(`task-${task.slug}`) }; // what is loaded stays as it is, for other pages
  for (const name of ["rows", "published", "usage", "confusion"]) data[name] = unpackRows(data[name]);
  /** @type {TaskView} */
  const page = { index, task, data, chosen: defaults({ task, data }, query), change };
  const place = h("div", { class: "sections" });
  const draw = () => { place.replaceChildren(); append(place, sections(page)); };
  /** @type {(changes: Query) => void} */
  function change(changes) {
    Object.assign(page.chosen, changes);
    replaceQuery(changes);
    draw();
  }
  main.append(
    pageTitle(task.title), h("p", {}, printable(task.purpose)), taskFacts(index, task),
    h(
      "p", { class: "ways no-print" }, h("a", { href: pageLink(["samples", task.name]) }, "Samples"),
      h("a", { href: pageLink(["compare"], { task: task.name }) }, "Compare two models"),
    ),
    choices(page), place,
  );
  draw();
}

/** @type {(page: Pick<TaskView, "task" | "data">, query: URLSearchParams) => TaskChoice} */
function defaults({ task, data }, query) {
  const editions = [...new Set(data.rows.map((row) => row.edition))];
  /** @type {(name: string, known: string[], start: string) => string} */
  const given = (name, known, start) => (known.includes(query.get(name)) ? query.get(name) : start);
  return {
    metric: given("metric", measured(data), task.metric),
    condition: given("condition", task.measured, "main"),
    edition: given("edition", editions, task.edition && editions.includes(task.edition) ? task.edition : editions[0] || ""),
    category: given("category", data.categories, "all"),
    table: query.get("table") ?? mainTable(data, task),
    model: query.get("model") || "",
  };
}

/** @type {(data: TaskData) => string[]} */
function measured(data) {
  return data.metrics.filter((metric) => data.rows.some((row) => row.metric === metric));
}

/** @type {(page: TaskView) => HTMLElement} */
function choices(page) {
  const { task, data, chosen, change } = page;
  const editions = [...new Set(data.rows.map((row) => row.edition))];
  /** @type {(values: unknown[]) => boolean} */
  const several = (values) => values.length > 1;
  return controlBar(
    several(measured(data)) && dropDown("Metric", measured(data).map((name) => [name, metricName(name)]), chosen.metric, (metric) => change({ metric })),
    several(task.measured) && dropDown("Condition", task.measured, chosen.condition, (condition) => change({ condition })),
    several(editions) && dropDown("Edition", editions, chosen.edition, (edition) => change({ edition })),
  );
}

/** @type {(page: TaskView) => Child[]} */
function sections(page) {
  const rows = page.data.rows.filter((row) => row.metric === page.chosen.metric && row.edition === page.chosen.edition);
  const here = rows.filter((row) => row.condition === page.chosen.condition);
  const all = here.filter((row) => row.category === "all");
  return [
    modelTable(page, all), otherSources(page), unreadable(page), learning(page, here), beside(page, all), tables(page),
    ...categories(page, here), conditions(page, rows), usageSection(page, all), confusionSection(page, all),
  ];
}

/** @type {(title: string, ...children: Child[]) => HTMLElement} */
function section(title, ...children) {
  return h("section", {}, h("h2", {}, title), children);
}

/** @type {(page: TaskView) => Child} */
function unreadable({ data }) {
  return data.unreadable.length > 0 && h("ul", { class: "note reasons" }, data.unreadable.map((one) =>
    h("li", {}, foreign(one.model), ` (${asWords(one.condition)}): `, printable(one.why))));
}

/** Blind baselines as lines of a plot. @type {(page: TaskView, rows: Row[]) => BaselineLine[]} */
function lines({ task, chosen }, rows) {
  const constants = rows.map((row) => row.constant).filter((one) => one !== null);
  const random = rows.find((row) => row.model === "random");
  return [
    task.chance !== null && chosen.metric === task.metric && chosen.condition === "main" && { name: "chance", value: task.chance },
    constants.length > 0 && { name: "constant", value: bestValue(task, constants, chosen.metric) },
    random && random.value !== null && !random.partial && { name: "random", value: random.value },
  ].filter(Boolean);
}

/** @type {(page: TaskView, here: Row[]) => Child} */
function learning(page, here) {
  const { index, chosen, change, data } = page;
  const inRuns = here.map((row) => ({ ...row, ...stepOf(index, row.model) })).filter((row) => row.step !== null);
  const rows = inRuns.filter((row) => row.category === chosen.category && row.value !== null);
  if (new Set(rows.map((row) => row.step)).size < 2) return null;
  const among = here.filter((row) => row.category === chosen.category);
  return section(
    "Checkpoints",
    data.categories.length > 1 && controlBar(dropDown(
      "Category", [["all", "all"], ...data.categories.filter((one) => inRuns.some((row) => row.category === one))], chosen.category, (category) => change({ category }),
    )),
    curveChart(`${metricName(chosen.metric)} by step${chosen.category === "all" ? "" : `: ${asWords(chosen.category)}`}`, rows,
      lines(page, among).filter((line) => chosen.category === "all" || line.name !== "chance"),
      { label: metricName(chosen.metric), note: "Bands: 95 % intervals. Dashed: blind baselines. Hollow: more than a tenth of the responses is unread." }),
  );
}

/** @type {(index: Index, name: string) => { run: string | null, step: number | null }} */
function stepOf(index, name) {
  const model = index.model(name);
  return model && model.run !== null && model.step !== null ? { run: model.run, step: model.step } : { run: null, step: null };
}

/** @type {(page: TaskView, all: Row[]) => Child} */
function beside(page, all) {
  const { task, data, chosen } = page;
  const fits = data.published.filter((row) => row.metric === chosen.metric && row.condition === chosen.condition && row.category === "all");
  const inTable = fits.filter((row) => row.source === chosen.table);
  const printed = inTable.length ? inTable : fits;
  const sources = [...new Set(printed.map((row) => row.source))];
  const ours = all.filter((row) => row.value !== null);
  if (!ours.length && !printed.length) return null;
  return section(
    printed.length ? "Published against measured here" : "Measured here",
    dotChart(`${metricName(chosen.metric)}, over all questions`, ours, printed, lines(page, all), {
      label: metricName(chosen.metric), order: byMerit(task, chosen.metric),
      legend: [["measured here, with its 95 % interval", "var(--c1)"], ...(printed.length ? [["as papers print it", "var(--quiet)", "hollow"]] : [])],
      note: printed.length ? `Published: ${sources.join("; ")}, on their questions; measured here: edition ${chosen.edition}. The two are not comparable.` : null,
    }),
  );
}

/** @type {(page: TaskView) => HTMLElement} */
function tables(page) {
  const { task, data, chosen, change } = page;
  const found = paperTables(data, task);
  const table = found.find((one) => one.name === chosen.table) || found[0];
  const rows = data.rows.filter((row) => row.edition === chosen.edition);
  /** @type {(row: Row) => string} */
  const link = (row) => pageLink(["samples", task.name], {
    model: row.model, condition: row.condition === "main" ? "" : row.condition, category: row.category === "all" ? "" : row.category,
  });
  return wideSection(
    "As the paper has it",
    found.length > 1 && controlBar(dropDown("Table", found.map((one) => [one.name, one.name || "by category, measured here alone"]), table.name, (name) => change({ table: name }))),
    paperTable(task, table, rows, link),
    h("p", { class: "note" }, "Numbers measured here link to their samples. "),
  );
}

/** @type {(page: TaskView, here: Row[]) => Child[]} */
function categories(page, here) {
  const { task, data, chosen, index } = page;
  const rows = here.filter((row) => row.category !== "all" && row.value !== null);
  const names = data.categories.filter((one) => rows.some((row) => row.category === one));
  if (names.length < 2) return [];
  const whole = here.filter((row) => row.category === "all").sort(byMerit(task, chosen.metric)).map((row) => row.model);
  const models = [...new Set(rows.map((row) => row.model))].sort((a, b) => whole.indexOf(a) - whole.indexOf(b));
  const few = chosenFew(index, models.filter((model) => rows.some((row) => row.model === model && (row.value > 0 || isLowestBest(task, chosen.metric)))), chosen.model);
  const around = names.slice(0, 16);
  const sectionOf = names.length > 16 ? wideSection : section;
  return [sectionOf(
    "By category",
    heatMap(`${metricName(chosen.metric)} by category`, rows, names, models),
  ), around.length > 2 && few.length > 0 && section("Profiles", radarChart(few.length > 1 ? `Profiles of ${few.length} models` : `Profile of ${few[0]}`, rows.filter((row) => few.includes(row.model)), around, few, {
      note: names.length > around.length ? `The first ${around.length} of ${names.length} categories.` : null,
    }))];
}

/** At most four models for a radar chart: the chosen one, then the best; baselines last.
    @type {(index: Index, models: string[], first: string) => string[]} */
function chosenFew(index, models, first) {
  /** @type {(name: string) => boolean} */
  const isBlind = (name) => isBaseline(index.model(name) || { name });
  const ordered = [...models].sort((a, b) => Number(b === first) - Number(a === first) || Number(isBlind(a)) - Number(isBlind(b)));
  return ordered.slice(0, 4);
}

/** @type {(page: TaskView, rows: Row[]) => Child} */
function conditions(page, rows) {
  const { task, chosen } = page;
  const over = rows.filter((row) => row.category === "all" && row.value !== null);
  const names = Object.keys(task.conditions).filter((name) => over.some((row) => row.condition === name));
  if (names.length < 2) return null;
  const several = [...new Set(over.map((row) => row.model))].filter((model) => new Set(over.filter((row) => row.model === model).map((row) => row.condition)).size > 1);
  const shown = over.filter((row) => several.includes(row.model));
  return section(
    "Conditions",
    several.length > 0 && barChart(`${metricName(chosen.metric)} by condition`, shown, names, several, [], { label: metricName(chosen.metric) }),
    h("dl", { class: "facts" }, names.map((name) => [h("dt", {}, asWords(name)), h("dd", {}, printable(task.conditions[name]))])),
  );
}
