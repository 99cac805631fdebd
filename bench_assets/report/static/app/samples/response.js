/* The responses of one model to one question: parsed answer, verdict, points. */
import { loadData } from "../base/data.js";
import { h } from "../base/elements.js";
import { foreign, formatCount, formatNumber, printable } from "../base/text.js";

const SHOWN = 1500; // characters of a text that are not folded

const PIECE = 5000; // characters laid out together

/** A foreign text as a block: a long one is cut, with a button that shows all of it.

    text: a text, or [its beginning, its length, the name of the whole]; data: prefix of that name; span: start and end
    of what the answer was read from, which is marked.
    @type {(text: LongText, tag?: string, data?: string, span?: [number, number]) => HTMLElement} */
export function longText(text, tag = "pre", data = "", span = undefined) {
  const [begin, length, name] = Array.isArray(text) ? text : [text, text.length, ""];
  const scrolls = tag === "pre" && (length > 500 || begin.split("\n").length > 15); // also by keyboard
  const cut = begin.slice(0, whole(begin, SHOWN));
  const block = marked(cut, 0, span, tag, { class: "foreign", tabindex: scrolls && "0" });
  if (length <= SHOWN) return block;
  const rest = h("button", {
    type: "button", class: "plain more",
    onclick: async () => {
      rest.disabled = true;
      try {
        block.replaceChildren(...pieces(name ? await loadData(`${data}-${name}`) : begin, span));
        rest.remove();
      } catch (error) {
        rest.replaceWith(h("p", { class: "problem", role: "alert" }, /** @type {Error} */ (error).message));
      }
    },
  }, `… show all ${formatCount(length)} characters${span && span[1] > cut.length ? ", with what was read" : ""}`);
  return h("div", { class: "long" }, block, rest);
}

/** A text in pieces, of which browsers lay out the visible ones; laying out a megabyte takes seconds. 
    @type {(text: string, span?: [number, number]) => HTMLElement[]} */
function pieces(text, span) {
  const found = [];
  for (let at = 0, end; at < text.length; at = end) {
    const gap = Math.max(text.lastIndexOf("\n", at + PIECE), text.lastIndexOf(" ", at + PIECE)) + 1;
    end = at + PIECE < text.length && gap > at ? gap : whole(text, at + PIECE);
    found.push(marked(text.slice(at, end), at, span, "span", { class: "piece" }));
  }
  return found;
}

/** A piece of a text that begins at a position, with what of the span is in it marked.
    @type {(piece: string, at: number, span: [number, number] | undefined, tag: string, attributes: Attributes) => HTMLElement} */
function marked(piece, at, span, tag, attributes) {
  const [before, inside, after] = partsOf(piece, at, span);
  return foreign(before, tag, attributes, inside && h("mark", { title: "the answer was read here" }, printable(inside)), printable(after));
}

/** What of a piece of a text is before, in and after a span of the whole.
    @type {(piece: string, at: number, span?: number[]) => string[]} */
export function partsOf(piece, at, span = [at + piece.length, at + piece.length]) {
  const [start, end] = span.map((position) => Math.max(0, Math.min(piece.length, position - at)));
  return [piece.slice(0, start), piece.slice(start, end), piece.slice(end)];
}

/** Position at which a text can be cut without splitting a surrogate pair. @type {(text: string, at: number) => number} */
function whole(text, at) {
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at + 1 : at;
}

/** A prompt as sent, loaded when it is unfolded: its turns, with their images.
    @type {(data: `${string}-prompts-${number}`, name: string, isJudge: boolean, withheld: boolean) => HTMLElement} */
export function sentPrompt(data, name, isJudge, withheld) {
  const body = h("div");
  const draw = async () => {
    const turns = (await loadData(data))[name];
    body.replaceChildren(...(turns || []).map(([role, parts]) => h(
      "div", { class: "turn" }, h("h4", {}, role),
      parts.map((part) => (typeof part === "string" ? longText(part) : inPlace(part.image, withheld))),
    )));
    if (!turns) body.replaceChildren("This prompt is not in the response cache.");
  };
  return h(
    "details", { class: "sent", ontoggle: (event) => { if (event.target.open && !body.childNodes.length) draw().catch((why) => body.replaceChildren(why.message)); } },
    h("summary", {}, isJudge ? "the judge's prompt" : "prompt as sent"), body,
  );
}

/** @type {(digest: string, withheld: boolean) => HTMLElement} */
function inPlace(digest, withheld) {
  if (withheld) return h("p", { class: "quiet" }, "(image left out of this report)");
  return h("img", { src: `images/${digest.slice(0, 2)}/${digest}-small.webp`, alt: `Image ${digest.slice(0, 8)}`, loading: "lazy" });
}

