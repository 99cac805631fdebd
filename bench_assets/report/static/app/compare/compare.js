/* Two models side by side: checkpoints, conditions, editions; all tasks, then one of them. */
import { pageLink } from "../base/addresses.js";
import { controlBar, dropDown } from "../base/controls.js";
import { h } from "../base/elements.js";
import { pageTitle } from "../base/pages.js";
import { conditionOf, loadIndex, markElements } from "../base/results.js";
import { sortableTable } from "../base/table.js";
import { formatCount, formatNumber, formatSigned, metricName, printable } from "../base/text.js";
import { figure } from "../charts/figure.js";
import { decide } from "./differences.js";
import { choiceQuery, measured, summary } from "./measured.js";
import { drawTask } from "./task.js";

/** The page /compare. @type {DrawPage} */
export async function comparePage(main, _, query) {
  const index = await loadIndex();
  const chosen = choice(index, query);
  main.append(pageTitle("Compare"));
  if (!chosen) {
    main.append(h("p", {}, "A comparison needs two models that were evaluated on the same task. Evaluate another one."));
    return;
  }
  main.append(controls(index, chosen));
  const rows = await Promise.all(index.tasks.map((each) => measured(index, each, chosen)));
  const both = rows.filter((row) => row.found);
  decide(both.map((row) => row.found)); // all tasks together
  if (!both.length) {
    main.append(h("p", {}, "Both were evaluated on no common task. Choose other models or conditions."));
    return;
  }
  const chosenRow = both.find((row) => row.task.name === chosen.task) || most(both);
  const task = chosenRow.task.name;
  const place = h("div");
  main.append(summary(chosen, both), overview(both, task, chosen), changePlot(chosen, both), place);
  await drawTask(place, index, chosen, chosenRow);
}

/** The choice in the address; by default the first and last checkpoint of a run, or the first two models.
    @type {(index: Index, query: URLSearchParams) => CompareChoice | null} */
function choice(index, query) {
  const names = [...new Set(index.rows.filter((row) => row.value !== null).map((row) => row.model))];
  const ends = endsOfRun(index, names);
  const b = names.includes(query.get("b")) ? query.get("b") : query.get("a") === ends[1] ? ends[0] : ends[1];
  const earlier = b === ends[1] ? ends[0] : checkpointBefore(index, names, b);
  const a = names.includes(query.get("a")) ? query.get("a") : earlier || names.find((name) => name !== b);
  if (!a || !b) return null;
  /** @type {(name: string) => string} */
  const condition = (name) => query.get(name) || "main";
  return { a, b, ca: condition("ca"), cb: condition("cb"), task: query.get("task") || "", names };
}

/** @type {(index: Index, names: string[], run: string | null) => string[]} */
function ofRun(index, names, run) {
  const known = names.map((name) => index.model(name)).filter((one) => one && one.run !== null && one.step !== null);
  return known.filter((one) => one.run === run).sort((x, y) => x.step - y.step).map((one) => one.name);
}

/** @type {(index: Index, names: string[]) => string[]} */
function endsOfRun(index, names) {
  const runs = [...new Set(names.map((name) => (index.model(name) || {}).run).filter((run) => run !== null && run !== undefined))];
  const steps = runs.map((run) => ofRun(index, names, run)).find((one) => one.length > 1);
  return steps ? [steps[0], steps[steps.length - 1]] : names.slice(0, 2);
}

/** The checkpoint before one, in its run. @type {(index: Index, names: string[], name: string) => string | undefined} */
function checkpointBefore(index, names, name) {
  const model = index.model(name);
  const steps = model && model.run !== null ? ofRun(index, names, model.run) : [];
  return steps[steps.indexOf(name) - 1];
}

/** @type {(index: Index, chosen: CompareChoice) => HTMLElement} */
function controls(index, chosen) {
  /** @type {(changes: Query) => void} */
  const go = (changes) => { location.hash = pageLink(["compare"], { ...choiceQuery(chosen), ...changes }); };
  const conditions = [...new Set(index.rows.map(conditionOf))];
  const several = conditions.length > 1;
  return controlBar(
    dropDown("From (A)", chosen.names.map((name) => [name, name]), chosen.a, (a) => go({ a })),
    several && dropDown("under condition", conditions, chosen.ca, (ca) => go({ ca: ca === "main" ? "" : ca })),
    dropDown("To (B)", chosen.names.map((name) => [name, name]), chosen.b, (b) => go({ b })),
    several && dropDown("under condition", conditions, chosen.cb, (cb) => go({ cb: cb === "main" ? "" : cb })),
    h("button", { type: "button", class: "plain", onclick: () => go({ a: chosen.b, b: chosen.a, ca: chosen.cb, cb: chosen.ca }) }, "⇄ Swap"),
  );
}

/** @type {(rows: ComparedTask[]) => ComparedTask} */
function most(rows) {
  /** @type {(row: ComparedTask) => number} */
  const size = ({ found }) => Math.abs(found.change) / Math.max(1, Math.abs(found.before), Math.abs(found.after));
  return [...rows].sort((x, y) => size(y) - size(x))[0];
}

