/* Comparison of two models on one task: what differs, by category, and by question with images. */
import { pageLink } from "../base/addresses.js";
import { hasData, loadData } from "../base/data.js";
import { append, h } from "../base/elements.js";
import { conditionOf, isLowestBest, unpackRows } from "../base/results.js";
import { sortableTable } from "../base/table.js";
import { asWords, foreign, formatCount, formatNumber, formatSigned, printable } from "../base/text.js";
import { curveChart } from "../charts/curves.js";
import { movedSection } from "./moved.js";
import { imagesOf } from "../samples/detail.js";
import { unpackOutcomes } from "../samples/filter.js";

const STEP = 12; // questions shown at once

/** Draw it; row: {task, rows: [A's, B's], found}.
    @type {(place: HTMLElement, index: Index, chosen: CompareChoice, row: ComparedTask) => Promise<void>} */
export async function drawTask(place, index, chosen, row) {
  const { task } = row;
  place.append(h("h2", {}, h("a", { href: pageLink(["task", task.name]) }, printable(task.title))));
  const [signatures, data] = await Promise.all([signature(index, row), questions(index, row)]);
  append(place, [
    await movedSection(index, row, chosen, data), differs(signatures, command(task, chosen)), await categories(task, chosen), await curve(index, task, chosen), data ? moved(task, chosen, data)
      : h("p", { class: "note" }, "The report lacks the samples of one or both, so single questions cannot be shown."),
  ]);
}

