/* The sample browser: keeps the address, the filters, the list and the sample in sync. */
import { hasData, loadData } from "../base/data.js";
import { append, h } from "../base/elements.js";
import { foreign, formatCount, printable } from "../base/text.js";
import { imagesOf, sampleDetail } from "./detail.js";
import { MARKS, NAMES, outcomeOf } from "./filter.js";
import { filterBar, filterSamples } from "./filters.js";
import { listenToKeys } from "./keys.js";
import { sampleList } from "./list.js";
import { outcomeMark, sentPrompt } from "./response.js";
import { searcher } from "./search.js";
import { sampleAddress } from "./state.js";
import { zoom } from "./zoom.js";

const PATIENCE = 80; // ms to wait for a sample before it is shown without texts

/** Draw the page into `main`, and keep it so until the reader leaves. @type {(main: HTMLElement, heading: HTMLElement, view: SampleView) => void} */
export function browse(main, heading, view) {
  const { questions, condition, chosen, task } = view;
  const search = searcher(questions, condition.questions, condition.n, view.chunk);
  const n = h("span", { role: "status" });
  const progress = h("span", { class: "quiet" });
  const pane = h("article", { class: "sample-detail", "aria-label": "Sample" });
  const list = sampleList("Samples", (row) => sampleRow(view, row), (row) => choose({ sample: questions.ids[row] }));
  const bar = filterBar(view, choose);
  const images = () => {
    const whole = list.selected < 0 ? [] : imagesOf(questions, list.selected).filter((one) => one.full);
    if (whole.length) zoom(whole);
  };
  let drawing = 0;

  /** Apply a choice to the address and the page; only a change of filters adds to the history.
      @type {(changes: Partial<SampleChoice>) => Promise<void>} */
  async function choose(changes) {
    const isStep = !("sample" in changes) || "condition" in changes;
    Object.assign(chosen, changes);
    const address = sampleAddress(task.name, chosen);
    if (isStep && address !== location.hash) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    if ("condition" in changes || "model" in changes) {
      window.dispatchEvent(new HashChangeEvent("hashchange")); // another list, drawn anew
    } else if (isStep) filter();
    else detail();
  }

  /** Show the samples that match; keeps the selected one if it is among them. */
  function filter() {
    const found = filterSamples(view, search);
    bar.update(found);
    const looked = questions.ids.indexOf(chosen.sample);
    list.show(found.rows);
    list.select(found.rows.includes(looked) ? looked : found.rows.length ? found.rows[0] : -1);
    n.textContent = `${formatCount(found.rows.length)} of ${formatCount(condition.n)} samples`;
    detail();
    if (chosen.q) complete();
  }

  /** Load the data that the search has not read yet, then filter again. */
  async function complete() {
    const { q, responses } = chosen;
    const news = await search.complete(responses ? view.models : [], (done, of) => {
      progress.textContent = done < of ? ` · reading ${done} of ${of}` : "";
    });
    if (news && main.isConnected && chosen.q === q && chosen.responses === responses) filter();
  }

  async function detail() {
    const row = list.selected;
    const turn = (drawing += 1);
    if (row < 0) {
      pane.replaceChildren(h("p", { class: "quiet" }, "No sample matches. Change the filters above."));
      return;
    }
    const loading = load(view, row);
    /** @type {LoadedSample | void} */
    const soon = await Promise.race([loading, new Promise((done) => { setTimeout(done, PATIENCE); })]);
    if (turn === drawing) draw(row, soon || { text: null, said: new Map() });
    if (soon) return;
    const whole = await loading;
    if (turn === drawing && main.isConnected) draw(row, whole);
  }

  /** @type {(row: number, loaded: LoadedSample) => void} */
  function draw(row, { text, said, problem }) {
    const models = view.models.map((model) => ({
      model, outcome: outcomeOf(view.outcomes.get(model), row), problem: model.problem, ...said.get(model),
      sent: sentTo(model, Math.floor(row / view.chunk)),
    }));
    pane.replaceChildren();
    append(pane, sampleDetail({ questions, row, text, problem, models, choose, address: addressOf(row) }));
    if (pane.getBoundingClientRect().top < 0) pane.scrollIntoView();
  }

  /** A function (prompt, isJudge) -> element of a prompt to a model or its judge; null if not in the report.
      @type {(model: SampledModel, k: number) => FindPrompt} */
  function sentTo(model, k) {
    return (prompt, isJudge) => {
      /** @type {`${string}-prompts-${number}`} */
      const data = `${isJudge ? model.data : condition.prompts}-prompts-${k}`;
      return prompt && hasData(data) ? sentPrompt(data, prompt, isJudge, Boolean(condition.withheld)) : null;
    };
  }

  /** The address of a sample, for sharing. @type {(row: number) => string} */
  function addressOf(row) {
    const model = view.models[0] ? view.models[0].name : "";
    return sampleAddress(task.name, { ...chosen, model, sample: questions.ids[row] });
  }

  listenToKeys(main, { list, bar, images });
  main.classList.add("samples");
  append(main, [
    heading, view.stale, condition.name !== "main" && h("p", { class: "note" }, foreign(condition.about)),
    bar.element, h("p", { class: "found" }, n, progress), legend(view),
    h("div", { class: "sample-columns" }, list.element, pane),
  ]);
  filter();
}

