/* What people were asked when benchmarks were made: how far they are, how well, what they differ on. */
"use strict";
(() => {
  Bench.page("/people", async (main) => {
    const forms = await Bench.data("people");
    const asked = forms.filter((one) => one.data);
    main.append(
      Bench.title("People"),
      Bench.h("p", {}, "Votes, captions, annotations and reviews by persons, who are pseudonyms here. An item with too few answers is open: neither kept nor dropped."),
    );
    if (asked.length) main.append(overview(asked));
    else main.append(Bench.h("p", {}, "Nobody was asked anything. ", Bench.h("code", {}, "bench annotate forms"), " lists what can be asked."));
    Bench.append(main, [unreadable(forms), others(forms.filter((one) => !one.data && !one.problem))]);
  });

  Bench.page("/people/:form", async (main, params) => {
    const about = (await Bench.data("people")).find((one) => one.form === params.form);
    if (!about) throw new Error(`This report has no form named ${params.form}.`);
    main.append(Bench.title(about.title), Bench.h("p", { class: "ways no-print" }, Bench.h("a", { href: "#/people" }, "All forms")));
    if (!about.data) {
      Bench.append(main, [unreadable([about]) || Bench.h("p", {}, "Nobody was asked this.")]);
      return;
    }
    const found = await Bench.data(about.data);
    Bench.append(main, [sentence(about.progress), people(found.people), disputed(found.disputed), reasons(found.reasons)]);
  });

  const day = (at) => (at ? at.slice(0, 10) : "");
  const number = (value, digits = 2) => (value === null || value === undefined ? "" : value.toFixed(digits));

  function overview(forms) {
    return Bench.table([
      { key: "form", title: "Form", value: (one) => one.form, cell: (one) => Bench.h("a", { href: Bench.link(["people", one.form]) }, Bench.printable(one.form)) },
      { key: "items", title: "Items", number: true, value: (one) => one.progress.items },
      { key: "done", title: "Done", number: true, value: (one) => one.progress.done },
      { key: "open", title: "Open", number: true, value: (one) => one.progress.items - one.progress.done, hint: "with too few answers" },
      { key: "answers", title: "Answers", number: true, value: (one) => one.progress.answers },
      { key: "refused", title: "Do not count", number: true, value: (one) => one.progress.refused },
      { key: "people", title: "People", number: true, value: (one) => one.progress.people.length },
      { key: "finished", title: "Finished", value: (one) => one.progress.finished_at, cell: (one) => finished(one.progress), hint: "at the speed of the last days" },
    ], forms, { label: "Forms that were asked", heading: "form", sort: "form" });
  }

  function finished(progress) {
    if (!progress.lacking) return progress.items ? "done" : "";
    return day(progress.finished_at) || "nobody answers";
  }

  function sentence(progress) {
    const open = progress.items - progress.done;
    const when = progress.lacking && progress.finished_at ? ` At ${progress.per_day.toFixed(1)} answers a day that is done on ${day(progress.finished_at)}.` : "";
    const missing = open ? `; open: ${Bench.count(open)}, answers they lack: ${Bench.count(progress.lacking)}` : "";
    return Bench.h("p", { class: "summary" }, `${Bench.count(progress.done)} of ${Bench.count(progress.items)} items are done${missing}.${when}`);
  }

  function people(rows) {
    if (!rows.length) return Bench.h("p", {}, "Nobody has answered yet.");
    return Bench.h("section", {}, Bench.h("h2", {}, "Who answered"), Bench.table([
      { key: "person", title: "Person", value: (one) => one.person },
      { key: "n", title: "Answers", number: true, value: (one) => one.n_answers },
      { key: "refused", title: "Do not count", number: true, value: (one) => one.n_refused },
      { key: "skipped", title: "Skipped", number: true, value: (one) => one.n_skipped },
      { key: "seconds", title: "Seconds", number: true, value: (one) => one.seconds, cell: (one) => number(one.seconds, 1), hint: "median of an answer" },
      { key: "agreement", title: "As the others", number: true, value: (one) => one.agreement, cell: (one) => of(one.agreement, one.n_compared), hint: "share of the others who choose the same, and of how many choices" },
      { key: "alpha", title: "Alpha without", number: true, value: (one) => one.alpha_without, cell: (one) => number(one.alpha_without), hint: "Krippendorff's, of the others alone" },
      { key: "gold", title: "Attention", number: true, value: (one) => one.gold, cell: (one) => of(one.gold, one.n_gold), hint: "share of attention checks that is right" },
      { key: "drift", title: "Drift", number: true, value: (one) => one.drift, cell: (one) => of(one.drift, one.n_drift), hint: "agreement in the second half less that in the first" },
      { key: "anchoring", title: "Anchoring", number: true, value: (one) => one.anchoring, cell: (one) => of(one.anchoring, Math.min(one.n_beside, one.n_alone)), hint: "said as the model: where its proposal was shown, less where it was not" },
    ], rows, { label: "People who answered", heading: "person", sort: "person" }));
  }

  function of(share, n) {
    return share === null || share === undefined ? "" : Bench.h("span", {}, number(share), Bench.h("span", { class: "quiet" }, ` of ${Bench.count(n)}`));
  }

  function disputed(rows) {
    if (!rows.length) return null;
    return Bench.h(
      "section", {}, Bench.h("h2", {}, "What people differ on"),
      Bench.h("p", { class: "note" }, "A second round asks these first: ", Bench.h("code", {}, "bench annotate queue"), " lists all."),
      Bench.h("ul", { class: "suspects" }, rows.map((one) => Bench.h(
        "li", {},
        one.images.length > 0 && Bench.h("div", { class: "thumbs" }, one.images.map(([, small]) => Bench.h("img", { src: small, alt: `Image of ${Bench.printable(one.item_id)}`, loading: "lazy" }))),
        Bench.h("p", {}, Bench.foreign(one.item_id, "b")),
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

  function unreadable(forms) {
    const found = forms.filter((one) => one.problem);
    return found.length > 0 && Bench.h("ul", { class: "problem" }, found.map((one) => Bench.h("li", {}, Bench.foreign(one.form), ": ", Bench.foreign(one.problem))));
  }

  function others(forms) {
    if (!forms.length) return null;
    return Bench.h(
      "section", {}, Bench.h("h2", {}, "Not asked"),
      Bench.h("ul", {}, forms.map((one) => Bench.h("li", {}, Bench.foreign(one.title), Bench.h("span", { class: "quiet" }, ` ${Bench.printable(one.form)}; ${Bench.printable(one.about)}`)))),
    );
  }
})();