/** @type {(rows: ComparedTask[], task: string, chosen: CompareChoice) => HTMLElement} */
function overview(rows, task, chosen) {
  const why = rows.some(isOnlyAlone) && h(
    "p", { class: "note" }, "undecided (Holm): the interval of that task alone leaves out 0, but of so many tasks one may do so by chance: verdicts are corrected for all of them at 5 %.",
  );
  const byPeople = rows.some((row) => row.rows.some((one) => (one.people || "").startsWith("checked"))) && h(
    "p", { class: "note" }, "A and B are corrected by people where they are marked so; differences, intervals and verdicts are the judge's alone.",
  );
  return h("div", {}, sortableTable([
    {
      key: "task", title: "Task", value: (row) => row.task.title,
      cell: (row) => h("a", { href: pageLink(["compare"], { ...choiceQuery(chosen), task: row.task.name }), "aria-current": row.task.name === task ? "true" : null }, printable(row.task.title)),
    },
    { key: "metric", title: "Metric", value: (row) => metricName(row.task.metric) },
    { key: "a", title: "A", number: true, value: (row) => row.found.before, cell: (row) => number(row, 0) },
    { key: "b", title: "B", number: true, value: (row) => row.found.after, cell: (row) => number(row, 1) },
    { key: "change", title: "Difference", number: true, value: (row) => row.found.change, cell: (row) => h("b", {}, formatSigned(row.found.change)) },
    { key: "low", title: "95 % interval", number: true, value: (row) => row.found.low, cell: (row) => (row.found.low === null ? "unknown" : `${formatSigned(row.found.low)} to ${formatSigned(row.found.high)}`) },
    { key: "verdict", title: "Verdict", value: (row) => row.found.verdict, cell: verdict, hint: "corrected for all tasks at 5 % (Holm); the interval is for this task alone" },
    { key: "paired", title: "Paired", value: (row) => how(row.found), hint: "paired on the same questions, pairs or images; without pairing there is no verdict" },
  ], rows, { label: "Differences by task", heading: "task", rowClass: (row) => (row.task.name === task ? "is-chosen" : null) }), why, rows.map(readAgain), byPeople);
}

/** @type {(row: ComparedTask) => Child} */
function readAgain({ task, found: { unread } }) {
  return unread && h("p", { class: "note" }, "For a verdict: ", h("code", {}, `bench evaluate ${task.name} --model ${printable(unread.model)} --reader MODEL`), ".");
}

/** @type {(row: ComparedTask, side: 0 | 1) => Child} */
function number(row, side) {
  return [formatNumber(row.found[side ? "after" : "before"]), markElements(row.rows[side])];
}

/** @type {(row: ComparedTask) => HTMLElement} */
function verdict(row) {
  const said = row.found.verdict;
  const mark = isOnlyAlone(row) ? " (Holm)" : "";
  return h("span", { class: `verdict ${said}` }, { better: "▲ better", worse: "▼ worse" }[said] || said + mark);
}

/** Whether a difference is undecided among all tasks, although its own interval leaves out 0. @type {(row: ComparedTask) => boolean} */
function isOnlyAlone({ found }) {
  return found.verdict === "undecided" && !found.reason && found.low !== null && found.low * found.high > 0;
}

/** @type {(found: Difference) => string} */
function how(found) {
  return found.paired ? `on ${formatCount(found.n)} units` : found.reason ? `no: ${found.reason}` : "no";
}

/** Differences as dots with intervals, for metrics with a maximum of 1. @type {(chosen: CompareChoice, rows: ComparedTask[]) => Node | string} */
function changePlot(chosen, rows) {
  const shares = rows.filter(({ found }) => Math.max(Math.abs(found.before), Math.abs(found.after)) <= 1 && found.low !== null);
  if (shares.length < 2) return "";
  const drawn = shares.map(({ task, found }) => ({ task: task.title, metric: task.metric, ...found, shown: found.verdict }));
  /** @type {(width: number) => number} */
  const left = (width) => width / 2.4;
  /** @type {(row: { shown?: string }) => string} */
  const colour = (row) => (row.shown === "better" ? "var(--good)" : row.shown === "worse" ? "var(--bad)" : "var(--quiet)");
  const whole = 16 + 6.6 * Math.max(...drawn.map((row) => row.task.length)); // px; of the longest name on one line
  return figure("What changed, task by task", (width) => Plot.plot({
    style: { background: "none", fontSize: "12px", fontFamily: "inherit" },
    width, height: 60 + (whole > left(width) ? 46 : 24) * drawn.length, marginLeft: Math.min(whole, left(width)), marginRight: 20, marginBottom: 40,
    x: { label: "B minus A", grid: true, nice: true }, y: { label: null, domain: drawn.map((row) => row.task) },
    marks: [
      Plot.axisY({ label: null, tickSize: 0, lineWidth: (Math.min(whole, left(width)) - 14) / 12 }),
      Plot.ruleX([0], { stroke: "currentColor", strokeOpacity: 0.5 }),
      Plot.ruleY(drawn, { y: "task", x1: "low", x2: "high", stroke: colour, strokeWidth: 4, strokeOpacity: 0.4, strokeLinecap: "round" }),
      Plot.dot(drawn, { y: "task", x: "change", fill: colour, r: 5 }),
    ],
  }), drawn.map(({ task, metric, before, after, change, low, high, n }) => ({ task, metric, A: before, B: after, change, low, high, n })),
  { note: rows.length > shares.length ? "Metrics with other maxima than 1, such as CIDEr, are in the table only." : null });
}
