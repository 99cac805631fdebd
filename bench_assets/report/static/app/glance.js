/* The leaderboard in sentences: the best model of each task, and whether runs learn. */
"use strict";
(() => {
  /** The sentences for an edition, under the main condition. */
  Bench.glance = (index, edition) => {
    const rows = index.rows.filter((row) => row.edition === edition && row.condition === "main" && row.value !== null
      && !row.unreadable && !row.partial && !row.n_failed);
    if (!rows.length) return "";
    const runs = steps(index, rows);
    return Bench.h(
      "section", { class: "glance" }, Bench.h("h2", {}, "At a glance"),
      Bench.h(
        "div", { class: "cards" },
        Bench.h("section", { class: "card" }, Bench.h("h3", {}, "Best at each task"), bestAtEach(index, rows)),
        runs.map((run) => Bench.h("section", { class: "card" }, Bench.h("h3", {}, "Did ", Bench.foreign(run.name), " learn?"), learned(index, run))),
      ),
    );
  };

  function bestAtEach(index, rows) {
    const measured = index.tasks.filter((task) => rows.some((row) => row.task === task.name));
    return Bench.h("dl", { class: "facts" }, measured.map((task) => {
      const models = rows.filter((row) => row.task === task.name && !Bench.isBaseline(index.model(row.model)));
      return [Bench.h("dt", {}, Bench.h("a", { href: Bench.link(["task", task.name]) }, task.title)), Bench.h("dd", {}, best(task, models))];
    }));
  }

  function best(task, rows) {
    if (!rows.length) return "only baselines were evaluated";
    const first = [...rows].sort(Bench.byMerit(task))[0];
    const blind = Bench.blind(task, first);
    const equals = rows.filter((row) => row.value === first.value);
    if (first.value === 0 && !Bench.isLowestBest(task)) return `no model gets anything right (${Bench.metric(task.metric)} 0)`;
    if (blind !== null && !Bench.isBetter(task, first.value, blind)) {
      return ["none: the best, ", Bench.foreign(first.model), ` with ${Bench.number(first.value)}, is not better than ${Bench.number(blind)}, the best blind baseline`];
    }
    const shown = Bench.isShownBetter(task, first, blind);
    return [
      equals.map((row, i) => [i ? ", " : "", Bench.foreign(row.model, "b")]),
      ` with ${Bench.metric(task.metric)} ${Bench.number(first.value)}`, first.stale && " (stale)",
      blind === null ? "" : shown ? `; best blind baseline: ${Bench.number(blind)}` : `; not shown to be better than the best blind baseline (${Bench.number(blind)})`,
    ];
  }

  /** Runs with at least two steps, each with its rows ordered by step. */
  function steps(index, rows) {
    const runs = new Map();
    for (const row of rows) {
      const model = index.model(row.model);
      if (model.step === null || model.run === null) continue;
      if (!runs.has(model.run)) runs.set(model.run, []);
      runs.get(model.run).push({ ...row, step: model.step });
    }
    return [...runs].map(([name, of]) => ({ name: name || "the run", of: of.sort((a, b) => a.step - b.step) }))
      .filter((run) => new Set(run.of.map((row) => row.step)).size > 1);
  }

  /** The verdict on the last step against the first, as on the page Compare and in the terminal. */
  function learned(index, run) {
    const [first, last] = [run.of[0], run.of[run.of.length - 1]];
    const place = Bench.h("div", {}, "…");
    Bench.compare.both(index, first.model, last.model).then((rows) => {
      place.replaceChildren(rows.length ? Bench.compare.summary({ a: first.model, b: last.model }, rows) : "No task can be compared.");
    });
    const link = Bench.link(["compare"], { a: first.model, b: last.model });
    return [
      place,
      Bench.h("p", { class: "note" }, `Step ${Bench.count(first.step)} to step ${Bench.count(last.step)}, paired question by question, all tasks together at 5 %: `, Bench.h("a", { href: link }, "compare"), "."),
    ];
  }
})();
