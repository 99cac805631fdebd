/* Provenance of a number: signature, checks, funnel, decisions, rejections and sources. */
"use strict";
(() => {
  const FEW = 8; // rows of a list that are not folded

  Bench.page("/number/:slug", async (main, params, query) => {
    if (!Bench.has(`number-${params.slug}`)) throw new Error(`This report has no number named ${params.slug}.`);
    const [index, number] = await Promise.all([Bench.index(), Bench.data(`number-${params.slug}`)]);
    if (!number.lineage) throw new Error("This is a task, not a number. Choose a number on the task's page.");
    const task = index.task(number.task);
    const [lineage, sources] = await Promise.all([Bench.data(number.lineage), Bench.data("parser")]);
    const names = number.conditions.map((one) => one.name);
    const condition = number.conditions.find((one) => one.name === query.get("condition")) || number.conditions[0];
    main.append(
      Bench.title([number.model, lineage.title].join(" on ")),
      Bench.h(
        "p", { class: "ways no-print" }, Bench.h("a", { href: Bench.link(["task", number.task], { model: number.model }) }, "Its task"),
        Bench.h("a", { href: Bench.link(["samples", number.task], asked(number, condition)) }, "Its samples"),
        Bench.h("a", { href: Bench.link(["compare"], { b: number.model, task: number.task }) }, "Compare it"),
      ),
      names.length > 1 ? Bench.controls(Bench.select("Condition", names, condition.name, (name) => {
        location.hash = Bench.link(["number", params.slug], { condition: name });
      })) : "",
    );
    Bench.append(main, [
      value(task, condition), spelled(condition), parser(sources), checks(number, lineage, condition.name, task ? Object.keys(task.conditions) : []),
      ...funnels(lineage), ...stages(lineage), rejections(lineage), source(lineage), problems(lineage),
    ]);
  });

  function asked(number, condition) {
    return { model: number.model, condition: condition.name === "main" ? "" : condition.name };
  }

  function section(title, ...children) {
    return Bench.h("section", {}, Bench.h("h2", {}, title), children);
  }

  /** The number, with its counts, other metrics and calibration. */
  function value(task, condition) {
    if (condition.problem) return Bench.h("p", { class: "problem" }, Bench.foreign(condition.problem));
    const primary = condition.metrics.find((row) => task && row.metric === task.metric) || condition.metrics[0];
    if (!primary) return Bench.h("p", {}, "Nothing was measured.");
    const others = condition.metrics.filter((row) => row !== primary);
    return [
      Bench.h(
        "p", { class: "the-number" }, Bench.h("b", {}, Bench.shown(primary)), ` ${Bench.metric(primary.metric)} `,
        Bench.besideValue(primary) && Bench.h("span", { class: "quiet" }, `(95 % interval ${Bench.besideValue(primary)})`),
      ),
      facts(condition.facts.slice(1)),
      others.length > 0 && Bench.table([
        { key: "metric", title: "Other metrics", value: (row) => Bench.metric(row.metric) },
        { key: "value", title: "Value", number: true, cell: (row) => Bench.shown(row) },
        { key: "low", title: "95 % interval", number: true, cell: (row) => (row.low === row.high ? "" : Bench.besideValue(row)) },
        { key: "n_scored", title: "n", number: true },
      ], others, { label: "Other metrics", heading: "metric" }),
      condition.calibration && Bench.h("figure", {}, Bench.h("img", {
        src: condition.calibration, alt: "Left: accuracy of answers by their confidence. Right: accuracy of the most confident answers.",
      }), Bench.h("figcaption", { class: "note" }, "Calibration: where dots lie on the line, accuracy equals confidence.")),
    ];
  }

  /** The facts that the terminal prints beside a number; commands as code. */
  function facts(lines) {
    return Bench.h("dl", { class: "facts" }, lines.map(([label, text], i) => [
      Bench.h("dt", {}, i && lines[i - 1][0] === label ? "" : label), Bench.h("dd", {}, Bench.foreign(text, label === "next" ? "code" : "span")),
    ]));
  }

  function spelled(condition) {
    if (!condition.parts || !condition.parts.length) return null;
    return section(
      "Signature: what reproducing the number takes",
      Bench.h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Signature" }, Bench.h("table", { class: "spelled", "aria-label": "Signature, spelled out" }, Bench.h(
        "tbody", {}, condition.parts.map((part) => Bench.h(
          "tr", {}, Bench.h("th", { scope: "row" }, Bench.words(part.name)), Bench.h("td", {}, Bench.foreign(part.value, "code")),
          Bench.h("td", { class: "quiet" }, Bench.foreign(part.meaning)),
        )),
      ))),
      Bench.h("p", { class: "note" }, "In one line:"), Bench.foreign(condition.signature, "code", { class: "signature" }),
    );
  }

  /** Shares of real responses that each parser reads, and reads rightly, by source. */
  function parser(sources) {
    const parsers = Object.keys(sources[0]).filter((name) => !["source", "n"].includes(name));
    const right = (cell) => (cell ? Number(cell.split("/")[1]) : null);
    return Bench.h("details", {}, Bench.h("summary", {}, "Parsers on real responses"), Bench.h(
      "p", { class: "note" }, "Read / right, in % of published responses to questions with options. Parsers of other projects are reimplemented from their published rules.",
    ), Bench.table([
      { key: "source", title: "Source" }, { key: "n", title: "n", number: true, value: (row) => Number(row.n) },
      ...parsers.map((name) => ({ key: name, title: name, number: true, value: (row) => right(row[name]), cell: (row) => row[name] || "–" })),
    ], sources, { label: "Parsers by source of responses", heading: "source" }));
  }

  function checks(number, lineage, condition, conditions) {
    const others = conditions.filter((name) => name !== condition && name !== "main");
    const ofAnother = (one) => others.some((name) => one.asset.includes(`/${name}/`));
    const isHere = (one) => condition === "main" || one.asset.includes(`/${condition}/`);
    const found = [...number.checks.filter((one) => isHere(one) && !ofAnother(one)), ...lineage.checks.filter((one) => !ofAnother(one))].sort((a, b) => a.passed - b.passed);
    if (!found.length) return section("Checks", Bench.h("p", { class: "note" }, "Nothing is known of checks: the home's Dagster instance has no records of them, or is not readable."));
    const failed = found.filter((one) => !one.passed).length;
    const row = (one) => Bench.h(
      "li", { class: one.passed ? "passed" : one.severity === "ERROR" ? "failed" : "warned" },
      Bench.h("span", { "aria-hidden": "true" }, one.passed ? "✓ " : "✗ "), Bench.foreign(one.sentence),
      Bench.h("small", { class: "quiet" }, ` ${Bench.printable(one.asset)}, ${one.when}`),
      one.examples.length > 0 && Bench.h("ul", {}, one.examples.map((example) => Bench.h("li", {}, Bench.foreign(example)))),
    );
    return section(
      "Checks",
      Bench.h("p", {}, failed ? `${failed} of ${found.length} checks found something.` : `All ${found.length} checks passed.`),
      few(found.map(row), "checks", "checks"),
    );
  }

  /** A list with all but the first items folded. */
  function few(items, what, kind) {
    const list = (some) => Bench.h("ul", { class: kind }, some);
    if (items.length <= FEW + 2) return list(items);
    return [list(items.slice(0, FEW)), Bench.h("details", {}, Bench.h("summary", {}, `${items.length - FEW} more ${what}`), list(items.slice(FEW)))];
  }

  function funnels(lineage) {
    return lineage.funnels.map((funnel) => {
      const most = Math.max(1, ...funnel.steps.map((step) => step.n || 0));
      return section(
        funnel.table.endsWith("funnel") ? "The funnel" : `Counts: ${Bench.words(funnel.table)}`,
        Bench.table([
          { key: "step", title: "Step" }, { key: "n", title: funnel.heads[0], number: true },
          { key: "bar", title: "Share", plain: true, value: () => "", cell: (step) => bar((step.n || 0) / most) },
          { key: "beside", title: funnel.heads[1], number: true },
        ], funnel.steps, { label: funnel.table, heading: "step", class: "funnel" }),
      );
    });
  }

  function bar(share) {
    return Bench.svg(
      "svg", { class: "share", width: 160, height: 10, "aria-hidden": "true" },
      Bench.svg("rect", { width: Math.max(share > 0 ? 1 : 0, 160 * share), height: 10, rx: 2 }),
    );
  }

  /** Decisions of each stage, with counts and images. */
  function stages(lineage) {
    return lineage.stages.map((stage) => section(
      `Decided: ${Bench.words(stage.table.split("/").pop())}`,
      Bench.h("p", { class: "note" }, `${Bench.count(stage.n)} in table ${stage.table}`),
      stage.groups.slice(0, FEW).map((group) => Bench.h(
        "div", { class: "decided" },
        Bench.h(
          "p", {}, Bench.h("b", {}, Bench.foreign(group.decision)), group.reason && [": ", Bench.foreign(group.reason)],
          Bench.h("span", { class: "quiet" }, ` – ${Bench.count(group.n)}`),
        ),
        Bench.h("ul", { class: "examples" }, group.examples.map((one) => example(one, lineage.images))),
      )),
      stage.groups.length > FEW && Bench.h("p", { class: "note" }, `and ${stage.groups.length - FEW} other reasons`),
    ));
  }

  function example(one, images) {
    const shown = one.images.map((digest) => images[digest]).filter(Boolean);
    return Bench.h(
      "li", { title: Bench.printable(one.reason) },
      shown.map(([full, small]) => Bench.h("a", { href: full }, Bench.h("img", { src: small, alt: `Image of ${Bench.printable(one.entry)}`, loading: "lazy" }))),
      Bench.foreign(one.entry, "small"),
    );
  }

  function rejections(lineage) {
    const tables = lineage.rejections;
    if (!tables.length) return section("Left out", Bench.h("p", {}, "No row of the source was left out."));
    return section("Left out, and why", tables.map((table) => [
      Bench.h("h3", {}, `${table.table}: ${Bench.count(table.n)}`),
      few(table.groups.map((group) => Bench.h(
        "li", {}, Bench.h("b", {}, `${Bench.count(group.n)} × `), Bench.foreign(group.reason),
        Bench.h("ul", { class: "quiet" }, group.examples.slice(0, 3).map((one) => Bench.h(
          "li", {}, Bench.foreign(one.entry), one.reason !== group.reason && [": ", Bench.foreign(one.reason)],
        ))),
      )), "reasons", "reasons"),
    ]));
  }

  function source(lineage) {
    const found = lineage.source;
    if (!found) return section("Source", Bench.h("p", { class: "note" }, "The suite has no table of source files."));
    const digest = (row) => Bench.h("code", { title: row.sha256 }, row.sha256.slice(0, 16));
    return section(
      "Source",
      Bench.h("p", {}, `${Bench.count(found.n)} files, ${bytes(found.n_bytes)}. ${Bench.count(lineage.questions.n)} questions were built from them, with the digest ${(lineage.questions.digest || "").slice(0, 12)}.`),
      Bench.h("details", {}, Bench.h("summary", {}, found.n > found.files.length ? `The ${found.files.length} largest files` : "The files"), Bench.table([
        { key: "path", title: "File" }, { key: "n_bytes", title: "Bytes", number: true },
        { key: "sha256", title: "SHA-256", cell: digest },
      ], found.files, { label: "Source files", heading: "path", sort: "-n_bytes" })),
    );
  }

  function bytes(n) {
    const units = ["bytes", "kB", "MB", "GB", "TB"];
    const power = n < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(n) / 3));
    return `${power ? (n / 1000 ** power).toFixed(1) : n} ${units[power]}`;
  }

  function problems(lineage) {
    return lineage.problems.length > 0 && section("Cannot be read", Bench.h("ul", {}, lineage.problems.map((one) => Bench.h("li", { class: "problem" }, Bench.foreign(one)))));
  }
})();
