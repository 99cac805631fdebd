/* The sample browser: filters above, the list at the left, one sample beside it. */
import { pageLink } from "../base/addresses.js";
import { hasData, loadData } from "../base/data.js";
import { append, h } from "../base/elements.js";
import { pageTitle } from "../base/pages.js";
import { loadIndex, staleNotes } from "../base/results.js";
import { foreign } from "../base/text.js";
import { browse } from "./browse.js";
import { unpackOutcomes } from "./filter.js";
import { checkpointBefore, chosenModels, readState } from "./state.js";

/** @type {(task: Task) => string} */
const titleOf = (task) => (task.title && task.title !== task.name ? `${task.title} (${task.name})` : task.name);

/** The page /samples. @type {DrawPage} */
export async function sampledTasks(main) {
  const { tasks } = await loadIndex();
  const there = tasks.filter((task) => hasData(`samples-${task.slug}`));
  append(main, [
    pageTitle("Samples"),
    h("p", {}, "Every question with its images and all responses."),
    h("ul", {}, there.map((task) => h(
      "li", {}, h("a", { href: pageLink(["samples", task.name]) }, foreign(titleOf(task))),
    ))),
    !there.length && h("p", { class: "quiet" }, "No task has questions yet."),
  ]);
}

/** The page /samples/:task. @type {DrawPage} */
export async function samplesPage(main, params, query) {
  const index = await loadIndex();
  const task = index.tasks.find((one) => one.name === params.task || one.slug === params.task);
  if (!task || !hasData(`samples-${task.slug}`)) throw new Error(`This report has no samples of ${params.task}.`);
  const about = await loadData(`samples-${task.slug}`);
  const chosen = readState(query);
  const condition = about.conditions.find((one) => one.name === chosen.condition) || about.conditions[0];
  const heading = pageTitle(`${about.title}: samples`);
  if (condition.problem || !condition.n) {
    const why = condition.problem ? h("p", { class: "problem" }, foreign(condition.problem)) : h("p", {}, "There are no questions.");
    main.append(heading, why);
    return;
  }
  const known = new Map(index.models.map((model) => [model.name, model]));
  const questions = await loadData(`${condition.questions}-questions`);
  const shown = await modelsOf(condition, chosen, known);
  const stale = staleNotes(index, task.name, shown.models.map((model) => model.name));
  const view = { task, about, chosen, condition, known, chunk: about.chunk, questions, stale, ...shown };
  if (main.isConnected) browse(main, heading, view);
}

/** The shown models with their outcomes, and the checkpoint before the first.
    @type {(condition: SampledCondition, chosen: SampleChoice, known: Map<string, Model>) => Promise<Pick<SampleView, "models" | "outcomes" | "earlier">>} */
async function modelsOf(condition, chosen, known) {
  const models = chosenModels(condition.models, chosen, known);
  const earlier = checkpointBefore(models[0], condition.models, known);
  const wanted = [...models, ...(earlier && !models.includes(earlier) ? [earlier] : [])];
  const found = await Promise.all(wanted.map((model) => outcomesOf(model)));
  return { models, outcomes: new Map(wanted.map((model, i) => [model, found[i]])), earlier };
}

/** @type {(model: SampledModel) => Promise<Outcomes | null>} */
async function outcomesOf(model) {
  try {
    return hasData(`${model.data}-points`) ? unpackOutcomes(await loadData(`${model.data}-points`)) : null;
  } catch (error) {
    model.problem = /** @type {Error} */ (error).message;
    return null;
  }
}
