/* What the leaderboard shows, in sentences: who is best at what, and whether runs learn. */
"use strict";
(() => {
  /** The sentences of an edition, under the papers' own condition. */
  Bench.difference = difference;
  Bench.glance = (index, edition) => {
    const rows = index.rows.filter((row) => row.edition === edition && row.condition === "main" && row.value !== null
      && !row.unreadable && !row.partial && !row.n_failed);
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
    return Bench.h("dl", { class: "facts" }, index.tasks.map((task) => {
      const models = rows.filter((row) => row.task === task.name && !Bench.isBaseline(index.model(row.model)));
      return [Bench.h("dt", {}, Bench.h("a", { href: Bench.link(["task", task.name]) }, task.title)), Bench.h("dd", {}, best(task, models))];
    }));
  }

  function best(task, rows) {
    if (!rows.length) return "only baselines were asked";
    const first = rows.reduce((a, b) => (b.value > a.value ? b : a));
    const blind = Bench.blind(task, first);
    const equals = rows.filter((row) => row.value === first.value);
    if (first.value === 0) return `no model gets anything right (${Bench.metric(task.metric)} 0)`;
    if (blind !== null && first.value <= blind) {
      return ["none: the highest, ", Bench.foreign(first.model), ` with ${Bench.number(first.value)}, is not above ${Bench.number(blind)}, what is reached without looking`];
    }
    const shown = blind !== null && first.low > blind;
    return [
      equals.map((row, i) => [i ? ", " : "", Bench.foreign(row.model, "b")]),
      ` with ${Bench.metric(task.metric)} ${Bench.number(first.value)}`, first.stale && " (stale)",
      blind === null ? "" : shown ? `; without looking: ${Bench.number(blind)}` : `; not shown to be better than without looking (${Bench.number(blind)})`,
    ];
  }

  /** The interval of a difference out of those of two values (Newcombe, 1998: square and add). */
  function difference(a, b) {
    const change = b.value - a.value;
    return {
      low: change - Math.hypot(b.value - b.low, a.high - a.value),
      high: change + Math.hypot(b.high - b.value, a.value - a.low),
    };
  }

  /** Runs of at least two steps, each with its rows from the first step to the last. */
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

  function learned(index, run) {
    const found = { better: [], worse: [], open: [] };
    let [from, to] = [Infinity, -Infinity];
    for (const task of index.tasks) {
      const rows = run.of.filter((row) => row.task === task.name);
      if (rows.length < 2) continue;
      const [first, last] = [rows[0], rows[rows.length - 1]];
      [from, to] = [Math.min(from, first.step), Math.max(to, last.step)];
      const key = difference(first, last).low > 0 ? "better" : difference(first, last).high < 0 ? "worse" : "open";
      found[key].push([Bench.h("a", { href: Bench.link(["task", task.name]) }, task.title), ` ${Bench.number(first.value)} → ${Bench.number(last.value)}`]);
    }
    const list = (title, items) => items.length > 0 && [Bench.h("dt", {}, title), Bench.h("dd", {}, items.map((item, i) => [i ? "; " : "", item]))];
    return [
      Bench.h("p", { class: "note" }, `From step ${Bench.count(from)} to step ${Bench.count(to)}; better or worse where the 95 % interval of the difference leaves out 0, as if the questions were others; Compare looks at each question.`),
      Bench.h("dl", { class: "facts" }, list("Better", found.better), list("Worse", found.worse), list("No difference shown", found.open)),
    ];
  }
})();
