/* Provenance of a number: signature, checks, funnel, decisions, rejections and sources. */
import { pageLink } from "../base/addresses.js";
import { controlBar, dropDown } from "../base/controls.js";
import { hasData, loadData } from "../base/data.js";
import { append, h, svg } from "../base/elements.js";
import { pageTitle } from "../base/pages.js";
import { loadIndex, shownInterval, shownValue, staleNotes } from "../base/results.js";
import { sortableTable } from "../base/table.js";
import { asWords, foreign, formatCount, metricName, printable } from "../base/text.js";

const FEW = 8; // rows of a list that are not folded

/** The page /number/:slug. @type {DrawPage} */
export async function numberPage(main, params, query) {
  if (!hasData(`number-${params.slug}`)) throw new Error(`This report has no number named ${params.slug}.`);
  const [index, number] = await Promise.all([loadIndex(), loadData(`number-${params.slug}`)]);
  if (!number.lineage) throw new Error("This is a task, not a number. Choose a number on the task's page.");
  const task = index.task(number.task);
  /** @type {[Lineage, Record<string, string>[]]} */
  const [lineage, sources] = await Promise.all([loadData(number.lineage), loadData("parser")]);
  const names = number.conditions.map((one) => one.name);
  const condition = number.conditions.find((one) => one.name === query.get("condition")) || number.conditions[0];
  main.append(
    pageTitle([number.model, lineage.title].join(" on ")),
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
    staleNotes(index, number.task, [number.model]), value(task, condition), spelled(condition), parser(sources), checks(number, lineage, condition.name, task ? Object.keys(task.conditions) : []),
    ...funnels(lineage), ...stages(lineage), rejections(lineage), source(lineage), problems(lineage),
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

/** The number, with its counts, other metrics and calibration. @type {(task: Task | undefined, condition: NumberCondition) => Child} */
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
    condition.calibration && h("figure", {}, h("img", {
      src: condition.calibration, alt: "Left: accuracy of answers by their confidence. Right: accuracy of the most confident answers.",
    }), h("figcaption", { class: "note" }, "Calibration: where dots lie on the line, accuracy equals confidence.")),
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

/** @type {(number: NumberData, lineage: Lineage, condition: string, conditions: string[]) => HTMLElement} */
function checks(number, lineage, condition, conditions) {
  const others = conditions.filter((name) => name !== condition && name !== "main");
  /** @type {(one: CheckOutcome) => boolean} */
  const ofAnother = (one) => others.some((name) => one.asset.includes(`/${name}/`));
  /** @type {(one: CheckOutcome) => boolean} */
  const isHere = (one) => condition === "main" || one.asset.includes(`/${condition}/`);
  const found = [...number.checks.filter((one) => isHere(one) && !ofAnother(one)), ...lineage.checks.filter((one) => !ofAnother(one))].sort((a, b) => Number(a.passed) - Number(b.passed));
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
    few(found.map(row), "checks", "checks"),
  );
}

/** A list with all but the first items folded. @type {(items: HTMLElement[], what: string, kind: string) => Child} */
function few(items, what, kind) {
  /** @type {(some: HTMLElement[]) => HTMLElement} */
  const list = (some) => h("ul", { class: kind }, some);
  if (items.length <= FEW + 2) return list(items);
  return [list(items.slice(0, FEW)), h("details", {}, h("summary", {}, `${items.length - FEW} more ${what}`), list(items.slice(FEW)))];
}

/** @type {(lineage: Lineage) => HTMLElement[]} */
function funnels(lineage) {
  return lineage.funnels.map((funnel) => {
    const most = Math.max(1, ...funnel.steps.map((step) => step.n || 0));
    return section(
      funnel.table.endsWith("funnel") ? "The funnel" : `Counts: ${asWords(funnel.table)}`,
      sortableTable([
        { key: "step", title: "Step" }, { key: "n", title: funnel.heads[0], number: true },
        { key: "bar", title: "Share", plain: true, value: () => "", cell: (step) => bar((step.n || 0) / most) },
        { key: "beside", title: funnel.heads[1], number: true },
      ], funnel.steps, { label: funnel.table, heading: "step", class: "funnel" }),
    );
  });
}

/** @type {(share: number) => SVGElement} */
function bar(share) {
  return svg(
    "svg", { class: "share", width: 160, height: 10, "aria-hidden": "true" },
    svg("rect", { width: Math.max(share > 0 ? 1 : 0, 160 * share), height: 10, rx: 2 }),
  );
}

/** Decisions of each stage, with counts and images. @type {(lineage: Lineage) => HTMLElement[]} */
function stages(lineage) {
  return lineage.stages.map((stage) => section(
    `Decided: ${asWords(stage.table.split("/").pop())}`,
    h("p", { class: "note" }, `${formatCount(stage.n)} in table ${stage.table}`),
    stage.groups.slice(0, FEW).map((group) => h(
      "div", { class: "decided" },
      h(
        "p", {}, h("b", {}, foreign(group.decision)), group.reason && [": ", foreign(group.reason)],
        h("span", { class: "quiet" }, ` – ${formatCount(group.n)}`),
      ),
      h("ul", { class: "examples" }, group.examples.map((one) => example(one, lineage.images))),
    )),
    stage.groups.length > FEW && h("p", { class: "note" }, `and ${stage.groups.length - FEW} other reasons`),
  ));
}

/** @type {(one: LineageGroup["examples"][0], images: Lineage["images"]) => HTMLElement} */
function example(one, images) {
  const shown = one.images.map((digest) => images[digest]).filter(Boolean);
  return h(
    "li", { title: printable(one.reason) },
    shown.map(([full, small]) => h("a", { href: full }, h("img", { src: small, alt: `Image of ${printable(one.entry)}`, loading: "lazy" }))),
    foreign(one.entry, "small"),
  );
}

/** @type {(lineage: Lineage) => HTMLElement} */
function rejections(lineage) {
  const tables = lineage.rejections;
  if (!tables.length) return section("Left out", h("p", {}, "No row of the source was left out."));
  return section("Left out, and why", tables.map((table) => [
    h("h3", {}, `${table.table}: ${formatCount(table.n)}`),
    few(table.groups.map((group) => h(
      "li", {}, h("b", {}, `${formatCount(group.n)} × `), foreign(group.reason),
      h("ul", { class: "quiet" }, group.examples.slice(0, 3).map((one) => h(
        "li", {}, foreign(one.entry), one.reason !== group.reason && [": ", foreign(one.reason)],
      ))),
    )), "reasons", "reasons"),
  ]));
}

/** @type {(lineage: Lineage) => HTMLElement} */
function source(lineage) {
  const found = lineage.source;
  if (!found) return section("Source", h("p", { class: "note" }, "The suite has no table of source files."));
  /** @type {(row: { sha256: string }) => HTMLElement} */
  const digest = (row) => h("code", { title: row.sha256 }, row.sha256.slice(0, 16));
  return section(
    "Source",
    h("p", {}, `${formatCount(found.n)} files, ${bytes(found.n_bytes)}. ${formatCount(lineage.questions.n)} questions were built from them, with the digest ${(lineage.questions.digest || "").slice(0, 12)}.`),
    h("details", {}, h("summary", {}, found.n > found.files.length ? `The ${found.files.length} largest files` : "The files"), sortableTable([
      { key: "path", title: "File" }, { key: "n_bytes", title: "Bytes", number: true },
      { key: "sha256", title: "SHA-256", cell: digest },
    ], found.files, { label: "Source files", heading: "path", sort: "-n_bytes" })),
  );
}

/** @type {(n: number) => string} */
function bytes(n) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = n < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(n) / 3));
  return `${power ? (n / 1000 ** power).toFixed(1) : n} ${units[power]}`;
}

/** @type {(lineage: Lineage) => Child} */
function problems(lineage) {
  return lineage.problems.length > 0 && section("Cannot be read", h("ul", {}, lineage.problems.map((one) => h("li", { class: "problem" }, foreign(one)))));
}
