/* Audit: whether the benchmarks can be trusted, and what should be reviewed. */
"use strict";
(() => {
  const FEW = 8; // suspects of a check that are shown at once

  Bench.page("/audit", async (main) => {
    const [index, tasks] = await Promise.all([Bench.index(), Bench.data("audit")]);
    const looked = tasks.filter((one) => one.data);
    main.append(
      Bench.title("Audit"),
      Bench.h("p", {}, "Does a benchmark measure what it claims? Each doubt is a suggestion for review: it changes no number."),
    );
    if (looked.length) main.append(overview(index, looked));
    Bench.append(main, [unreadable(tasks), missing(index, tasks.filter((one) => !one.data && !one.problem))]);
  });

  Bench.page("/audit/:task", async (main, params) => {
    const [index, tasks] = await Promise.all([Bench.index(), Bench.data("audit")]);
    const task = index.task(params.task);
    const about = tasks.find((one) => one.task === params.task);
    if (!task || !about) throw new Error(`This report has no task named ${params.task}.`);
    main.append(Bench.title(`${task.title}: audit`), back());
    if (!about.data) {
      Bench.append(main, [about.problem ? unreadable([about]) : missing(index, [about])]);
      return;
    }
    const found = await Bench.data(about.data);
    main.append(Bench.h("p", { class: "summary" }, sentence(about.checks)));
    const [blind, looked] = [skipped(found.checks), found.checks.filter((check) => !check.passed || !check.skipped)];
    Bench.append(main, [first(task, found.first), looked.map((check) => examined(task, check)), unlooked(blind)]);
  });

  const doubts = (checks) => checks.filter((check) => !check.passed);
  const skipped = (checks) => checks.filter((check) => check.passed && check.skipped);

  function back() {
    return Bench.h("p", { class: "ways no-print" }, Bench.h("a", { href: "#/audit" }, "All tasks"));
  }

  function sentence(checks) {
    const [found, none] = [doubts(checks).length, skipped(checks).length];
    const said = found ? `${found} of ${checks.length} checks found something to look at` : `None of ${checks.length} checks found anything`;
    return `${said}${none ? `; ${none} could not look` : ""}.`;
  }

  function overview(index, tasks) {
    const title = (one) => (index.task(one.task) || { title: one.task }).title;
    return Bench.table([
      { key: "task", title: "Task", value: title, cell: (one) => Bench.h("a", { href: Bench.link(["audit", one.task]) }, Bench.printable(title(one))) },
      { key: "doubts", title: "Doubts", number: true, value: (one) => doubts(one.checks).length, cell: (one) => Bench.h("b", {}, String(doubts(one.checks).length)) },
      { key: "checks", title: "Checks", number: true, value: (one) => one.checks.length },
      { key: "skipped", title: "Could not look", number: true, value: (one) => skipped(one.checks).length, hint: "too few models, or nothing to check" },
      { key: "found", title: "To look at", number: true, value: (one) => doubts(one.checks).reduce((n, check) => n + check.found, 0) },
      {
        key: "which", title: "What was found", plain: true, value: () => "",
        cell: (one) => doubts(one.checks).map((check) => Bench.words(check.check)).join(", ") || "nothing",
      },
    ], tasks, { label: "Audit by task", heading: "task", sort: "-doubts" });
  }

  function unreadable(tasks) {
    const found = tasks.filter((one) => one.problem);
    return found.length > 0 && Bench.h("ul", { class: "problem" }, found.map((one) => Bench.h("li", {}, Bench.foreign(one.task), ": ", Bench.foreign(one.problem))));
  }

  function missing(index, tasks) {
    if (!tasks.length) return null;
    return Bench.h(
      "section", {}, Bench.h("h2", {}, "Not audited"),
      Bench.h("p", {}, "These tasks were not audited yet. Each command audits one task, without asking a model; ", Bench.h("code", {}, "bench report"), " then shows the result:"),
      Bench.h("ul", { class: "commands" }, tasks.map((one) => Bench.h("li", {}, Bench.h("code", {}, `bench audit run ${one.task}`)))),
    );
  }

  function first(task, questions) {
    if (!questions.length) return null;
    return Bench.h(
      "section", {}, Bench.h("h2", {}, "Look at these first"),
      Bench.h("p", { class: "note" }, "Questions named by most doubts, then by their position in a doubt."),
      Bench.h("ul", { class: "suspects" }, questions.map((one) => card(task, one, one.said))),
    );
  }

  function examined(task, check) {
    const cards = check.suspects.map((one) => card(task, one, [one.evidence]));
    const list = (some) => Bench.h("ul", { class: check.passed ? "suspects cleared" : "suspects" }, some);
    const few = check.passed ? 0 : FEW; // suspects of a passed check are no doubts: they are folded
    const rest = cards.slice(few);
    const mark = check.passed ? "✓" : "✗";
    return Bench.h(
      "section", { class: "examined" },
      Bench.h("h2", {}, Bench.h("span", { "aria-hidden": "true", class: check.passed ? "sound" : "doubt" }, `${mark} `), Bench.foreign(check.question)),
      Bench.h("p", {}, Bench.foreign(check.sentence), Bench.h("span", { class: "quiet" }, ` ${Bench.words(check.check)}, of ${Bench.count(check.n)}`)),
      few > 0 && cards.length > 0 && list(cards.slice(0, few)),
      rest.length > 0 && Bench.h("details", {}, Bench.h("summary", {}, few ? `${rest.length} more` : `${rest.length} that it names`), list(rest)),
      check.more > 0 && Bench.h("p", { class: "note" }, `and ${Bench.count(check.more)} more in the table`),
    );
  }

  /** Skipped checks, with the reason. */
  function unlooked(checks) {
    if (!checks.length) return null;
    return Bench.h(
      "section", {}, Bench.h("h2", {}, "Could not look"),
      Bench.h("ul", {}, checks.map((check) => Bench.h("li", {}, Bench.foreign(check.question), Bench.h("span", { class: "quiet" }, " ", Bench.foreign(check.skipped))))),
    );
  }

  /** A suspect with its images and evidence; questions link to their samples. */
  function card(task, one, said) {
    const about = one.question === one.about ? one.about : one.about.length === 64 ? `image ${one.about.slice(0, 12)}` : one.about;
    const sample = Bench.link(["samples", task.name], { sample: one.question });
    return Bench.h(
      "li", {},
      one.images.length > 0 && Bench.h("div", { class: "thumbs" }, one.images.map(([, small]) => Bench.h("img", { src: small, alt: `Image of ${Bench.printable(one.question)}`, loading: "lazy" }))),
      one.text && Bench.h("p", {}, Bench.foreign(one.text)),
      said.map((evidence) => Bench.h("p", { class: "evidence" }, Bench.foreign(evidence))),
      Bench.h("p", {}, one.question ? Bench.h("a", { href: sample }, Bench.foreign(about)) : Bench.foreign(about, "b"),
        one.times > 1 && Bench.h("span", { class: "quiet" }, ` named by ${one.times} doubts`)),
    );
  }
})();
