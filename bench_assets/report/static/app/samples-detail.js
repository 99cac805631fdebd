/* One sample: images, question, right answer, and the responses side by side. */
"use strict";
(() => {
  const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

  /** Paths of an image: {small, full}, or {problem}. */
  function image(of) {
    return typeof of === "string" ? { problem: of } : { full: of[0], small: of[1] };
  }

  /** The images of a row, with alternative texts. */
  function images(questions, row) {
    return questions.shown[row].map((number, i) => ({
      ...image(questions.images[number]),
      alt: `Image ${i + 1} of ${questions.shown[row].length} of ${questions.ids[row]}`,
    }));
  }

  /** Draw a sample.

      sample: {questions, row, text, problem, models: [{model, outcome, samples, problem}],
      choose(changes), address}; until its texts are loaded, the text of the list is shown. */
  function detail(sample) {
    const { questions, row, text } = sample;
    const at = (coded) => coded.values[coded.codes[row]];
    const kind = at(questions.kinds);
    const gold = (text && text.answer) || [];
    return [
      Bench.h(
        "div", { class: "sample-head" }, Bench.h("h2", {}, Bench.foreign(questions.ids[row])),
        Bench.h("p", { class: "quiet" }, at(questions.categories) && [Bench.foreign(at(questions.categories)), " · "], kind, group(sample), " · ",
          Bench.h("a", { href: sample.address }, "link to this sample")),
      ),
      sample.problem && Bench.h("p", { class: "problem", role: "alert" }, sample.problem),
      shown(questions, row),
      text && text.image_texts && block("In place of the images", text.image_texts.map((one) => Bench.samples.long(one, "p"))),
      text ? asked(text, kind, gold, sample.models) : Bench.h("p", { class: "foreign" }, Bench.foreign(questions.texts[row])),
      Bench.h("h3", { class: "responses-title" }, "Responses"),
      Bench.h("div", { class: "responses" }, sample.models.map((one) =>
        Bench.samples.card(one.model, one.samples, one.outcome, gold, one.problem, one.sent))),
      text && text.labels && labels(text.labels),
    ];
  }

  /** A button that shows the questions of the same group. */
  function group({ questions, row, choose }) {
    const code = questions.groups.codes[row];
    const name = questions.groups.values[code];
    const n = name ? questions.groups.codes.filter((one) => one === code).length : 0;
    return n > 1 && [" · ", Bench.h("button", {
      type: "button", class: "linklike", onclick: () => choose({ group: name, outcome: "", q: "", category: "", label: [] }),
    }, `${n} questions of its group`)];
  }

  function shown(questions, row) {
    const all = images(questions, row);
    if (!all.length) return null;
    const whole = all.filter((one) => one.full);
    return [
      Bench.h("div", { class: `images of-${Math.min(all.length, 3)}` }, all.map((one, i) => Bench.h(
        "figure", {},
        one.problem
          ? Bench.h("p", { class: "problem" }, `Image ${i + 1}: `, Bench.foreign(one.problem))
          : Bench.h(
            "button", { type: "button", title: "full size", onclick: () => Bench.samples.zoom(whole, whole.indexOf(one)) },
            Bench.h("img", { src: one.full, alt: one.alt }),
          ),
        all.length > 1 && !one.problem && Bench.h("figcaption", {}, `${i + 1}`),
      ))),
    ];
  }

  function asked(text, kind, gold, models) {
    const choice = kind === "choice" || kind === "choices";
    const repeats = text.context && text.text && text.context.includes(text.text);
    return [
      text.context && !repeats && block("Context", Bench.samples.long(text.context, "p")),
      block("Question", Bench.samples.long(text.text || "", "p")),
      text.options && block(choice ? "Options" : "Possible answers", Bench.h(
        "ul", { class: "options" }, text.options.map((option, i) => choice
          ? offered(option, LETTERS[i] || String(i + 1), gold, models)
          : Bench.h("li", { class: gold.includes(option) ? "gold" : null }, Bench.foreign(option), gold.includes(option) && " ✓")),
      )),
      !(text.options && gold.every((one) => choice || text.options.includes(one))) && block("Right answer", Bench.h(
        "ul", { class: "options" }, gold.map((one) => Bench.h("li", { class: "gold" }, Bench.samples.long(one, "span"))),
      )),
      choice && text.options && !gold.length && Bench.h("p", { class: "quiet" }, "The right answer is not known."),
      repeats && Bench.h("details", {}, Bench.h("summary", {}, "as written by the authors"), Bench.samples.long(text.context)),
    ];
  }

  /** An option, marked if it is right, with the models that chose it. */
  function offered(option, letter, gold, models) {
    const chosen = models.filter((one) => (one.samples || []).some((said) => (said.answer || []).includes(letter)));
    return Bench.h(
      "li", { class: gold.includes(letter) ? "gold" : null },
      Bench.h("b", {}, `(${letter}) `), Bench.foreign(option), gold.includes(letter) && Bench.h("b", {}, " ✓ right"),
      chosen.length > 0 && Bench.h("span", { class: "quiet chosen" }, " ← ", chosen.map((one, i) => [i > 0 && ", ", Bench.foreign(one.model.name)])),
    );
  }

  function labels(pairs) {
    return Bench.h(
      "details", { class: "labels" }, Bench.h("summary", {}, "Labels"),
      Bench.h("dl", { class: "response-facts" }, pairs.map(([name, value]) => [
        Bench.h("dt", {}, Bench.foreign(name)), Bench.h("dd", {}, Bench.foreign(value)),
      ])),
    );
  }

  function block(title, content) {
    return Bench.h("div", { class: "asked" }, Bench.h("h3", {}, title), content);
  }

  Object.assign(Bench.samples, { detail, images });
})();
