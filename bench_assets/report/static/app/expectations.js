/* Expectations of every table, with the results of Great Expectations; failed ones first. */
"use strict";
(() => {
  Bench.page("/expectations", async (main, _, query) => {
    const { tables, missing } = await Bench.data("expectations");
    main.append(Bench.title("Expectations of the tables"));
    if (missing) {
      main.append(Bench.h("p", {}, "Not checked yet. Run ", Bench.h("code", {}, missing), ", then ", Bench.h("code", {}, "bench report"), "."));
      return;
    }
    const failed = tables.filter((one) => one.failed).length;
    main.append(
      Bench.h("p", {}, failed ? `${failed} of ${tables.length} tables are not as expected.` : `All ${tables.length} tables are as expected.`),
      Bench.h("p", { class: "note" }, "If a blocking expectation fails, the tables that depend on this one are not updated."),
      ...tables.map((one) => section(one, one.table === query.get("table"))),
    );
    const wanted = main.querySelector("details.is-wanted");
    if (wanted) wanted.scrollIntoView();
  });

  /** A table; unfolded if an expectation fails, or if the address names it. */
  function section(one, isWanted) {
    const held = one.expectations.length - one.failed;
    return Bench.h(
      "details", { class: isWanted ? "expected is-wanted" : "expected", open: Boolean(one.failed) || isWanted },
      Bench.h(
        "summary", {}, Bench.h("span", { "aria-hidden": "true", class: one.failed ? "doubt" : "sound" }, one.failed ? "✗ " : "✓ "), Bench.foreign(one.table, "b"),
        ` ${Bench.count(one.rows)} rows, ${held} of ${one.expectations.length} hold`,
      ),
      Bench.table([
        { key: "passed", title: "Holds", value: (row) => (row.passed ? "yes" : "no") },
        { key: "expectation", title: "Expected", value: (row) => Bench.words(row.expectation.replace(/^expect_/, "")) },
        { key: "about", title: "Of", cell: (row) => Bench.foreign(row.about) },
        { key: "told", title: "With", cell: (row) => Bench.foreign(row.told) },
        { key: "blocking", title: "Blocks", value: (row) => (row.blocking ? "yes" : "no") },
        { key: "n_unexpected", title: "Unexpected", number: true },
        { key: "unexpected", title: "For example", plain: true, value: (row) => row.unexpected.join("; "), cell: (row) => Bench.foreign(row.unexpected.join("; ")) },
      ], one.expectations, { label: one.table, heading: "expectation", sort: "passed" }),
    );
  }
})();
