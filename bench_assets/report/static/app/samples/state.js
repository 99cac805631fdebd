/* State of the sample browser, all of which is in the address. */
import { pageLink } from "../base/addresses.js";

const LISTS = ["beside", "label"];
const TEXTS = ["model", "outcome", "condition", "category", "group", "q", "responses", "sample"];
const BESIDE = 9; // models beside the first, by default

/** Read the state from a query; missing values are "" or []. @type {(query: URLSearchParams) => SampleChoice} */
export function readState(query) {
  /** @type {any} */
  const chosen = {};
  for (const name of TEXTS) chosen[name] = query.get(name) || "";
  for (const name of LISTS) chosen[name] = query.getAll(name);
  return chosen;
}

/** The address of a state. @type {(task: string, chosen: SampleChoice) => string} */
export function sampleAddress(task, chosen) {
  return pageLink(["samples", task], chosen);
}

/** The models to show, the selected one first.

    models: [{name, slug, problem}] of the condition; known: the models of the index, by name.
    @type {(models: SampledModel[], chosen: Pick<SampleChoice, "model" | "beside">, known: Map<string, Model>) => SampledModel[]} */
export function chosenModels(models, chosen, known) {
  /** @type {(name: string) => SampledModel | undefined} */
  const named = (name) => models.find((one) => one.name === name || one.slug === name);
  const first = named(chosen.model) || latest(models, known);
  if (!first) return [];
  const earlier = checkpointBefore(first, models, known);
  const ofRun = models.filter((one) => runOf(one, known) && runOf(one, known) === runOf(first, known));
  const rest = [earlier, ...ofRun.sort((a, b) => order(a, b, known)), ...models].filter((one) => one && one !== first);
  const beside = chosen.beside.length
    ? chosen.beside.map(named).filter((one) => one && one !== first)
    : [...new Set(rest)].slice(0, BESIDE);
  return [...new Set([first, ...beside])];
}

/** The default model: the last checkpoint of a run, otherwise the last model.
    @type {(models: SampledModel[], known: Map<string, Model>) => SampledModel | null} */
function latest(models, known) {
  const readable = models.filter((one) => !one.problem);
  const steps = readable.filter((one) => runOf(one, known)).sort((a, b) => order(a, b, known));
  return steps[steps.length - 1] || readable[readable.length - 1] || models[0] || null;
}

/** The checkpoint before a model in its run; null if there is none.
    @type {(model: SampledModel | undefined, models: SampledModel[], known: Map<string, Model>) => SampledModel | null} */
export function checkpointBefore(model, models, known) {
  const run = model && runOf(model, known);
  if (!run) return null;
  const earlier = models.filter((one) => runOf(one, known) === run && order(one, model, known) < 0);
  return earlier.sort((a, b) => order(a, b, known))[earlier.length - 1] || null;
}

/** @type {(model: SampledModel, known: Map<string, Model>) => string} */
function runOf(model, known) {
  const about = known.get(model.name);
  return about && Number.isFinite(about.step) ? `run ${about.run}` : "";
}

/** @type {(a: SampledModel, b: SampledModel, known: Map<string, Model>) => number} */
function order(a, b, known) {
  return known.get(a.name).step - known.get(b.name).step;
}
