/* Why a score moved from a checkpoint to the next, cause by cause: what `bench diff` says. */
"use strict";
(() => {
  /** A section; null where the pair was not taken apart: then the command is named. */
  async function moved(index, task, chosen) {
    const name = `moved-${task.slug}-${(index.model(chosen.b) || {}).slug}`;
    if (!Bench.has(name) || chosen.ca !== "main" || chosen.cb !== "main") return null;
    const { before, causes } = await Bench.data(name);
    if (before !== chosen.a || !causes.length) return null;
    const [whole, ...rest] = causes;
    return Bench.h(
      "section", {}, Bench.h("h3", {}, "Why the score moved"),
      Bench.h(
        "p", {}, `${Bench.metric(whole.metric)}: `, Bench.h("b", {}, effect(whole)), " in all, of which each cause did its part, one after the other. ",
        Bench.h("span", { class: "quiet" }, `${Bench.count(whole.n_better)} questions gained points, ${Bench.count(whole.n_worse)} lost some, of ${Bench.count(whole.n)} that both have.`),
      ),
      rest.length ? Bench.table([
        { key: "cause", title: "Cause" },
        { key: "effect", title: "Did", number: true, cell: (row) => Bench.h("b", {}, effect(row)) },
        { key: "n", title: "Questions", number: true }, { key: "n_better", title: "Better", number: true }, { key: "n_worse", title: "Worse", number: true },
        { key: "before", title: "A", plain: true }, { key: "after", title: "B", plain: true },
        { key: "examples", title: "Lost most", plain: true, cell: (row) => row.examples.map((one) => example(task, chosen, one)) },
      ], rest, { label: "Why the score moved", heading: "cause", class: "spelled causes" }) : Bench.h("p", { class: "quiet" }, "Nothing on the way from the questions to their points differs."),
    );
  }

  function effect(row) {
    return row.effect === null ? "not known" : Bench.compare.signed(row.effect);
  }

  function example(task, chosen, id) {
    return Bench.h("a", { href: Bench.link(["samples", task.name], { model: chosen.b, beside: chosen.a, sample: id }) }, Bench.foreign(id));
  }

  Bench.compare.moved = moved;
})();
