/* One sample: images, question, right answer, and the responses side by side. */
import { h } from "../base/elements.js";
import { foreign } from "../base/text.js";
import { longText, responseCard } from "./response.js";
import { zoom } from "./zoom.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Paths of an image: {small, full}, or {problem}.
    @type {(of: string | [string, string]) => { problem: string } | { full: string, small: string }} */
function image(of) {
  return typeof of === "string" ? { problem: of } : { full: of[0], small: of[1] };
}

/** The images of a row, with alternative texts. @type {(questions: Questions, row: number) => ShownImage[]} */
export function imagesOf(questions, row) {
  return questions.shown[row].map((number, i) => ({
    ...image(questions.images[number]),
    alt: `Image ${i + 1} of ${questions.shown[row].length} of ${questions.ids[row]}`,
  }));
}

/** Draw a sample.

    sample: {questions, row, text, problem, models: [{model, outcome, samples, problem}],
    choose(changes), address}; until its texts are loaded, the text of the list is shown.
    @type {(sample: ShownSample) => Child[]} */
export function sampleDetail(sample) {
  const { questions, row, text } = sample;
  /** @type {(coded: Coded) => string} */
  const at = (coded) => coded.values[coded.codes[row]];
  const kind = at(questions.kinds);
  const gold = (text && text.answer) || [];
  return [
    h(
      "div", { class: "sample-head" }, h("h2", {}, foreign(questions.ids[row])),
      h("p", { class: "quiet" }, at(questions.categories) && [foreign(at(questions.categories)), " · "], kind, group(sample), " · ",
        h("a", { href: sample.address }, "link to this sample")),
    ),
    sample.problem && h("p", { class: "problem", role: "alert" }, sample.problem),
    shown(questions, row),
    text && text.image_texts && block("In place of the images", text.image_texts.map((one) => longText(one, "p"))),
    text ? asked(text, kind, gold, sample.models) : h("p", { class: "foreign" }, foreign(questions.texts[row])),
    h("h3", { class: "responses-title" }, "Responses"),
    h("div", { class: "responses" }, sample.models.map((one) =>
      responseCard(one.model, one.samples, one.outcome, gold, one.problem, one.sent))),
    text && text.labels && labels(text.labels),
  ];
}

/** A button that shows the questions of the same group. @type {(sample: ShownSample) => Child} */
function group({ questions, row, choose }) {
  const code = questions.groups.codes[row];
  const name = questions.groups.values[code];
  const n = name ? questions.groups.codes.filter((one) => one === code).length : 0;
  return n > 1 && [" · ", h("button", {
    type: "button", class: "linklike", onclick: () => choose({ group: name, outcome: "", q: "", category: "", label: [] }),
  }, `${n} questions of its group`)];
}

/** @type {(questions: Questions, row: number) => Child} */
function shown(questions, row) {
  const all = imagesOf(questions, row);
  if (!all.length) return null;
  const whole = all.filter((one) => one.full);
  return [
    h("div", { class: `images of-${Math.min(all.length, 3)}` }, all.map((one, i) => h(
      "figure", {},
      one.problem
        ? h("p", { class: "problem" }, `Image ${i + 1}: `, foreign(one.problem))
        : h(
          "button", { type: "button", title: "full size", onclick: () => zoom(whole, whole.indexOf(one)) },
          h("img", { src: one.full, alt: one.alt }),
        ),
      all.length > 1 && !one.problem && h("figcaption", {}, `${i + 1}`),
    ))),
  ];
}

/** @type {(text: QuestionText, kind: string, gold: string[], models: ShownModel[]) => Child} */
function asked(text, kind, gold, models) {
  const choice = kind === "choice" || kind === "choices";
  const repeats = text.context && text.text && text.context.includes(text.text);
  return [
    text.context && !repeats && block("Context", longText(text.context, "p")),
    block("Question", longText(text.text || "", "p")),
    text.options && block(choice ? "Options" : "Possible answers", h(
      "ul", { class: "options" }, text.options.map((option, i) => choice
        ? offered(option, LETTERS[i] || String(i + 1), gold, models)
        : h("li", { class: gold.includes(option) ? "gold" : null }, foreign(option), gold.includes(option) && " ✓")),
    )),
    !(text.options && gold.every((one) => choice || text.options.includes(one))) && block("Right answer", h(
      "ul", { class: "options" }, gold.map((one) => h("li", { class: "gold" }, longText(one, "span"))),
    )),
    choice && text.options && !gold.length && h("p", { class: "quiet" }, "The right answer is not known."),
    repeats && h("details", {}, h("summary", {}, "as written by the authors"), longText(text.context)),
  ];
}

/** An option, marked if it is right, with the models that chose it.
    @type {(option: string, letter: string, gold: string[], models: ShownModel[]) => HTMLElement} */
function offered(option, letter, gold, models) {
  const chosen = models.filter((one) => (one.samples || []).some((said) => (said.answer || []).includes(letter)));
  return h(
    "li", { class: gold.includes(letter) ? "gold" : null },
    h("b", {}, `(${letter}) `), foreign(option), gold.includes(letter) && h("b", {}, " ✓ right"),
    chosen.length > 0 && h("span", { class: "quiet chosen" }, " ← ", chosen.map((one, i) => [i > 0 && ", ", foreign(one.model.name)])),
  );
}

/** @type {(pairs: [string, string][]) => HTMLElement} */
function labels(pairs) {
  return h(
    "details", { class: "labels" }, h("summary", {}, "Labels"),
    h("dl", { class: "response-facts" }, pairs.map(([name, value]) => [
      h("dt", {}, foreign(name)), h("dd", {}, foreign(value)),
    ])),
  );
}

/** @type {(title: string, content: Child) => HTMLElement} */
function block(title, content) {
  return h("div", { class: "asked" }, h("h3", {}, title), content);
}
