/* Audit: whether the benchmarks can be trusted, and what should be reviewed. */
import { pageLink } from "../base/addresses.js";
import { loadData } from "../base/data.js";
import { append, h } from "../base/elements.js";
import { pageTitle } from "../base/pages.js";
import { loadIndex } from "../base/results.js";
import { sortableTable } from "../base/table.js";
import { asWords, foreign, formatCount, printable } from "../base/text.js";
import { unreadable } from "./annotation.js";

const FEW = 8; // suspects of a check that are shown at once

/** The page /audit. @type {DrawPage} */
export async function auditList(main) {
  const [index, tasks] = await Promise.all([loadIndex(), loadData("audit")]);
  const looked = tasks.filter((one) => one.data);
  main.append(
    pageTitle("Audit"),
    h("p", {}, "Does a benchmark measure what it claims? Each doubt is a suggestion for review: it changes no number."),
  );
  if (looked.length) main.append(overview(index, looked));
  append(main, [unreadable(tasks), missing(index, tasks.filter((one) => !one.data && !one.problem))]);
}

/** The page /audit/:task. @type {DrawPage} */
export async function auditPage(main, params) {
  const [index, tasks] = await Promise.all([loadIndex(), loadData("audit")]);
  const task = index.task(params.task);
  const about = tasks.find((one) => one.task === params.task);
  if (!task || !about) throw new Error(`This report has no task named ${params.task}.`);
  main.append(pageTitle(`${task.title}: audit`), back());
  if (!about.data) {
    append(main, [about.problem ? unreadable([about]) : missing(index, [about])]);
    return;
  }
  /** @type {AuditData} */
  const found = await loadData(about.data);
  main.append(h("p", { class: "summary" }, sentence(about.checks)));
  const [blind, looked] = [skipped(found.checks), found.checks.filter((check) => !check.passed || !check.skipped)];
  append(main, [first(task, found.first), looked.map((check) => examined(task, check)), unlooked(blind)]);
}

/** @type {<C extends AuditState>(checks: C[]) => C[]} */
const doubts = (checks) => checks.filter((check) => !check.passed);
/** @type {<C extends AuditState>(checks: C[]) => C[]} */
const skipped = (checks) => checks.filter((check) => check.passed && check.skipped);

function back() {
  return h("p", { class: "ways no-print" }, h("a", { href: "#/audit" }, "All tasks"));
}

/** @type {(checks: AuditState[]) => string} */
function sentence(checks) {
  const [found, none] = [doubts(checks).length, skipped(checks).length];
  const said = found ? `${found} of ${checks.length} checks found something to look at` : `None of ${checks.length} checks found anything`;
  return `${said}${none ? `; ${none} could not look` : ""}.`;
}

/** @type {(index: Index, tasks: AuditTask[]) => HTMLElement} */
function overview(index, tasks) {
  /** @type {(one: AuditTask) => string} */
  const title = (one) => (index.task(one.task) || { title: one.task }).title;
  return sortableTable([
    { key: "task", title: "Task", value: title, cell: (one) => h("a", { href: pageLink(["audit", one.task]) }, printable(title(one))) },
    { key: "doubts", title: "Doubts", number: true, value: (one) => doubts(one.checks).length, cell: (one) => h("b", {}, String(doubts(one.checks).length)) },
    { key: "checks", title: "Checks", number: true, value: (one) => one.checks.length },
    { key: "skipped", title: "Could not look", number: true, value: (one) => skipped(one.checks).length, hint: "too few models, or nothing to check" },
    { key: "found", title: "To look at", number: true, value: (one) => doubts(one.checks).reduce((n, check) => n + check.found, 0) },
    {
      key: "which", title: "What was found", plain: true, value: () => "",
      cell: (one) => doubts(one.checks).map((check) => asWords(check.check)).join(", ") || "nothing",
    },
  ], tasks, { label: "Audit by task", heading: "task", sort: "-doubts" });
}

/** @type {(index: Index, tasks: AuditTask[]) => Child} */
function missing(index, tasks) {
  if (!tasks.length) return null;
  return h(
    "section", {}, h("h2", {}, "Not audited"),
    h("p", {}, "These tasks were not audited yet. Each command audits one task, without asking a model; ", h("code", {}, "bench report"), " then shows the result:"),
    h("ul", { class: "commands" }, tasks.map((one) => h("li", {}, h("code", {}, `bench audit run ${one.task}`)))),
  );
}

/** @type {(task: Task, questions: AuditData["first"]) => Child} */
function first(task, questions) {
  if (!questions.length) return null;
  return h(
    "section", {}, h("h2", {}, "Look at these first"),
    h("p", { class: "note" }, "Questions named by most doubts, then by their position in a doubt."),
    h("ul", { class: "suspects" }, questions.map((one) => card(task, one, one.said))),
  );
}

/** @type {(task: Task, check: AuditCheck) => HTMLElement} */
function examined(task, check) {
  const cards = check.suspects.map((one) => card(task, one, [one.evidence]));
  /** @type {(some: HTMLElement[]) => HTMLElement} */
  const list = (some) => h("ul", { class: check.passed ? "suspects cleared" : "suspects" }, some);
  const few = check.passed ? 0 : FEW; // suspects of a passed check are no doubts: they are folded
  const rest = cards.slice(few);
  const mark = check.passed ? "✓" : "✗";
  return h(
    "section", { class: "examined" },
    h("h2", {}, h("span", { "aria-hidden": "true", class: check.passed ? "sound" : "doubt" }, `${mark} `), foreign(check.question)),
    h("p", {}, foreign(check.sentence), h("span", { class: "quiet" }, ` ${asWords(check.check)}, of ${formatCount(check.n)}`)),
    few > 0 && cards.length > 0 && list(cards.slice(0, few)),
    rest.length > 0 && h("details", {}, h("summary", {}, few ? `${rest.length} more` : `${rest.length} that it names`), list(rest)),
    check.more > 0 && h("p", { class: "note" }, `and ${formatCount(check.more)} more in the table`),
  );
}

/** Skipped checks, with the reason. @type {(checks: AuditCheck[]) => Child} */
function unlooked(checks) {
  if (!checks.length) return null;
  return h(
    "section", {}, h("h2", {}, "Could not look"),
    h("ul", {}, checks.map((check) => h("li", {}, foreign(check.question), h("span", { class: "quiet" }, " ", foreign(check.skipped))))),
  );
}

/** A suspect with its images and evidence; questions link to their samples. @type {(task: Task, one: Suspect, said: string[]) => HTMLElement} */
function card(task, one, said) {
  const about = one.question === one.about ? one.about : one.about.length === 64 ? `image ${one.about.slice(0, 12)}` : one.about;
  const sample = pageLink(["samples", task.name], { sample: one.question });
  return h(
    "li", {},
    one.images.length > 0 && h("div", { class: "thumbs" }, one.images.map(([, small]) => h("img", { src: small, alt: `Image of ${printable(one.question)}`, loading: "lazy" }))),
    one.text && h("p", {}, foreign(one.text)),
    said.map((evidence) => h("p", { class: "evidence" }, foreign(evidence))),
    h("p", {}, one.question ? h("a", { href: sample }, foreign(about)) : foreign(about, "b"),
      one.times > 1 && h("span", { class: "quiet" }, ` named by ${one.times} doubts`)),
  );
}