/** The card of a model. samples: those of the question; of: its outcome; gold: the right answer;
    prompts: draws a prompt that was sent.
    @type {(model: SampledModel, samples: SampleResponse[] | undefined, of: Outcome, gold: string[], problem: string | undefined, prompts: FindPrompt) => HTMLElement} */
export function responseCard(model, samples, of, gold, problem, prompts) {
  return h(
    "section", { class: `card response ${of.letter === "-" ? "" : `is-${of.letter}`}` },
    h(
      "h3", {}, outcomeMark(of), " ", foreign(model.name), " ",
      h("span", { class: "quiet outcome" }, of.name),
    ),
    problem && h("p", { class: "problem" }, foreign(problem)),
    samples && !samples.length && h("p", { class: "quiet" }, "Not evaluated on this question."),
    (samples || []).map((one, i) => h(
      "div", { class: "sample" }, samples.length > 1 && h("h4", {}, `sample ${i + 1}`), sample(one, gold, (text, tag, span) => longText(text, tag, model.data, span), prompts),
    )),
  );
}

/** The symbol of an outcome; hidden from screen readers, which read its name.
    @type {(of: Pick<Outcome, "letter" | "mark"> & { cut?: boolean }, title?: string) => HTMLElement} */
export function outcomeMark(of, title) {
  return h("span", { class: `outcome-mark is-${of.letter === "-" ? "none" : of.letter}${of.cut ? " is-cut" : ""}`, title, "aria-hidden": "true" }, of.mark);
}

/** @type {(one: SampleResponse, gold: string[], shown: DrawText, prompts: FindPrompt) => Child[]} */
function sample(one, gold, shown, prompts) {
  return [
    prompts(one.prompt, false),
    one.error && fact("failed", shown(one.error, "div")),
    one.raw && h("details", {}, h("summary", {}, "raw response, with reasoning"), shown(one.raw)),
    one.ranking ? ranking(one.ranking, gold) : one.text ? shown(one.text, "pre", one.span) : !one.error && h("p", { class: "quiet" }, "(an empty response)"),
    h(
      "dl", { class: "response-facts" },
      pair("read as", one.answer && !one.ranking && one.answer.map((part, i) => [i > 0 && " / ", shown(part, "bdi")])),
      pair("why", one.why && shown(one.why, "span")),
      pair("points", one.most === undefined ? null : points(one)),
      (one.verdicts || []).map((said) => pair("judge", verdict(said, shown, prompts))),
      pair("unread", one.unread && "neither the rules nor a model could parse an answer"),
      pair("no answer", typeof one.no_answer === "string" && foreign(one.no_answer)),
      pair("scorer", one.scorer && [foreign(one.scorer), one.judge && [", judged by ", foreign(one.judge)]]),
      pair("ended", ended(one)),
      pair("served by", one.served && foreign(one.served)),
      pair("sent with", one.sent_with && foreign(one.sent_with)),
      pair("asked", one.asked && shown(one.asked, "span")),
    ),
  ];
}

/** @type {(one: SampleResponse) => string} */
function points(one) {
  return one.points === undefined ? "unscored" : `${Number(one.points.toFixed(3))} of ${Number(one.most.toFixed(3))}`;
}

/** @type {(said: Verdict, shown: DrawText, prompts: FindPrompt) => Child} */
function verdict(said, shown, prompts) {
  const word = said.value || (said.verdict === undefined ? "no verdict" : said.verdict ? "yes" : "no");
  return [
    said.criterion && [foreign(said.criterion), ": "], h("strong", {}, foreign(word)),
    said.response && [" – ", shown(said.response, "span")], said.error && [" – ", shown(said.error, "span")],
    h("span", { class: "quiet" }, " (", foreign(said.judge), ")"),
    prompts(said.prompt, true),
  ];
}

/** @type {(one: SampleResponse) => string | null} */
function ended(one) {
  const parts = [
    one.end === "length" ? "cut short at the maximum length" : one.end,
    one.tokens !== undefined && `${formatCount(one.tokens)} tokens`,
    one.asked_tokens !== undefined && `after ${formatCount(one.asked_tokens)}`,
    one.seconds !== undefined && `${formatNumber(one.seconds, 2)} s`,
  ];
  return parts.filter(Boolean).join(" · ") || null;
}

/** @type {(names: string[], gold: string[]) => HTMLElement} */
function ranking(names, gold) {
  return h("ol", { class: "ranking" }, names.map((name) => h(
    "li", {}, foreign(name), gold.includes(name) && h("strong", { class: "gold" }, " ✓ right"),
  )));
}

/** @type {(name: string, value: Child) => Child} */
function pair(name, value) {
  return value ? [h("dt", {}, name), h("dd", {}, value)] : null;
}

/** @type {(name: string, value: Child) => HTMLElement} */
function fact(name, value) {
  return h("div", { class: "problem" }, h("strong", {}, name), value);
}
