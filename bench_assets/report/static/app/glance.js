/* The leaderboard in sentences: the best model of each task, and whether runs learn. */
"use strict";
(() => {
  /** The first sentences of an edition, under the main condition: the best model, and whether runs learn. */
  function verdict(index, edition) {
    const rows = complete(index, edition);
    const ranked = index.rankings.find((one) => one.edition === edition && one.condition === "main" && one.tasks.length > 1);
    return [ranked && ranked.ranks.length > 1 && winner(ranked), ...steps(index, rows).map((run) => learned(index, run))].filter(Boolean);
  }

  function winner(ranked) {
    const [first] = ranked.ranks;
    const interval = first.low === null ? "" : ` (95 % interval ${Bench.interval(first.low, first.high, 1)})`;
    return Bench.h(
      "p", { class: "winner" }, Bench.foreign(first.model, "b"),
      ` has the best mean rank, ${Bench.number(first.mean, 1)}${interval}, of ${ranked.ranks.length} models over ${ranked.tasks.length} tasks.`,
    );
  }

  /** The best model of each task, in sentences. */
  function glance(index, edition) {
    const rows = complete(index, edition);
    if (!rows.length) return "";
    return Bench.h("section", { class: "glance" }, Bench.h("h2", {}, "Best at each task"), bestAtEach(index, rows));
  }

  function complete(index, edition) {
    return index.rows.filter((row) => row.edition === edition && row.condition === "main" && row.value !== null
      && !row.unreadable && !row.partial && !row.n_failed);
  }

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
    const place = Bench.h("div", { class: "learned" }, Bench.h("p", {}, "…"));
    const link = Bench.h("a", { href: Bench.link(["compare"], { a: first.model, b: last.model }) }, "compare");
    Bench.compare.both(index, first.model, last.model).then((rows) => {
      const summary = rows.length ? Bench.compare.summary({ a: first.model, b: last.model }, rows) : Bench.h("p", {}, Bench.foreign(run.name), ": no task can be compared.");
      place.replaceChildren(summary, Bench.h("p", { class: "note" }, `Step ${Bench.count(first.step)} to step ${Bench.count(last.step)}, paired question by question, all tasks together at 5 %: `, link, "."));
    });
    return place;
  }

  Object.assign(Bench, { verdict, glance });
})();
