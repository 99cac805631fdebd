/* Expectations of every table, with the results of Great Expectations; failed ones first. */
import { loadData } from "../base/data.js";
import { h } from "../base/elements.js";
import { pageTitle } from "../base/pages.js";
import { sortableTable } from "../base/table.js";
import { asWords, foreign, formatCount } from "../base/text.js";

/** The page /expectations. @type {DrawPage} */
export async function expectationsPage(main, _, query) {
  const { tables, missing } = await loadData("expectations");
  main.append(pageTitle("Expectations of the tables"));
  if (missing) {
    main.append(h("p", {}, "Not checked yet. Run ", h("code", {}, missing), ", then ", h("code", {}, "bench report"), "."));
    return;
  }
  const failed = tables.filter((one) => one.failed).length;
  main.append(
    h("p", {}, failed ? `${failed} of ${tables.length} tables are not as expected.` : `All ${tables.length} tables are as expected.`),
    h("p", { class: "note" }, "If a blocking expectation fails, the tables that depend on this one are not updated."),
    ...tables.map((one) => section(one, one.table === query.get("table"))),
  );
  const wanted = main.querySelector("details.is-wanted");
  if (wanted) wanted.scrollIntoView();
}

/** A table; unfolded if an expectation fails, or if the address names it. @type {(one: CheckedTable, isWanted: boolean) => HTMLElement} */
function section(one, isWanted) {
  const held = one.expectations.length - one.failed;
  return h(
    "details", { class: isWanted ? "expected is-wanted" : "expected", open: Boolean(one.failed) || isWanted },
    h(
      "summary", {}, h("span", { "aria-hidden": "true", class: one.failed ? "doubt" : "sound" }, one.failed ? "✗ " : "✓ "), foreign(one.table, "b"),
      ` ${formatCount(one.rows)} rows, ${held} of ${one.expectations.length} hold`,
    ),
    sortableTable([
      { key: "passed", title: "Holds", value: (row) => (row.passed ? "yes" : "no") },
      { key: "expectation", title: "Expected", value: (row) => asWords(row.expectation.replace(/^expect_/, "")) },
      { key: "about", title: "Of", cell: (row) => foreign(row.about) },
      { key: "told", title: "With", cell: (row) => foreign(row.told) },
      { key: "blocking", title: "Blocks", value: (row) => (row.blocking ? "yes" : "no") },
      { key: "n_unexpected", title: "Unexpected", number: true },
      { key: "unexpected", title: "For example", plain: true, value: (row) => row.unexpected.join("; "), cell: (row) => foreign(row.unexpected.join("; ")) },
    ], one.expectations, { label: one.table, heading: "expectation", sort: "passed" }),
  );
}
