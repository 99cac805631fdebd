/* Provenance of a number: signature, checks, and commands that show where its questions came from. */
import { pageLink } from "../base/addresses.js";
import { controlBar, dropDown } from "../base/controls.js";
import { hasData, loadData } from "../base/data.js";
import { append, h } from "../base/elements.js";
import { pageTitle } from "../base/pages.js";
import { loadIndex, shownInterval, shownValue, staleNotes } from "../base/results.js";
import { sortableTable } from "../base/table.js";
import { asWords, foreign, metricName, printable } from "../base/text.js";

const FEW = 8; // rows of a list that are not folded

/** The page /number/:slug. @type {DrawPage} */
export async function numberPage(main, params, query) {
  if (!hasData(`number-${params.slug}`)) throw new Error(`This report has no number named ${params.slug}.`);
  const [index, number] = await Promise.all([loadIndex(), loadData(`number-${params.slug}`)]);
  const task = index.task(number.task);
  const sources = await loadData("parser");
  const names = number.conditions.map((one) => one.name);
  const condition = number.conditions.find((one) => one.name === query.get("condition")) || number.conditions[0];
  main.append(
    pageTitle([number.model, number.title].join(" on ")),
    h(
      "p", { class: "ways no-print" }, h("a", { href: pageLink(["task", number.task], { model: number.model }) }, "Its task"),
      h("a", { href: pageLink(["samples", number.task], asked(number, condition)) }, "Its samples"),
      h("a", { href: pageLink(["compare"], { b: number.model, task: number.task }) }, "Compare it"),
    ),
    names.length > 1 ? controlBar(dropDown("Condition", names, condition.name, (name) => {
      location.hash = pageLink(["number", params.slug], { condition: name });
    })) : "",
  );
  append(main, [
    staleNotes(index, number.task, [number.model]), value(task, condition), spelled(condition), parser(sources), checks(number, condition.name, task ? Object.keys(task.conditions) : []), origins(number),
  ]);
}

/** @type {(number: NumberData, condition: NumberCondition) => Query} */
function asked(number, condition) {
  return { model: number.model, condition: condition.name === "main" ? "" : condition.name };
}

/** @type {(title: string, ...children: Child[]) => HTMLElement} */
function section(title, ...children) {
  return h("section", {}, h("h2", {}, title), children);
}

/** The number, with its counts and other metrics. @type {(task: Task | undefined, condition: NumberCondition) => Child} */
function value(task, condition) {
  if (condition.problem) return h("p", { class: "problem" }, foreign(condition.problem));
  const primary = condition.metrics.find((row) => task && row.metric === task.metric) || condition.metrics[0];
  if (!primary) return h("p", {}, "Nothing was measured.");
  const others = condition.metrics.filter((row) => row !== primary);
  return [
    h(
      "p", { class: "the-number" }, h("b", {}, shownValue(primary)), ` ${metricName(primary.metric)} `,
      shownInterval(primary) && h("span", { class: "quiet" }, `(95 % interval ${shownInterval(primary)})`),
    ),
    facts(condition.facts.slice(1)),
    others.length > 0 && sortableTable([
      { key: "metric", title: "Other metrics", value: (row) => metricName(row.metric) },
      { key: "value", title: "Value", number: true, cell: (row) => shownValue(row) },
      { key: "low", title: "95 % interval", number: true, cell: (row) => (row.low === row.high ? "" : shownInterval(row)) },
      { key: "n_scored", title: "n", number: true },
    ], others, { label: "Other metrics", heading: "metric" }),
  ];
}

/** The facts that the terminal prints beside a number; commands as code. @type {(lines: [string, string][]) => HTMLElement} */
function facts(lines) {
  return h("dl", { class: "facts" }, lines.map(([label, text], i) => [
    h("dt", {}, i && lines[i - 1][0] === label ? "" : label), h("dd", {}, foreign(text, label === "next" ? "code" : "span")),
  ]));
}

