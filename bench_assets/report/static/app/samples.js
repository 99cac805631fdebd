/* The sample browser: filters above, the list at the left, one sample beside it. */
"use strict";
(() => {
  const { samples } = Bench;
  const titleOf = (task) => (task.title && task.title !== task.name ? `${task.title} (${task.name})` : task.name);

  Bench.page("/samples", async (main) => {
    const { tasks } = await Bench.data("index");
    const there = tasks.filter((task) => Bench.has(`samples-${task.slug}`));
    Bench.append(main, [
      Bench.title("Samples"),
      Bench.h("p", {}, "Every question with its images and all responses."),
      Bench.h("ul", {}, there.map((task) => Bench.h(
        "li", {}, Bench.h("a", { href: Bench.link(["samples", task.name]) }, Bench.foreign(titleOf(task))),
      ))),
      !there.length && Bench.h("p", { class: "quiet" }, "No task has questions yet."),
    ]);
  });

  Bench.page("/samples/:task", async (main, params, query) => {
    const index = await Bench.data("index");
    const task = index.tasks.find((one) => one.name === params.task || one.slug === params.task);
    if (!task || !Bench.has(`samples-${task.slug}`)) throw new Error(`This report has no samples of ${params.task}.`);
    const about = await Bench.data(`samples-${task.slug}`);
    const chosen = samples.state(query);
    const condition = about.conditions.find((one) => one.name === chosen.condition) || about.conditions[0];
    const heading = Bench.title(`${about.title}: samples`);
    if (condition.problem || !condition.n) {
      const why = condition.problem ? Bench.h("p", { class: "problem" }, Bench.foreign(condition.problem)) : Bench.h("p", {}, "There are no questions.");
      main.append(heading, why);
      return;
    }
    const known = new Map((index.models || []).map((model) => [model.name, model]));
    const view = { task, about, chosen, condition, known, chunk: about.chunk };
    view.questions = await Bench.data(`${condition.questions}-questions`);
    await withModels(view);
    if (main.isConnected) samples.browse(main, heading, view);
  });

  /** Load the outcomes of the shown models. */
  async function withModels(view) {
    const { condition, chosen, known } = view;
    view.models = samples.chosenModels(condition.models, chosen, known);
    const earlier = samples.before(view.models[0], condition.models, known);
    const wanted = [...view.models, ...(earlier && !view.models.includes(earlier) ? [earlier] : [])];
    const found = await Promise.all(wanted.map((model) => outcomesOf(model)));
    view.outcomes = new Map(wanted.map((model, i) => [model, found[i]]));
    view.earlier = earlier;
  }

  async function outcomesOf(model) {
    try {
      return Bench.has(`${model.data}-points`) ? samples.unpacked(await Bench.data(`${model.data}-points`)) : null;
    } catch (why) {
      model.problem = why.message;
      return null;
    }
  }
})();
