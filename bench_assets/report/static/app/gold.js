/* Gold: proposed questions, what the votes on their keys decided, and what is open. */
"use strict";
(() => {
  Bench.page("/gold", async (main) => {
    const suites = await Bench.data("gold");
    const rows = suites.flatMap((one) => one.funnel.map((row) => ({ ...row, suite: one.suite })));
    main.append(
      Bench.title("Gold"),
      Bench.h("p", {}, "Questions that were made from others, with their keys. A rule and two solvers vote on each key; people decide what stays open."),
    );
    if (rows.length) main.append(funnel(rows));
    const problems = suites.filter((one) => one.problem);
    if (problems.length) main.append(Bench.h("ul", { class: "problem" }, problems.map((one) => Bench.h("li", {}, Bench.foreign(one.suite), ": ", Bench.foreign(one.problem)))));
    Bench.append(main, suites.map(open));
  });

  function funnel(rows) {
    const count = (key, title, hint) => ({ key, title, number: true, value: (row) => row[key], hint });
    return Bench.table([
      { key: "suite", title: "Suite", value: (row) => row.suite },
      { key: "construction", title: "Construction", value: (row) => row.construction },
      count("proposed", "Proposed"),
      count("by_form", "By form", "a rule proves or recalculates the key"),
      count("agreed", "Agreed", "accepted by the votes of solvers"),
      count("open", "Open"),
      count("rejected", "Rejected"),
      count("decided_by_people", "By people"),
      count("accepted", "Accepted"),
      { key: "share", title: "Yield", number: true, value: (row) => row.accepted / row.proposed, cell: (row) => Bench.number(row.accepted / row.proposed) },
      { key: "wrong", title: "Wrong", number: true, value: (row) => row.wrong_share, cell: wrong, hint: "of the accepted that people judged, with the 95 % interval" },
    ], rows, { label: "Proposed questions by construction", heading: "construction", sort: "suite" });
  }

  function wrong(row) {
    if (!row.checked) return "not checked";
    const interval = ` ${row.wrong} of ${row.checked} (${Bench.number(row.wrong_low)} to ${Bench.number(row.wrong_high)})`;
    return Bench.h("span", {}, Bench.number(row.wrong_share), Bench.h("span", { class: "quiet" }, interval));
  }

  function open(one) {
    if (!one.open.length) return null;
    return Bench.h(
      "section", {}, Bench.h("h2", {}, `Open: ${one.suite}`),
      Bench.h("p", { class: "note" }, "People decide these: ", Bench.h("code", {}, `bench annotate proposals ${one.suite}`)),
      Bench.h("ul", { class: "suspects" }, one.open.map(proposal)),
    );
  }

  function proposal(row) {
    const line = (name, text) => text && Bench.h("p", {}, Bench.h("span", { class: "quiet" }, `${name}: `), Bench.foreign(text));
    return Bench.h(
      "li", {}, Bench.h("p", {}, Bench.foreign(row.id, "b"), " ", Bench.foreign(row.construction)),
      line("Before", row.before), line("Question", row.question), line("The image will show", row.shows),
      line("Key", row.why ? `${row.key} (${row.why.replaceAll("\n", "; ")})` : row.key),
      row.votes.map(([solver, vote, last]) => Bench.h("p", { class: "evidence" }, Bench.foreign(solver), `, ${vote}: `, Bench.foreign(last))),
    );
  }
})();
