/* Annotation tasks: progress, annotator quality, disagreement. */
"use strict";
(() => {
  Bench.page("/annotation", async (main) => {
    const tasks = await Bench.data("annotation");
    const asked = tasks.filter((one) => one.data);
    main.append(
      Bench.title("Annotation"),
      Bench.h("p", {}, "Votes, captions, annotations and reviews by people, shown as pseudonyms. A unit with too few answers is open: neither kept nor dropped."),
    );
    if (asked.length) main.append(overview(asked));
    else main.append(Bench.h("p", {}, "No annotation task is configured. ", Bench.h("code", {}, "bench annotate tasks"), " lists the annotation tasks of all suites."));
    Bench.append(main, [unreadable(tasks), others(tasks.filter((one) => !one.data && !one.problem))]);
  });

  Bench.page("/annotation/:task", async (main, params) => {
    const about = (await Bench.data("annotation")).find((one) => one.task === params.task);
    if (!about) throw new Error(`This report has no annotation task named ${params.task}.`);
    main.append(Bench.title(about.title), Bench.h("p", { class: "ways no-print" }, Bench.h("a", { href: "#/annotation" }, "All tasks")));
    if (!about.data) {
      Bench.append(main, [unreadable([about]) || Bench.h("p", {}, "This task is not configured.")]);
      return;
    }
    const found = await Bench.data(about.data);
    Bench.append(main, [sentence(about.progress), annotators(found.annotators), disputed(found.disputed), reasons(found.reasons)]);
  });

  const day = (at) => (at ? at.slice(0, 10) : "");

  function overview(tasks) {
    return Bench.table([
      { key: "task", title: "Task", value: (one) => one.task, cell: (one) => Bench.h("a", { href: Bench.link(["annotation", one.task]) }, Bench.printable(one.task)) },
      { key: "units", title: "Units", number: true, value: (one) => one.progress.units },
      { key: "done", title: "Done", number: true, value: (one) => one.progress.done },
      { key: "open", title: "Open", number: true, value: (one) => one.progress.in_work + one.progress.untouched, hint: "with too few answers" },
      { key: "expired", title: "Expired", number: true, value: (one) => one.progress.expired, hint: "with too few answers at the deadline" },
      { key: "answers", title: "Answers", number: true, value: (one) => one.progress.answers },
      { key: "refused", title: "Do not count", number: true, value: (one) => one.progress.refused },
      { key: "annotators", title: "Annotators", number: true, value: (one) => one.progress.annotators.length },
      { key: "finished", title: "Finished", value: (one) => one.progress.finished_at, cell: (one) => finished(one.progress), hint: "estimated from the speed of the last days" },
    ], tasks, { label: "Annotation tasks", heading: "task", sort: "task" });
  }

  function finished(progress) {
    if (!progress.lacking) return progress.units ? "done" : "";
    return day(progress.finished_at) || "no answers";
  }

  function sentence(progress) {
    const open = progress.in_work + progress.untouched;
    const expired = progress.expired ? `; expired at the deadline: ${Bench.count(progress.expired)}` : "";
    const when = progress.lacking && progress.finished_at ? ` At ${Bench.number(progress.per_day, 1)} answers per day they are done on ${day(progress.finished_at)}.` : "";
    const missing = open ? `; open: ${Bench.count(open)}, answers they lack: ${Bench.count(progress.lacking)}` : "";
    return Bench.h("p", { class: "summary" }, `${Bench.count(progress.done)} of ${Bench.count(progress.units)} units are done${missing}${expired}.${when}`);
  }

  function annotators(rows) {
    if (!rows.length) return Bench.h("p", {}, "There are no answers yet.");
    return Bench.h("section", {}, Bench.h("h2", {}, "Annotators"), Bench.table([
      { key: "person", title: "Annotator", value: (one) => one.person },
      { key: "n", title: "Answers", number: true, value: (one) => one.n_answers },
      { key: "refused", title: "Do not count", number: true, value: (one) => one.n_refused },
      { key: "skipped", title: "Skipped", number: true, value: (one) => one.n_skipped },
      { key: "seconds", title: "Seconds", number: true, value: (one) => one.seconds, cell: (one) => Bench.number(one.seconds, 1), hint: "median of an answer" },
      { key: "agreement", title: "Agreement", number: true, value: (one) => one.agreement, cell: (one) => of(one.agreement, one.n_compared), hint: "share of the others' choices that are the same, and the number of choices" },
      { key: "alpha", title: "Alpha without", number: true, value: (one) => one.alpha_without, cell: (one) => Bench.number(one.alpha_without), hint: "Krippendorff's alpha of the other annotators" },
      { key: "gold", title: "Attention", number: true, value: (one) => one.gold, cell: (one) => of(one.gold, one.n_gold), hint: "share of attention checks answered right" },
      { key: "drift", title: "Drift", number: true, value: (one) => one.drift, cell: (one) => of(one.drift, one.n_drift), hint: "agreement in the second half minus that in the first" },
      { key: "anchoring", title: "Anchoring", number: true, value: (one) => one.anchoring, cell: (one) => of(one.anchoring, Math.min(one.n_beside, one.n_alone)), hint: "agreement with the model: with its proposal shown, minus without" },
    ], rows, { label: "Annotators", heading: "person", sort: "person" }));
  }

  function of(share, n) {
    return share === null || share === undefined ? "–" : Bench.h("span", {}, Bench.number(share), Bench.h("span", { class: "quiet" }, ` of ${Bench.count(n)}`));
  }

  function disputed(rows) {
    if (!rows.length) return null;
    return Bench.h(
      "section", {}, Bench.h("h2", {}, "Disagreement"),
      Bench.h("p", { class: "note" }, "A second round takes these units first: ", Bench.h("code", {}, "bench annotate queue"), " lists all."),
      Bench.h("ul", { class: "suspects" }, rows.map((one) => Bench.h(
        "li", {},
        one.images.length > 0 && Bench.h("div", { class: "thumbs" }, one.images.map(([, small]) => Bench.h("img", { src: small, alt: `Image of ${Bench.printable(one.unit_id)}`, loading: "lazy" }))),
        Bench.h("p", {}, Bench.foreign(one.unit_id, "b")),
        one.shown.map(([name, text]) => Bench.h("p", {}, Bench.h("span", { class: "quiet" }, Bench.foreign(name), ": "), Bench.foreign(text))),
        one.said.map(([label, votes]) => Bench.h("p", { class: "evidence" }, Bench.foreign(label), " ", Object.entries(votes).map(([what, n]) => `${Bench.printable(what) || "nothing"} ${n}`).join(", "))),
      ))),
    );
  }

  function reasons(rows) {
    if (!rows.length) return null;
    return Bench.h(
      "section", {}, Bench.h("h2", {}, "Why answers do not count"),
      Bench.h("ul", {}, rows.map(([why, n]) => Bench.h("li", {}, `${Bench.count(n)}: `, Bench.foreign(why)))),
    );
  }

  function unreadable(tasks) {
    const found = tasks.filter((one) => one.problem);
    return found.length > 0 && Bench.h("ul", { class: "problem" }, found.map((one) => Bench.h("li", {}, Bench.foreign(one.task), ": ", Bench.foreign(one.problem))));
  }

  function others(tasks) {
    if (!tasks.length) return null;
    return Bench.h(
      "section", {}, Bench.h("h2", {}, "Not configured"),
      Bench.h("ul", {}, tasks.map((one) => Bench.h("li", {}, Bench.foreign(one.title), Bench.h("span", { class: "quiet" }, ` ${Bench.printable(one.task)}; ${Bench.printable(one.about)}`)))),
    );
  }
})();
