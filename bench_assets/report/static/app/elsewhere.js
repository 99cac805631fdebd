/* Results of a task on other sources, with links to their samples. */
"use strict";
(() => {
  /** A section of the task's page; null if there are no other sources. */
  function elsewhere({ index, task, data, chosen }) {
    const here = new Set(["", task.edition, ...data.rows.map((row) => row.edition)]);
    const rows = index.rows.filter((row) => row.task === task.name && row.value !== null && !here.has(row.edition));
    if (!rows.length) return null;
    return Bench.h(
      "section", { class: "all" }, Bench.h("h2", {}, "Measured on other sources"),
      Bench.h("p", { class: "note" }, "Other questions: not comparable with the numbers above."),
      Bench.table([
        { key: "model", title: "Model", cell: (row) => [Bench.foreign(row.model), Bench.marked(row)] },
        { key: "edition", title: "Edition" },
        { key: "value", title: Bench.metric(task.metric), number: true, ascending: Bench.isLowestBest(task), cell: (row) => Bench.h("b", {}, Bench.number(row.value)) },
        { key: "low", title: "95 % interval", number: true, cell: (row) => Bench.interval(row.low, row.high) },
        { key: "n_scored", title: "n", number: true },
        {
          key: "ways", title: "Look", plain: true, value: () => "", cell: (row) => Bench.h(
            "span", { class: "ways" }, way(["samples", task.name], { condition: Bench.asked(row), model: row.model }, "samples", row),
            way(["samples", task.name], { condition: Bench.asked(row), model: row.model, outcome: "wrong" }, "wrong ones", row),
            way(["compare"], { b: row.model, cb: Bench.asked(row), task: task.name }, "compare", row),
          ),
        },
      ], rows, { label: "Measured on other sources", heading: "model", sort: Bench.bestFirst(task, "value"), rowClass: (row) => (row.model === chosen.model ? "chosen" : null) }),
    );
  }

  function way(parts, query, text, row) {
    return Bench.h("a", { href: Bench.link(parts, query), "aria-label": `${text} of ${Bench.printable(row.model)}, ${row.edition}` }, text);
  }

  Bench.elsewhere = elsewhere;
})();
