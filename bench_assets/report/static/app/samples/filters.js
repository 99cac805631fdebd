/* The bar above the samples: models, filters with counts, search. */
import { h } from "../base/elements.js";
import { asWords, foreign, formatCount, printable } from "../base/text.js";
import { countOutcomes, matchingQuestions, OUTCOMES, outcomeTests, valueCounts } from "./filter.js";
import { showKeys } from "./keys.js";

const WAIT = 120; // ms after the last key before a search starts

/** The samples that match the choices: {rows, outcomes: {value: n}, categories: [[value, n]]}.
    @type {(view: SampleView, search: Search) => FoundSamples} */
export function filterSamples(view, search) {
  const { questions, chosen } = view;
  const marks = search.found(chosen.q, chosen.responses ? view.models : []);
  /** @type {(of: SampleChoice) => number[]} */
  const matching = (of) => {
    const matches = matchingQuestions(questions, of);
    return marks ? matches.filter((row) => marks[row]) : matches;
  };
  const shown = view.models.map((model) => view.outcomes.get(model)).filter(Boolean);
  const first = view.outcomes.get(view.models[0]);
  const tests = outcomeTests(first ? shown : [null, ...shown], view.outcomes.get(view.earlier));
  const test = tests[chosen.outcome] || tests[""];
  const rows = matching(chosen);
  return {
    rows: rows.filter(test),
    outcomes: countOutcomes(rows, tests),
    categories: valueCounts(matching({ ...chosen, category: "" }).filter(test), questions.categories),
  };
}

/** Draw the bar; calls choose(changes). Returns {element, update(found), focus(), clear()}.
    @type {(view: SampleView, choose: Choose) => FilterBar} */
export function filterBar(view, choose) {
  const { condition, about, chosen, questions, models } = view;
  const outcome = select("outcome", choose);
  const category = select("category", choose);
  /** @type {HTMLInputElement} */
  const box = h("input", {
    type: "search", value: chosen.q, placeholder: "search  ( / )", "aria-label": "Search questions, options, context",
    oninput: typed(() => choose({ q: box.value.trim() })),
  });
  /** @type {HTMLInputElement} */
  const inResponses = h("input", {
    type: "checkbox", checked: Boolean(chosen.responses), onchange: () => choose({ responses: inResponses.checked ? "1" : "" }),
  });
  const element = h(
    "div", { class: "sample-filters no-print", role: "search", "aria-label": "Filters" },
    about.conditions.length > 1 && labelled("Condition", options(
      about.conditions.map((one) => [one.name, asWords(one.name)]), condition.name, (value) => choose({ condition: value, sample: "" }),
    )),
    models.length > 0 && labelled("Model", options(
      condition.models.map((one) => [one.name, one.name]), models[0].name, (value) => choose({ model: value, beside: [] }),
    )),
    condition.models.length > 1 && besides(view, choose),
    labelled("Show", outcome.element),
    questions.categories.values.filter(Boolean).length > 1 && labelled("Category", category.element),
    Object.entries(questions.labels).length > 0 && labels(view, choose),
    h("span", { class: "sample-search" }, box, h("label", {}, inResponses, " in responses too"),
      h("button", { type: "button", class: "plain", title: "keys", "aria-label": "Keys", onclick: () => showKeys() }, "?")),
  );

  /** @type {(found: FoundSamples) => void} */
  function update(found) {
    outcome.update(Object.entries(OUTCOMES)
      .filter(([value]) => value === "" || value === chosen.outcome || found.outcomes[value])
      .map(([value, name]) => [value, `${name} (${formatCount(found.outcomes[value])})`]), chosen.outcome);
    const all = found.categories.filter(([value, n]) => n || value === chosen.category);
    category.update([["", "all"], ...all.map(([value, n]) => [value, `${value} (${formatCount(n)})`])], chosen.category);
  }

  return { element, update, focus: () => { box.focus(); box.select(); }, clear: () => { box.value = ""; } };
}

/** Checkboxes for the models beside the first. @type {(view: SampleView, choose: Choose) => HTMLElement} */
function besides(view, choose) {
  const { condition } = view;
  const boxes = condition.models.map((model) => {
    /** @type {HTMLInputElement} */
    const box = h("input", {
      type: "checkbox", value: model.name, checked: view.models.includes(model), disabled: model === view.models[0],
      onchange: () => {
        const ticked = boxes.map(({ box: each }) => each).filter((each) => each.checked && !each.disabled);
        choose({ model: view.models[0].name, beside: ticked.length ? ticked.map(({ value }) => value) : [view.models[0].name] });
      },
    });
    return { box, label: h("label", {}, box, " ", foreign(model.name)) };
  });
  return h(
    "details", { class: "menu" }, h("summary", {}, "Beside it"),
    h("div", { class: "menu-body", role: "group", "aria-label": "Models beside it" }, boxes.map(({ label }) => label)),
  );
}

/** A drop-down list for each label of the questions. @type {(view: SampleView, choose: Choose) => HTMLElement} */
function labels(view, choose) {
  const { questions, chosen } = view;
  const given = Object.fromEntries(chosen.label.map((one) => [one.split("=")[0], one.split("=").slice(1).join("=")]));
  const lists = Object.entries(questions.labels).map(([name, coded]) => {
    const all = questions.ids.map((_, row) => row);
    const values = valueCounts(all, coded).map(([value, n]) => [value, `${value} (${formatCount(n)})`]);
    return labelled(name, options([["", "all"], ...values], given[name] || "", (value) => {
      given[name] = value;
      choose({ label: Object.entries(given).filter(([, one]) => one).map((pair) => pair.join("=")) });
    }));
  });
  return h(
    "details", { class: "menu", open: chosen.label.length > 0 && null }, h("summary", {}, "Labels", chosen.label.length ? ` (${chosen.label.length})` : ""),
    h("div", { class: "menu-body", role: "group", "aria-label": "Labels" }, lists),
  );
}

/** @type {(name: string, choose: Choose) => { element: HTMLSelectElement, update: (values: string[][], value: string) => void }} */
function select(name, choose) {
  /** @type {HTMLSelectElement} */
  const element = h("select", { onchange: () => choose({ [name]: element.value }) });
  /** @type {(values: string[][], value: string) => void} */
  const update = (values, value) => element.replaceChildren(...optionsOf(values, value));
  return { element, update };
}

/** @type {(values: string[][], value: string, chosen: (value: string) => void) => HTMLSelectElement} */
function options(values, value, chosen) {
  /** @type {HTMLSelectElement} */
  const element = h("select", { onchange: () => chosen(element.value) }, optionsOf(values, value));
  return element;
}

/** @type {(values: string[][], value: string) => HTMLElement[]} */
function optionsOf(values, value) {
  return values.map(([one, text]) => h("option", { value: one, selected: one === value }, printable(text)));
}

/** @type {(name: string, control: HTMLElement) => HTMLElement} */
function labelled(name, control) {
  return h("label", { class: "filter" }, h("span", {}, printable(name)), control);
}

/** @type {(look: () => void) => () => void} */
function typed(look) {
  let waiting = 0;
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, WAIT);
  };
}
