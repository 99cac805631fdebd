/* A task: its models, the paper's tables, and plots. */
"use strict";
(() => {
  Bench.page("/task", async (main) => {
    const index = await Bench.index();
    const samples = await Promise.all(index.tasks.map((task) => Bench.has(`samples-${task.slug}`) && Bench.data(`samples-${task.slug}`)));
    Bench.append(main, [Bench.title("Tasks"), Bench.h("div", { class: "cards" }, index.tasks.map((task, i) => Bench.h(
      "section", { class: "card task" }, Bench.thumbnail(samples[i]), Bench.h("h2", {}, Bench.h("a", { href: Bench.link(["task", task.name]) }, Bench.printable(task.title))),
      Bench.h("p", {}, Bench.printable(task.purpose)), facts(index, task),
      Bench.h("p", {}, Bench.h("a", { href: Bench.link(["samples", task.name]), "aria-label": `Samples of ${task.title}` }, "Samples")),
    ))), Bench.has("gold") && Bench.h("p", { class: "ways no-print" }, Bench.h("a", { href: "#/gold" }, "Keys of proposed questions"))]);
  });

  Bench.page("/task/:task", async (main, params, query) => {
    const index = await Bench.index();
    const task = index.task(params.task);
    if (!task) throw new Error(`This report has no task named ${params.task}.`);
    const data = await Bench.data(`task-${task.slug}`);
    const page = { index, task, data: { ...data, ...Object.fromEntries(["rows", "published", "usage", "confusion"].map((name) => [name, Bench.rows(data[name])])) } };
    page.chosen = defaults(page, query);
    const place = Bench.h("div", { class: "sections" });
    const draw = () => place.replaceChildren(...sections(page).filter(Boolean));
    page.change = (changes) => {
      Object.assign(page.chosen, changes);
      Bench.replaceQuery(changes);
      draw();
    };
    main.append(
      Bench.title(task.title), Bench.h("p", {}, Bench.printable(task.purpose)), facts(index, task),
      Bench.h(
        "p", { class: "ways no-print" }, Bench.h("a", { href: Bench.link(["samples", task.name]) }, "Samples"),
        Bench.h("a", { href: Bench.link(["compare"], { task: task.name }) }, "Compare two models"),
      ),
      choices(page), place,
    );
    draw();
  });

  function facts(index, task) {
    const asked = index.rows.filter((row) => row.task === task.name && row.condition === "main" && row.value !== null).length;
    return Bench.h(
      "p", { class: "note" }, `${Bench.count(task.questions)} questions${task.edition ? `, edition ${task.edition}` : ""}; `
      + `${asked} ${asked === 1 ? "model" : "models"}; ranked by ${Bench.metric(task.metric)}${Bench.isLowestBest(task) ? " (lower is better)" : ""}`
      + (task.chance === null ? "." : `; chance is ${Bench.number(task.chance)}.`),
    );
  }

  function defaults({ task, data }, query) {
    const editions = [...new Set(data.rows.map((row) => row.edition))];
    const given = (name, known, start) => (known.includes(query.get(name)) ? query.get(name) : start);
    return {
      metric: given("metric", measured(data), task.metric),
      condition: given("condition", task.measured, "main"),
      edition: given("edition", editions, task.edition && editions.includes(task.edition) ? task.edition : editions[0] || ""),
      category: given("category", data.categories, "all"),
      table: query.get("table") ?? Bench.mainTable(data, task),
      model: query.get("model") || "",
    };
  }

  function measured(data) {
    return data.metrics.filter((metric) => data.rows.some((row) => row.metric === metric));
  }

  function choices(page) {
    const { task, data, chosen, change } = page;
    const editions = [...new Set(data.rows.map((row) => row.edition))];
    const several = (values) => values.length > 1;
    return Bench.controls(
      several(measured(data)) && Bench.select("Metric", measured(data).map((name) => [name, Bench.metric(name)]), chosen.metric, (metric) => change({ metric })),
      several(task.measured) && Bench.select("Condition", task.measured, chosen.condition, (condition) => change({ condition })),
      several(editions) && Bench.select("Edition", editions, chosen.edition, (edition) => change({ edition })),
    );
  }

  function sections(page) {
    const rows = page.data.rows.filter((row) => row.metric === page.chosen.metric && row.edition === page.chosen.edition);
    const here = rows.filter((row) => row.condition === page.chosen.condition);
    const all = here.filter((row) => row.category === "all");
    return [
      models(page, all), Bench.elsewhere(page), unreadable(page), learning(page, here), beside(page, all), tables(page),
      ...categories(page, here), conditions(page, rows), Bench.took(page, all), Bench.confused(page, all),
    ];
  }

  function section(title, ...children) {
    return Bench.h("section", {}, Bench.h("h2", {}, title), children);
  }

  /** A section that takes the whole width. */
  function wideSection(title, ...children) {
    return Bench.h("section", { class: "all" }, Bench.h("h2", {}, title), children);
  }

  const OUTCOMES = ["n_no_answer", "n_refused", "unread", "n_rejected", "n_expired"]; // columns hidden if they are empty
  function models(page, rows) {
    const { task, chosen } = page;
    if (!rows.length) return Bench.h("p", {}, `No results of this task under this condition yet. Run: bench evaluate ${task.name} --model …`);
    const asked = (row) => ({ model: row.model, condition: row.condition === "main" ? "" : row.condition });
    const sentence = page.task.conditions[chosen.condition];
    return wideSection(
      `${Bench.metric(chosen.metric)}, over all questions`,
      chosen.condition !== "main" && Bench.h("p", { class: "note" }, Bench.printable(sentence)),
      Bench.table([
        { key: "model", title: "Model", cell: (row) => [Bench.foreign(row.model), Bench.marked({ ...row, task: task.name })] },
        { key: "value", title: Bench.metric(chosen.metric), number: true, ascending: Bench.isLowestBest(task, chosen.metric), cell: (row) => Bench.h("b", {}, Bench.shown(row)) },
        { key: "low", title: "95 % interval", number: true, cell: (row) => Bench.besideValue(row) },
        { key: "n_scored", title: "n", number: true, hint: "units behind the value: questions, pairs, ..." },
        { key: "n_clusters", title: "Clusters", number: true, hint: "effective number of clusters: questions that share an image or group count once, uneven clusters count less; below ten the interval is rough", cell: (row) => Bench.h("span", { title: Bench.dominated(row) || null }, Bench.number(row.n_clusters, 1), Bench.dominated(row) && "°") },
        { key: "n_no_answer", title: "No answer", number: true, hint: "cut off, an error, a tool call; counted as wrong" },
        { key: "n_refused", title: "Refused", number: true, hint: "refused for good by the provider; accepted, and counted as wrong" },
        { key: "unread", title: "Unread", number: true, hint: "share of the responses from which no answer could be read", cell: (row) => Bench.unread({ ...row, task: task.name }) },
        { key: "n_rejected", title: "Rejected", number: true, hint: "rows of the source that are not usable as questions" },
        { key: "n_expired", title: "Expired", number: true, hint: "left out, because people had not decided by the deadline" },
        { key: "constant", title: "Best constant", number: true, hint: "value of the best constant response", cell: (row) => Bench.h("span", { title: row.baselines || null }, Bench.number(row.constant)) },
        { key: "shuffled", title: "Shuffled", number: true, hint: "value of this model's responses, shuffled across questions", cell: (row) => Bench.h("span", { title: row.baselines || null }, Bench.number(row.shuffled)) },
        {
          key: "ways", title: "Look", plain: true, value: () => "", cell: (row) => Bench.h(
            "span", { class: "ways" },
            way(["samples", task.name], asked(row), "samples", row), way(["samples", task.name], { ...asked(row), outcome: "wrong" }, "wrong ones", row),
            way(["compare"], { b: row.model, task: task.name }, "compare", row),
            Bench.has(`number-${numberOf(page, row)}`) && way(["number", numberOf(page, row)], { condition: asked(row).condition }, "where from", row),
          ),
        },
      ].filter(({ key }) => !OUTCOMES.includes(key) || rows.some((row) => row[key])), rows, {
        label: "Models", heading: "model", sort: Bench.bestFirst(task, "value", chosen.metric), rowClass: (row) => (row.model === chosen.model ? "chosen" : null),
      }),
    );
  }

  function way(parts, query, text, row) {
    return Bench.h("a", { href: Bench.link(parts, query), "aria-label": `${text} of ${Bench.printable(row.model)}` }, text);
  }

  /** Name of a number's page. */
  function numberOf({ index, task }, row) {
    return `${task.slug}-${(index.model(row.model) || {}).slug}`;
  }

  function unreadable({ data }) {
    return data.unreadable.length > 0 && Bench.h("ul", { class: "note reasons" }, data.unreadable.map((one) =>
      Bench.h("li", {}, Bench.foreign(one.model), ` (${Bench.words(one.condition)}): `, Bench.printable(one.why))));
  }

  /** Blind baselines as lines of a plot. */
  function lines({ task, chosen }, rows) {
    const constants = rows.map((row) => row.constant).filter((one) => one !== null);
    const random = rows.find((row) => row.model === "random");
    return [
      task.chance !== null && chosen.metric === task.metric && chosen.condition === "main" && { name: "chance", value: task.chance },
      constants.length > 0 && { name: "constant", value: Bench.best(task, constants, chosen.metric) },
      random && random.value !== null && !random.partial && { name: "random", value: random.value },
    ].filter(Boolean);
  }

  function learning(page, here) {
    const { index, chosen, change, data } = page;
    const inRuns = here.map((row) => ({ ...row, ...stepOf(index, row.model) })).filter((row) => row.step !== null);
    const rows = inRuns.filter((row) => row.category === chosen.category && row.value !== null);
    if (new Set(rows.map((row) => row.step)).size < 2) return null;
    const among = here.filter((row) => row.category === chosen.category);
    return section(
      "Checkpoints",
      data.categories.length > 1 && Bench.controls(Bench.select(
        "Category", [["all", "all"], ...data.categories.filter((one) => inRuns.some((row) => row.category === one))], chosen.category, (category) => change({ category }),
      )),
      Bench.curves(`${Bench.metric(chosen.metric)} by step${chosen.category === "all" ? "" : `: ${Bench.words(chosen.category)}`}`, rows,
        lines(page, among).filter((line) => chosen.category === "all" || line.name !== "chance"),
        { label: Bench.metric(chosen.metric), note: "Bands: 95 % intervals. Dashed: blind baselines. Hollow: more than a tenth of the responses is unread." }),
    );
  }

  function stepOf(index, name) {
    const model = index.model(name);
    return model && model.run !== null && model.step !== null ? { run: model.run, step: model.step } : { run: null, step: null };
  }

  function beside(page, all) {
    const { task, data, chosen } = page;
    const fits = data.published.filter((row) => row.metric === chosen.metric && row.condition === chosen.condition && row.category === "all");
    const inTable = fits.filter((row) => row.source === chosen.table);
    const printed = inTable.length ? inTable : fits;
    const sources = [...new Set(printed.map((row) => row.source))];
    const ours = all.filter((row) => row.value !== null);
    if (!ours.length && !printed.length) return null;
    return section(
      printed.length ? "Published against measured here" : "Measured here",
      Bench.dots(`${Bench.metric(chosen.metric)}, over all questions`, ours, printed, lines(page, all), {
        label: Bench.metric(chosen.metric), order: Bench.byMerit(task, chosen.metric),
        legend: [["measured here, with its 95 % interval", "var(--c1)"], ...(printed.length ? [["as papers print it", "var(--quiet)", "hollow"]] : [])],
        note: printed.length ? `Published: ${sources.join("; ")}, on their questions; measured here: edition ${chosen.edition}. The two are not comparable.` : null,
      }),
    );
  }

  function tables(page) {
    const { task, data, chosen, change } = page;
    const found = Bench.paperTables(data, task);
    const table = found.find((one) => one.name === chosen.table) || found[0];
    const rows = data.rows.filter((row) => row.edition === chosen.edition);
    const link = (row) => Bench.link(["samples", task.name], {
      model: row.model, condition: row.condition === "main" ? "" : row.condition, category: row.category === "all" ? "" : row.category,
    });
    return wideSection(
      "As the paper has it",
      found.length > 1 && Bench.controls(Bench.select("Table", found.map((one) => [one.name, one.name || "by category, measured here alone"]), table.name, (name) => change({ table: name }))),
      Bench.paperTable(task, table, rows, link),
      Bench.h("p", { class: "note" }, "Numbers measured here link to their samples. "),
    );
  }

  function categories(page, here) {
    const { task, data, chosen, index } = page;
    const rows = here.filter((row) => row.category !== "all" && row.value !== null);
    const names = data.categories.filter((one) => rows.some((row) => row.category === one));
    if (names.length < 2) return [];
    const whole = here.filter((row) => row.category === "all").sort(Bench.byMerit(task, chosen.metric)).map((row) => row.model);
    const models = [...new Set(rows.map((row) => row.model))].sort((a, b) => whole.indexOf(a) - whole.indexOf(b));
    const few = chosenFew(index, models.filter((model) => rows.some((row) => row.model === model && (row.value > 0 || Bench.isLowestBest(task, chosen.metric)))), chosen.model);
    const around = names.slice(0, 16);
    const sectionOf = names.length > 16 ? wideSection : section;
    return [sectionOf(
      "By category",
      Bench.heat(`${Bench.metric(chosen.metric)} by category`, rows, names, models),
    ), around.length > 2 && few.length > 0 && section("Profiles", Bench.radar(few.length > 1 ? `Profiles of ${few.length} models` : `Profile of ${few[0]}`, rows.filter((row) => few.includes(row.model)), around, few, {
        note: names.length > around.length ? `The first ${around.length} of ${names.length} categories.` : null,
      }))];
  }

  /** At most four models for a radar chart: the chosen one, then the best; baselines last. */
  function chosenFew(index, models, first) {
    const isBaseline = (name) => Bench.isBaseline(index.model(name) || { name });
    const ordered = [...models].sort((a, b) => (b === first) - (a === first) || isBaseline(a) - isBaseline(b));
    return ordered.slice(0, 4);
  }

  function conditions(page, rows) {
    const { task, chosen } = page;
    const over = rows.filter((row) => row.category === "all" && row.value !== null);
    const names = Object.keys(task.conditions).filter((name) => over.some((row) => row.condition === name));
    if (names.length < 2) return null;
    const several = [...new Set(over.map((row) => row.model))].filter((model) => new Set(over.filter((row) => row.model === model).map((row) => row.condition)).size > 1);
    const shown = over.filter((row) => several.includes(row.model));
    return section(
      "Conditions",
      several.length > 0 && Bench.bars(`${Bench.metric(chosen.metric)} by condition`, shown, names, several, [], { label: Bench.metric(chosen.metric) }),
      Bench.h("dl", { class: "facts" }, names.map((name) => [Bench.h("dt", {}, Bench.words(name)), Bench.h("dd", {}, Bench.printable(task.conditions[name]))])),
    );
  }
})();
