/* Gold: proposed questions, what the votes on their keys decided, and what is open. */
import { loadData } from "../base/data.js";
import { append, h } from "../base/elements.js";
import { pageTitle } from "../base/pages.js";
import { sortableTable } from "../base/table.js";
import { foreign, formatNumber } from "../base/text.js";

/** The page /gold. @type {DrawPage} */
export async function goldPage(main) {
  const suites = await loadData("gold");
  const rows = suites.flatMap((one) => one.funnel.map((row) => ({ ...row, suite: one.suite })));
  main.append(
    pageTitle("Gold"),
    h("p", {}, "Questions that were made from others, with their keys. A rule and two solvers vote on each key; people decide what stays open."),
  );
  if (rows.length) main.append(funnel(rows));
  const problems = suites.filter((one) => one.problem);
  if (problems.length) main.append(h("ul", { class: "problem" }, problems.map((one) => h("li", {}, foreign(one.suite), ": ", foreign(one.problem)))));
  append(main, suites.map(open));
}

/** @type {(rows: GoldRow[]) => HTMLElement} */
function funnel(rows) {
  /** @type {(key: string, title: string, hint?: string) => Column<GoldRow>} */
  const count = (key, title, hint) => ({ key, title, number: true, value: (row) => row[key], hint });
  return sortableTable([
    { key: "suite", title: "Suite", value: (row) => row.suite },
    { key: "construction", title: "Construction", value: (row) => row.construction },
    count("proposed", "Proposed"),
    count("by_form", "By form", "a rule proves or recalculates the key"),
    count("agreed", "Agreed", "accepted by the votes of solvers"),
    count("open", "Open"),
    count("rejected", "Rejected"),
    count("decided_by_people", "By people"),
    count("accepted", "Accepted"),
    { key: "share", title: "Yield", number: true, value: (row) => row.accepted / row.proposed, cell: (row) => formatNumber(row.accepted / row.proposed) },
    { key: "wrong", title: "Wrong", number: true, value: (row) => row.wrong_share, cell: wrong, hint: "of the accepted that people judged, with the 95 % interval" },
  ], rows, { label: "Proposed questions by construction", heading: "construction", sort: "suite" });
}

/** @type {(row: GoldRow) => Child} */
function wrong(row) {
  if (!row.checked) return "not checked";
  const interval = ` ${row.wrong} of ${row.checked} (${formatNumber(row.wrong_low)} to ${formatNumber(row.wrong_high)})`;
  return h("span", {}, formatNumber(row.wrong_share), h("span", { class: "quiet" }, interval));
}

/** @type {(one: GoldSuite) => Child} */
function open(one) {
  if (!one.open.length) return null;
  return h(
    "section", {}, h("h2", {}, `Open: ${one.suite}`),
    h("p", { class: "note" }, "People decide these: ", h("code", {}, `bench annotate proposals ${one.suite}`)),
    h("ul", { class: "suspects" }, one.open.map(proposal)),
  );
}

/** @type {(row: Proposal) => HTMLElement} */
function proposal(row) {
  /** @type {(name: string, text: string) => Child} */
  const line = (name, text) => text && h("p", {}, h("span", { class: "quiet" }, `${name}: `), foreign(text));
  return h(
    "li", {}, h("p", {}, foreign(row.id, "b"), " ", foreign(row.construction)),
    line("Before", row.before), line("Question", row.question), line("The image will show", row.shows),
    line("Key", row.why ? `${row.key} (${row.why.replaceAll("\n", "; ")})` : row.key),
    row.votes.map(([solver, vote, last]) => h("p", { class: "evidence" }, foreign(solver), `, ${vote}: `, foreign(last))),
  );
}