/** The equivalent command; names with blanks or quotes are quoted. @type {(task: Task, chosen: Compared) => string} */
function command(task, { a, b, ca, cb }) {
  /** @type {(name: string) => string} */
  const word = (name) => (/^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
  if (ca === cb) return `bench tables diff ${word(a)} ${word(b)} --suite ${task.name}${ca === "main" ? "" : ` --condition ${ca}`}`;
  return a === b ? `bench tables diff ${ca} ${cb} --model ${word(a)} --suite ${task.name}` : `bench tables diff ${word(a)} ${word(b)} --suite ${task.name}`;
}

/** The signatures of both, part by part. @type {(index: Index, row: ComparedTask) => Promise<Map<string, SignaturePart>[]>} */
async function signature(index, { task, rows }) {
  return Promise.all(rows.map(async (row) => {
    /** @type {`number-${string}`} */
    const name = `number-${task.slug}-${index.model(row.model).slug}`;
    if (!hasData(name)) return new Map();
    const of = (await loadData(name)).conditions.find((one) => one.name === conditionOf(row));
    return new Map(((of && of.parts) || []).map((part) => [part.name, part]));
  }));
}

/** @type {(signatures: Map<string, SignaturePart>[], inTerminal: string) => Child} */
function differs([old, now], inTerminal) {
  const names = [...new Set([...old.keys(), ...now.keys()])].filter((name) => name !== "n" && name !== "no_answer");
  /** @type {(parts: Map<string, SignaturePart>, name: string) => string} */
  const value = (parts, name) => (parts.has(name) ? parts.get(name).value : "");
  const changed = names.filter((name) => value(old, name) !== value(now, name));
  if (!names.length) return null;
  const same = names.filter((name) => !changed.includes(name));
  return h(
    "section", {}, h("h3", {}, "What differs"),
    changed.length ? sortableTable([
      { key: "name", title: "Part", plain: true }, { key: "a", title: "A", plain: true }, { key: "b", title: "B", plain: true },
      { key: "meaning", title: "Meaning", plain: true },
    ], changed.map((name) => ({
      name: asWords(name), a: value(old, name), b: value(now, name), meaning: (now.get(name) || old.get(name)).meaning,
    })), { label: "What differs", heading: "name", class: "spelled" }) : h("p", {}, "Nothing: the same questions, prompts, model, judge and scorer."),
    same.length > 0 && h("p", { class: "note" }, `The same: ${same.map(asWords).join(", ")}.`),
    changed.length > 0 && h("p", { class: "note" }, "The same in a terminal: ", h("code", {}, inTerminal), "."),
  );
}

/** @type {(task: Task, chosen: Compared) => Promise<Child>} */
async function categories(task, chosen) {
  if (!hasData(`task-${task.slug}`)) return null;
  const rows = unpackRows((await loadData(`task-${task.slug}`)).rows).filter((row) => row.metric === task.metric && row.category !== "all" && row.value !== null);
  /** @type {(model: string, condition: string) => Map<string, Row>} */
  const of = (model, condition) => new Map(rows.filter((row) => row.model === model && row.condition === condition).map((row) => [row.category, row]));
  const [a, b] = [of(chosen.a, chosen.ca), of(chosen.b, chosen.cb)];
  const both = [...a.keys()].filter((name) => b.has(name));
  if (both.length < 2) return null;
  return h(
    "section", {}, h("h3", {}, "By category"),
    sortableTable([
      { key: "category", title: "Category", value: (row) => asWords(row.category) },
      { key: "a", title: "A", number: true, cell: (row) => formatNumber(row.a) },
      { key: "b", title: "B", number: true, cell: (row) => formatNumber(row.b) },
      { key: "change", title: "Difference", number: true, cell: (row) => h("b", {}, formatSigned(row.change)) },
      { key: "n", title: "n", number: true },
    ], both.map((category) => ({
      category, a: a.get(category).value, b: b.get(category).value, n: b.get(category).n_scored,
      change: b.get(category).value - a.get(category).value,
    })), { label: "By category", heading: "category", sort: isLowestBest(task) ? "-change" : "change" }),
  );
}

/** Curves of the runs of both models, with all checkpoints. @type {(index: Index, task: Task, chosen: Compared) => Promise<Child>} */
async function curve(index, task, chosen) {
  const models = [chosen.a, chosen.b].map((name) => index.model(name)).filter((one) => one && one.run !== null && one.step !== null);
  const runs = [...new Set(models.map((one) => one.run))];
  const rows = index.rows.filter((row) => row.task === task.name && row.condition === chosen.cb && row.value !== null)
    .map((row) => ({ ...row, run: (index.model(row.model) || {}).run, step: (index.model(row.model) || {}).step }))
    .filter((row) => runs.includes(row.run) && row.step !== null);
  if (rows.length < 2) return null;
  return h("section", {}, curveChart(runs.length > 1 ? "Both runs" : models.length > 1 ? "The run of both" : `The run of ${models[0].name === chosen.a ? "A" : "B"}`, rows, [], { label: asWords(task.metric), note: "Bands are 95 % intervals." }));
}

/** Sample data of both: questions, and the share of points of each; null if missing.
    @type {(index: Index, row: ComparedTask) => Promise<SampledSide[] | null>} */
async function questions(index, { task, rows }) {
  if (!hasData(`samples-${task.slug}`)) return null;
  const about = await loadData(`samples-${task.slug}`);
  const sides = rows.map((row) => {
    const condition = about.conditions.find((one) => one.name === conditionOf(row));
    const model = condition && condition.models.find((one) => one.slug === index.model(row.model).slug);
    return model && !model.problem && hasData(`${model.data}-points`) ? { condition, model } : null;
  });
  if (sides.some((side) => !side)) return null;
  return Promise.all(sides.map(async ({ condition, model }) => {
    const [listed, points] = await Promise.all([loadData(`${condition.questions}-questions`), loadData(`${model.data}-points`)]);
    return { listed, model, asked: condition.questions, chunk: about.chunk, of: unpackOutcomes(points) };
  }));
}

/** @type {(task: Task, chosen: Compared, sides: SampledSide[]) => Child} */
function moved(task, chosen, [a, b]) {
  const places = a.listed === b.listed ? null : new Map(a.listed.ids.map((id, row) => [id, row]));
  const all = b.listed.ids.map((id, row) => {
    const at = places ? places.get(id) : row;
    return { id, a: at, b: row, change: at === undefined ? NaN : b.of.shares[row] - a.of.shares[at] };
  });
  const worse = all.filter((one) => one.change < 0).sort((x, y) => x.change - y.change);
  const better = all.filter((one) => one.change > 0).sort((x, y) => y.change - x.change);
  const only = all.filter((one) => one.a === undefined).length;
  const gone = places ? a.listed.ids.filter((id) => !b.listed.ids.includes(id)).length : 0;
  const same = all.filter((one) => one.change === 0).length;
  return [
    h(
      "p", {}, `${formatCount(worse.length)} questions got worse, ${formatCount(better.length)} better, ${formatCount(same)} did not change`,
      only > 0 && `, ${formatCount(only)} are asked of B only`, gone > 0 && `, ${formatCount(gone)} of A only`, ".",
    ),
    list("Got worse", "worse", worse, task, chosen, a, b), list("Got better", "better", better, task, chosen, a, b),
  ];
}

/** @type {(title: string, kind: string, found: MovedQuestion[], task: Task, chosen: Compared, a: SampledSide, b: SampledSide) => Child} */
function list(title, kind, found, task, chosen, a, b) {
  if (!found.length) return null;
  const cards = h("ul", { class: `moved ${kind}` });
  const more = h("button", { type: "button", class: "plain no-print", onclick: () => show() });
  let shown = 0;
  function show() {
    for (const one of found.slice(shown, shown + STEP)) cards.append(card(one, task, chosen, a, b));
    shown = Math.min(found.length, shown + STEP);
    if (shown === found.length) more.remove();
    else more.textContent = `${Math.min(STEP, found.length - shown)} more of ${found.length - shown}`;
  }
  show();
  const rest = shown < found.length && more;
  return h("section", {}, h("h3", {}, `${title} (${formatCount(found.length)})`), cards, rest);
}

/** @type {(one: MovedQuestion, task: Task, chosen: Compared, a: SampledSide, b: SampledSide) => HTMLElement} */
function card(one, task, chosen, a, b) {
  const images = imagesOf(b.listed, one.b).filter((image) => image.small);
  const said = h("dl", { class: "said" });
  responses(said, one, a, b);
  const gold = h("p", { class: "quiet" });
  answer(gold, one, b);
  const link = pageLink(["samples", task.name], {
    condition: chosen.cb === "main" ? "" : chosen.cb, model: chosen.b, beside: chosen.ca === chosen.cb ? chosen.a : "", sample: one.id,
  });
  return h(
    "li", {},
    h("div", { class: "thumbs" }, images.slice(0, 3).map((image) => h("img", { src: image.small, alt: image.alt, loading: "lazy" }))),
    h("p", {}, foreign(b.listed.texts[one.b])),
    gold,
    said,
    h("p", {}, h("a", { href: link }, foreign(one.id)), h("span", { class: "quiet" }, ` ${formatSigned(one.change, 2)}`)),
  );
}

/** Load and append the right answer. @type {(place: HTMLElement, one: MovedQuestion, side: SampledSide) => Promise<void>} */
async function answer(place, one, side) {
  const rows = await loadData(`${side.asked}-texts-${Math.floor(one.b / side.chunk)}`).catch(() => /** @type {QuestionText[]} */ ([]));
  const gold = (rows[one.b % side.chunk] || {}).answer || [];
  place.append("Answer: ", gold.length ? foreign(gold.join(" | ")) : "not known");
}

/** Load and append the responses of both. @type {(place: HTMLElement, one: MovedQuestion, a: SampledSide, b: SampledSide) => Promise<void>} */
async function responses(place, one, a, b) {
  const texts = await Promise.all([{ side: a, row: one.a }, { side: b, row: one.b }].map(async ({ side, row }) => {
    /** @type {`${string}-responses-${number}`} */
    const name = `${side.model.data}-responses-${Math.floor(row / side.chunk)}`;
    if (!hasData(name)) return "";
    const samples = (await loadData(name).catch(() => /** @type {SampleResponse[][]} */ ([])))[row % side.chunk] || [];
    return samples.map((sample) => text(sample)).join(" / ");
  }));
  texts.forEach((said, i) => place.append(h("dt", {}, i ? "B" : "A"), h("dd", {}, said ? foreign(said) : h("span", { class: "quiet" }, "(nothing)"))));
}

/** A response as scored, shortened. @type {(sample: SampleResponse) => string} */
function text(sample) {
  const ranked = sample.ranking && sample.ranking.join(" > ");
  const said = sample.text || ranked || sample.raw || sample.error || sample.no_answer || "";
  const first = Array.isArray(said) ? said[0] : said;
  return first.length > 160 ? `${first.slice(0, 159)}…` : first;
}
