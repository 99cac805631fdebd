/* The sample browser: filters above, the list at the left, one sample beside it. */
import { pageLink } from "../base/addresses.js";
import { hasData, loadData } from "../base/data.js";
import { append, h } from "../base/elements.js";
import { pageTitle } from "../base/pages.js";
import { foreign } from "../base/text.js";
import { browse } from "./browse.js";
import { unpackOutcomes } from "./filter.js";
import { checkpointBefore, chosenModels, readState } from "./state.js";

const titleOf = (task) => (task.title && task.title !== task.name ? `${task.title} (${task.name})` : task.name);

/** The page /samples. */
export async function sampledTasks(main) {
  const { tasks } = await loadData("index");
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

/** The page /samples/:task. */
export async function samplesPage(main, params, query) {
  const index = await loadData("index");
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
  const known = new Map((index.models || []).map((model) => [model.name, model]));
  const view = { task, about, chosen, condition, known, chunk: about.chunk };
  view.questions = await loadData(`${condition.questions}-questions`);
  await withModels(view);
  if (main.isConnected) browse(main, heading, view);
}

/** Load the outcomes of the shown models. */
async function withModels(view) {
  const { condition, chosen, known } = view;
  view.models = chosenModels(condition.models, chosen, known);
  const earlier = checkpointBefore(view.models[0], condition.models, known);
  const wanted = [...view.models, ...(earlier && !view.models.includes(earlier) ? [earlier] : [])];
  const found = await Promise.all(wanted.map((model) => outcomesOf(model)));
  view.outcomes = new Map(wanted.map((model, i) => [model, found[i]]));
  view.earlier = earlier;
}

async function outcomesOf(model) {
  try {
    return hasData(`${model.data}-points`) ? unpackOutcomes(await loadData(`${model.data}-points`)) : null;
  } catch (why) {
    model.problem = why.message;
    return null;
  }
}