/** @type {(condition: NumberCondition) => Child} */
function spelled(condition) {
  if (!condition.parts || !condition.parts.length) return null;
  return section(
    "Signature: what reproducing the number takes",
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Signature" }, h("table", { class: "spelled", "aria-label": "Signature, spelled out" }, h(
      "tbody", {}, condition.parts.map((part) => h(
        "tr", {}, h("th", { scope: "row" }, asWords(part.name)), h("td", {}, foreign(part.value, "code")),
        h("td", { class: "quiet" }, foreign(part.meaning)),
      )),
    ))),
    h("p", { class: "note" }, "In one line:"), foreign(condition.signature, "code", { class: "signature" }),
  );
}

/** Shares of real responses that each parser reads, and reads rightly, by source. @type {(sources: Record<string, string>[]) => HTMLElement} */
function parser(sources) {
  const parsers = Object.keys(sources[0]).filter((name) => !["source", "n"].includes(name));
  /** @type {(cell: string) => number | null} */
  const right = (cell) => (cell ? Number(cell.split("/")[1]) : null);
  return h("details", {}, h("summary", {}, "Parsers on real responses"), h(
    "p", { class: "note" }, "Read / right, in % of published responses to questions with options. Parsers of other projects are reimplemented from their published rules.",
  ), sortableTable([
    { key: "source", title: "Source" }, { key: "n", title: "n", number: true, value: (row) => Number(row.n) },
    ...parsers.map((name) => /** @type {Column<Record<string, string>>} */ ({ key: name, title: name, number: true, value: (row) => right(row[name]), cell: (row) => row[name] || "–" })),
  ], sources, { label: "Parsers by source of responses", heading: "source" }));
}

/** @type {(number: NumberData, condition: string, conditions: string[]) => HTMLElement} */
function checks(number, condition, conditions) {
  const others = conditions.filter((name) => name !== condition && name !== "main");
  /** @type {(one: CheckOutcome) => boolean} */
  const ofAnother = (one) => others.some((name) => one.asset.includes(`/${name}/`));
  /** @type {(one: CheckOutcome) => boolean} */
  const isHere = (one) => condition === "main" || one.asset.includes(`/${condition}/`);
  const found = number.checks.filter((one) => (!one.partition || isHere(one)) && !ofAnother(one)).sort((a, b) => Number(a.passed) - Number(b.passed));
  if (!found.length) return section("Checks", h("p", { class: "note" }, "Nothing is known of checks: the home's Dagster instance has no records of them, or is not readable."));
  const failed = found.filter((one) => !one.passed).length;
  /** @type {(one: CheckOutcome) => HTMLElement} */
  const row = (one) => h(
    "li", { class: one.passed ? "passed" : one.severity === "ERROR" ? "failed" : "warned" },
    h("span", { "aria-hidden": "true" }, one.passed ? "✓ " : "✗ "), foreign(one.sentence),
    h("small", { class: "quiet" }, ` ${printable(one.asset)}, ${one.when}`),
    one.examples.length > 0 && h("ul", {}, one.examples.map((text) => h("li", {}, foreign(text)))),
  );
  return section(
    "Checks",
    h("p", {}, failed ? `${failed} of ${found.length} checks found something.` : `All ${found.length} checks passed.`),
    few(found.map(row)),
  );
}

/** A list with all but the first items folded. @type {(items: HTMLElement[]) => Child} */
function few(items) {
  /** @type {(some: HTMLElement[]) => HTMLElement} */
  const list = (some) => h("ul", { class: "checks" }, some);
  if (items.length <= FEW + 2) return list(items);
  return [list(items.slice(0, FEW)), h("details", {}, h("summary", {}, `${items.length - FEW} more checks`), list(items.slice(FEW)))];
}

/** Where its questions came from stands in tables of the home. @type {(number: NumberData) => HTMLElement} */
function origins(number) {
  return section("Questions, and what was left out", h("ul", {}, number.commands.map((command) => h("li", {}, foreign(command, "code")))));
}
