/* What a task got on the questions of other sources: numbers alone, their tables are not shown. */
"use strict";
(() => {
  /** A section of the task's page; null where there is one edition. */
  function elsewhere({ index, task, data, chosen }) {
    const here = new Set(["", task.edition, ...data.rows.map((row) => row.edition)]);
    const rows = index.rows.filter((row) => row.task === task.name && row.value !== null && !here.has(row.edition));
    if (!rows.length) return null;
    return Bench.h(
      "section", { class: "all" }, Bench.h("h2", {}, "Measured on other sources"),
      Bench.h("p", { class: "note" }, "Other questions: not to be compared with the numbers above. To see their samples, name that source in bench.toml, and make the report again."),
      Bench.table([
        { key: "model", title: "Model", cell: (row) => [Bench.foreign(row.model), Bench.marked(row)] },
        { key: "edition", title: "Edition" },
        { key: "value", title: Bench.metric(task.metric), number: true, cell: (row) => Bench.h("b", {}, Bench.number(row.value)) },
        { key: "low", title: "95 % interval", number: true, cell: (row) => Bench.interval(row.low, row.high) },
        { key: "n_scored", title: "n", number: true },
      ], rows, { label: "Measured on other sources", heading: "model", sort: "-value", rowClass: (row) => (row.model === chosen.model ? "chosen" : null) }),
    );
  }

  Bench.elsewhere = elsewhere;
})();