/** The meaning of the squares: one a model, in the order of the models. @type {(view: SampleView) => Child} */
function legend({ models, outcomes }) {
  const letters = new Set(models.flatMap((model) => [...(outcomes.get(model)?.letters || "")]).map((letter) => letter.toLowerCase()));
  const used = Object.keys(MARKS).filter((letter) => letters.has(letter));
  return models.length > 0 && h(
    "p", { class: "note mark-legend" }, `Squares: ${models.map((model) => printable(model.name)).join(", ")}. `,
    used.map((letter) => h("span", {}, outcomeMark({ letter, mark: MARKS[letter] }), ` ${NAMES[letter]}`)), "Dashed: cut short.",
  );
}

/** Load the texts of a question and the responses: {text, said: model -> {samples, problem}, problem}.
    @type {(view: SampleView, row: number) => Promise<LoadedSample>} */
async function load({ condition, models, chunk }, row) {
  const [k, i] = [Math.floor(row / chunk), row % chunk];
  /** @type {LoadedSample} */
  const loaded = { text: null, said: new Map(), problem: "" };
  await Promise.all([
    loadData(`${condition.questions}-texts-${k}`).then((rows) => { loaded.text = rows[i]; }, (error) => { loaded.problem = error.message; }),
    ...models.map((model) => hasData(`${model.data}-responses-${k}`) && loadData(`${model.data}-responses-${k}`).then(
      (rows) => loaded.said.set(model, { samples: rows[i] }), (error) => loaded.said.set(model, { problem: error.message }),
    )),
  ]);
  return loaded;
}

/** Elements of a sample in the list. @type {(view: SampleView, at: number) => Child[]} */
function sampleRow(view, at) {
  const { questions, models, outcomes } = view;
  const [first, ...rest] = imagesOf(questions, at);
  const marks = models.map((model) => ({ name: model.name, of: outcomeOf(outcomes.get(model), at) }));
  return [
    h(
      "span", { class: "thumb" },
      first && first.small && h("img", { src: first.small, alt: "", loading: "lazy", decoding: "async" }),
      rest.length > 0 && h("span", { class: "more-images" }, `+${rest.length}`),
    ),
    h(
      "span", { class: "row-text" }, foreign(questions.texts[at], "span", { class: "row-question" }),
      h("span", { class: "row-id quiet" }, foreign(questions.ids[at])),
      h("span", { class: "marks" }, marks.map(({ name, of }) => [
        outcomeMark(of, `${name}: ${of.name}`), h("span", { class: "unseen" }, `${printable(name)}: ${of.name}; `),
      ])),
    ),
  ];
}
