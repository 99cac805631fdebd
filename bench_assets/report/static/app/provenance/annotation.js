/* Annotation tasks: progress, annotator quality, disagreement. */
import { pageLink } from "../base/addresses.js";
import { loadData } from "../base/data.js";
import { append, h } from "../base/elements.js";
import { pageTitle } from "../base/pages.js";
import { sortableTable } from "../base/table.js";
import { foreign, formatCount, formatNumber, printable } from "../base/text.js";

/** The page /annotation. @type {DrawPage} */
export async function annotationList(main) {
  const tasks = await loadData("annotation");
  const asked = tasks.filter((one) => one.data);
  main.append(
    pageTitle("Annotation"),
    h("p", {}, "Votes, captions, annotations and reviews by people, shown as pseudonyms. A unit with too few answers is open: neither kept nor dropped."),
  );
  if (asked.length) main.append(overview(asked));
  else main.append(h("p", {}, "No annotation task is configured. ", h("code", {}, "bench annotate tasks"), " lists the annotation tasks of all suites."));
  append(main, [unreadable(tasks), others(tasks.filter((one) => !one.data && !one.problem))]);
}

/** The page /annotation/:task. @type {DrawPage} */
export async function annotationPage(main, params) {
  const about = (await loadData("annotation")).find((one) => one.task === params.task);
  if (!about) throw new Error(`This report has no annotation task named ${params.task}.`);
  main.append(pageTitle(about.title), h("p", { class: "ways no-print" }, h("a", { href: "#/annotation" }, "All tasks")));
  if (!about.data) {
    append(main, [unreadable([about]) || h("p", {}, "This task is not configured.")]);
    return;
  }
  const found = await loadData(about.data);
  append(main, [sentence(about.progress), annotators(found.annotators), disputed(found.disputed), reasons(found.reasons)]);
}

/** @type {(at: string | null) => string} */
const day = (at) => (at ? at.slice(0, 10) : "");

/** @type {(tasks: AnnotationTask[]) => HTMLElement} */
function overview(tasks) {
  return sortableTable([
    { key: "task", title: "Task", value: (one) => one.task, cell: (one) => h("a", { href: pageLink(["annotation", one.task]) }, printable(one.task)) },
    { key: "units", title: "Units", number: true, value: (one) => one.progress.units },
    { key: "done", title: "Done", number: true, value: (one) => one.progress.done },
    { key: "open", title: "Open", number: true, value: (one) => one.progress.in_work + one.progress.untouched, hint: "with too few answers" },
    { key: "expired", title: "Expired", number: true, value: (one) => one.progress.expired, hint: "with too few answers at the deadline" },
    { key: "answers", title: "Answers", number: true, value: (one) => one.progress.answers },
    { key: "refused", title: "Do not count", number: true, value: (one) => one.progress.refused },
    { key: "annotators", title: "Annotators", number: true, value: (one) => one.progress.annotators.length },
    { key: "finished", title: "Finished", value: (one) => one.progress.finished_at, cell: (one) => finished(one.progress), hint: "estimated from the speed of the last days" },
  ], tasks, { label: "Annotation tasks", heading: "task", sort: "task" });
}

/** @type {(progress: Progress) => string} */
function finished(progress) {
  if (!progress.lacking) return progress.units ? "done" : "";
  return day(progress.finished_at) || "no answers";
}

/** @type {(progress: Progress) => HTMLElement} */
function sentence(progress) {
  const open = progress.in_work + progress.untouched;
  const expired = progress.expired ? `; expired at the deadline: ${formatCount(progress.expired)}` : "";
  const when = progress.lacking && progress.finished_at ? ` At ${formatNumber(progress.per_day, 1)} answers per day they are done on ${day(progress.finished_at)}.` : "";
  const missing = open ? `; open: ${formatCount(open)}, answers they lack: ${formatCount(progress.lacking)}` : "";
  return h("p", { class: "summary" }, `${formatCount(progress.done)} of ${formatCount(progress.units)} units are done${missing}${expired}.${when}`);
}

/** @type {(rows: Annotator[]) => HTMLElement} */
function annotators(rows) {
  if (!rows.length) return h("p", {}, "There are no answers yet.");
  return h("section", {}, h("h2", {}, "Annotators"), sortableTable([
    { key: "person", title: "Annotator", value: (one) => one.person },
    { key: "n", title: "Answers", number: true, value: (one) => one.n_answers },
    { key: "refused", title: "Do not count", number: true, value: (one) => one.n_refused },
    { key: "skipped", title: "Skipped", number: true, value: (one) => one.n_skipped },
    { key: "seconds", title: "Seconds", number: true, value: (one) => one.seconds, cell: (one) => formatNumber(one.seconds, 1), hint: "median of an answer" },
    { key: "agreement", title: "Agreement", number: true, value: (one) => one.agreement, cell: (one) => of(one.agreement, one.n_compared), hint: "share of the others' choices that are the same, and the number of choices" },
    { key: "gold", title: "Attention", number: true, value: (one) => one.gold, cell: (one) => of(one.gold, one.n_gold), hint: "share of attention checks answered right" },
  ], rows, { label: "Annotators", heading: "person", sort: "person" }));
}

/** @type {(share: number | null | undefined, n: number) => Child} */
function of(share, n) {
  return share === null || share === undefined ? "–" : h("span", {}, formatNumber(share), h("span", { class: "quiet" }, ` of ${formatCount(n)}`));
}

/** @type {(rows: DisputedUnit[]) => Child} */
function disputed(rows) {
  if (!rows.length) return null;
  return h(
    "section", {}, h("h2", {}, "Disagreement"),
    h("p", { class: "note" }, "A second round takes these units first: ", h("code", {}, "bench annotate queue"), " lists all."),
    h("ul", { class: "suspects" }, rows.map((one) => h(
      "li", {},
      one.images.length > 0 && h("div", { class: "thumbs" }, one.images.map(([, small]) => h("img", { src: small, alt: `Image of ${printable(one.unit_id)}`, loading: "lazy" }))),
      h("p", {}, foreign(one.unit_id, "b")),
      one.shown.map(([name, text]) => h("p", {}, h("span", { class: "quiet" }, foreign(name), ": "), foreign(text))),
      one.said.map(([label, votes]) => h("p", { class: "evidence" }, foreign(label), " ", Object.entries(votes).map(([what, n]) => `${printable(what) || "nothing"} ${n}`).join(", "))),
    ))),
  );
}

/** @type {(rows: [string, number][]) => Child} */
function reasons(rows) {
  if (!rows.length) return null;
  return h(
    "section", {}, h("h2", {}, "Why answers do not count"),
    h("ul", {}, rows.map(([why, n]) => h("li", {}, `${formatCount(n)}: `, foreign(why)))),
  );
}

/** Tasks with unreadable tables. @type {(tasks: { task: string, problem: string }[]) => Child} */
export function unreadable(tasks) {
  const found = tasks.filter((one) => one.problem);
  return found.length > 0 && h("ul", { class: "problem" }, found.map((one) => h("li", {}, foreign(one.task), ": ", foreign(one.problem))));
}

/** @type {(tasks: AnnotationTask[]) => Child} */
function others(tasks) {
  if (!tasks.length) return null;
  return h(
    "section", {}, h("h2", {}, "Not configured"),
    h("ul", {}, tasks.map((one) => h("li", {}, foreign(one.title), h("span", { class: "quiet" }, ` ${printable(one.task)}; ${printable(one.about)}`)))),
  );
}
