/* All tasks, each as a card. */
import { pageLink } from "../base/addresses.js";
import { hasData, loadData } from "../base/data.js";
import { append, h } from "../base/elements.js";
import { pageTitle } from "../base/pages.js";
import { isLowestBest, loadIndex } from "../base/results.js";
import { formatCount, formatNumber, metricName, printable } from "../base/text.js";

/** The page /task. @type {DrawPage} */
export async function taskList(main) {
  const index = await loadIndex();
  const samples = await Promise.all(index.tasks.map((task) => hasData(`samples-${task.slug}`) && loadData(`samples-${task.slug}`)));
  append(main, [pageTitle("Tasks"), h("div", { class: "cards" }, index.tasks.map((task, i) => h(
    "section", { class: "card task" }, thumbnail(samples[i]), h("h2", {}, h("a", { href: pageLink(["task", task.name]) }, printable(task.title))),
    h("p", {}, printable(task.purpose)), taskFacts(index, task),
    h("p", {}, h("a", { href: pageLink(["samples", task.name]), "aria-label": `Samples of ${task.title}` }, "Samples")),
  ))), hasData("gold") && h("p", { class: "ways no-print" }, h("a", { href: "#/gold" }, "Keys of proposed questions"))]);
}

/** The first image of a task's samples; nothing without one. @type {(samples: SampledTask | false) => Child} */
function thumbnail(samples) {
  const src = samples && samples.conditions[0] && samples.conditions[0].thumbnail;
  return src && h("img", { src, alt: "", loading: "lazy" });
}

/** The size of a task, and how its models are ranked. @type {(index: Index, task: Task) => HTMLElement} */
export function taskFacts(index, task) {
  const asked = index.rows.filter((row) => row.task === task.name && row.condition === "main" && row.value !== null).length;
  return h(
    "p", { class: "note" }, `${formatCount(task.questions)} questions${task.edition ? `, edition ${task.edition}` : ""}; `
    + `${asked} ${asked === 1 ? "model" : "models"}; ranked by ${metricName(task.metric)}${isLowestBest(task) ? " (lower is better)" : ""}`
    + (task.chance === null ? "." : `; chance is ${formatNumber(task.chance)}.`),
  );
}
