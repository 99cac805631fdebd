/* Claims of the papers, tested on the published numbers and on those measured here. */
"use strict";
(() => {
  Bench.page("/claims", async (main) => {
    const [index, suites] = await Promise.all([Bench.index(), Bench.data("claims")]);
    const title = (suite) => (index.tasks.some((task) => task.suite === suite) ? Bench.suiteTitle(index, suite) : suite);
    main.append(
      Bench.title("Claims"),
      Bench.h("p", {}, "Claims of the papers, as comparisons: a claim holds if the whole 95 % interval of the difference lies on its side of 0."),
    );
    for (const suite of suites) {
      if (suite.problem) main.append(Bench.h("p", { class: "problem" }, Bench.foreign(suite.suite), ": ", Bench.foreign(suite.problem)));
      else if (suite.rows) main.append(section(title(suite.suite), suite.rows));
    }
    const without = suites.filter((suite) => !suite.rows && !suite.problem).map((suite) => suite.suite);
    if (without.length) {
      main.append(Bench.h(
        "p", { class: "note" }, "Not tried yet: ", Bench.foreign(without.join(", ")), "; ", Bench.h("code", {}, "bench leaderboard"), " tests their claims.",
      ));
    }
  });

  function section(title, rows) {
    const names = [...new Set(rows.map((row) => row.claim))];
    return Bench.h(
      "section", {}, Bench.h("h2", {}, Bench.printable(title)),
      names.length ? names.map((name) => claim(rows.filter((row) => row.claim === name), title)) : Bench.h("p", { class: "quiet" }, "No claim of its paper is listed."),
    );
  }

  /** One claim: results over all models, then model by model. */
  function claim(rows, title) {
    const together = rows.filter((row) => !row.model);
    const each = rows.filter((row) => row.model);
    const own = rows.length && rows[0];
    return Bench.h(
      "article", { class: "claim" },
      Bench.h("h3", {}, Bench.foreign(own.sentence)),
      Bench.h("p", { class: "note" }, /^\d/.test(own.section) ? "Section " : "From ", Bench.foreign(own.section)),
      together.length > 0 && table(together, `Result: ${title}, ${own.claim}`),
      each.length > 0 && Bench.h(
        "details", {}, Bench.h("summary", {}, `${each.length} ${each.length === 1 ? "model" : "models"}: ${counts(each)}`), table(each, `Model by model: ${title}, ${own.claim}`),
      ),
    );
  }

  function counts(rows) {
    const names = ["holds", "does not hold", "cannot be told"];
    return names.map((name) => [name, rows.filter((row) => row.verdict === name).length]).filter(([, n]) => n).map(([name, n]) => `${name} of ${n}`).join(", ");
  }

  const ON = { published: "the paper's numbers", measured: "measured here" };
  const CLASS = { holds: "upheld", "does not hold": "refuted", "cannot be told": "untold" };
  const SIGN = { holds: "✓ ", "does not hold": "✗ ", "cannot be told": "? " };

  function table(rows, label) {
    return Bench.table([
      { key: "on", title: "On", value: (row) => ON[row.on] || row.on },
      { key: "model", title: "Model", cell: (row) => (row.model ? Bench.foreign(row.model) : "all together") },
      { key: "verdict", title: "Verdict", cell: (row) => Bench.h("span", { class: CLASS[row.verdict] }, Bench.h("span", { "aria-hidden": "true" }, SIGN[row.verdict] || ""), row.verdict) },
      { key: "value", title: "By", number: true, hint: "difference in the claimed direction, in the metric's unit", cell: (row) => Bench.h("b", {}, Bench.signed(row.value)) },
      { key: "low", title: "95 % interval", number: true, cell: (row) => (row.low === null ? "" : `${Bench.signed(row.low)} to ${Bench.signed(row.high)}`) },
      { key: "p", title: "p", number: true, ascending: true, hint: "two-sided, corrected for all claims of the paper by Holm's method", cell: (row) => (row.p === null ? "" : row.p < 0.001 ? "< 0.001" : Bench.number(row.p)) },
      { key: "n", title: "n", number: true, hint: "smallest number of questions behind one of its numbers", cell: (row) => (row.n ? Bench.count(row.n) : "") },
      { key: "why", title: "Why", plain: true },
    ], rows, { label, heading: "model", class: "tried" });
  }
})();
