/* The section "Why the score moved" of the page Compare. */
"use strict";
(() => {
  /** The section; null if the report lacks data of a side. sides: the sample data of each. */
  async function moved(index, { task, rows }, chosen, sides) {
    const known = sides && await Promise.all(sides.map((side, i) => origins(index, task, rows[i], side)));
    if (!known || known.some((one) => !one)) return null;
    const { whole, rows: found } = Bench.compare.causes(...known);
    return Bench.h(
      "section", {}, Bench.h("h3", {}, "Why the score moved"),
      Bench.h(
        "p", {}, `${Bench.metric(task.metric)}: `, Bench.h("b", {}, effect(whole)), " in total, split by cause, one after the other. ",
        Bench.h("span", { class: "quiet" }, `${Bench.count(whole.n_better)} questions gained points, ${Bench.count(whole.n_worse)} lost some, of ${Bench.count(whole.n)} that both have.`),
      ),
      found.length ? table(task, chosen, found) : Bench.h("p", { class: "quiet" }, "No step from the questions to their points differs."),
      found.some((row) => row.effect === null) && Bench.h("p", { class: "note" }, "This metric is not a sum over questions: the command below computes the effect of each cause."),
    );
  }

  /** The input of `causes` for a side; null if the report lacks it. */
  async function origins(index, task, row, side) {
    const model = index.model(row.model).slug;
    const names = [`origins-${task.slug}-${model}`, `origins${side.asked.slice("samples".length)}`, `compare-${task.slug}-${model}`];
    if (!names.every(Bench.has)) return null;
    const [origin, exam, parts] = await Promise.all(names.map(Bench.data));
    const [of, measured] = [origin, parts].map((one) => one[Bench.asked(row)]);
    if (!of || !measured || measured.value === null || row.value === null) return null;
    return { ids: side.listed.ids, categories: side.listed.categories, shares: side.of.shares, exam, of, parts: measured, written: row.value };
  }

  function table(task, chosen, rows) {
    return Bench.table([
      { key: "cause", title: "Cause" },
      { key: "effect", title: "Effect", number: true, cell: (row) => Bench.h("b", {}, effect(row)) },
      { key: "n", title: "Questions", number: true }, { key: "n_better", title: "Better", number: true }, { key: "n_worse", title: "Worse", number: true },
      { key: "before", title: "A", plain: true }, { key: "after", title: "B", plain: true },
      { key: "examples", title: "Lost most", plain: true, cell: (row) => row.examples.map((one) => example(task, chosen, row, one)) },
    ], rows, { label: "Why the score moved", heading: "cause", class: "spelled causes" });
  }

  function effect(row) {
    return row.effect === null ? "not told apart" : Bench.signed(row.effect);
  }

  /** A link to a question; those that B lacks are shown of A. */
  function example(task, chosen, row, id) {
    const gone = row.cause === "questions removed";
    const [model, condition] = gone ? [chosen.a, chosen.ca] : [chosen.b, chosen.cb];
    const beside = !gone && chosen.ca === chosen.cb ? chosen.a : "";
    return Bench.h("a", { href: Bench.link(["samples", task.name], { condition: condition === "main" ? "" : condition, model, beside, sample: id }) }, Bench.foreign(id));
  }

  Bench.compare.moved = moved;
})();
