/* Comparison of two models on one task: what differs, by category, and by question with images. */
"use strict";
(() => {
  const STEP = 12; // questions shown at once

  /** Draw it; row: {task, rows: [A's, B's], found}. */
  async function drawTask(place, index, chosen, row) {
    const { task } = row;
    place.append(Bench.h("h2", {}, Bench.h("a", { href: Bench.link(["task", task.name]) }, Bench.printable(task.title))));
    const [signatures, data] = await Promise.all([signature(index, row), questions(index, row)]);
    Bench.append(place, [
      await Bench.compare.moved(index, row, chosen, data), differs(signatures, command(task, chosen)), await categories(task, chosen), await curve(index, task, chosen), data ? moved(task, chosen, data)
        : Bench.h("p", { class: "note" }, "The report lacks the samples of one or both, so single questions cannot be shown."),
    ]);
  }

  /** The equivalent command; names with blanks or quotes are quoted. */
  function command(task, { a, b, ca, cb }) {
    const word = (name) => (/^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
    if (ca === cb) return `bench tables diff ${word(a)} ${word(b)} --suite ${task.name}${ca === "main" ? "" : ` --condition ${ca}`}`;
    return a === b ? `bench tables diff ${ca} ${cb} --model ${word(a)} --suite ${task.name}` : `bench tables diff ${word(a)} ${word(b)} --suite ${task.name}`;
  }

  /** The signatures of both, part by part. */
  async function signature(index, { task, rows }) {
    return Promise.all(rows.map(async (row) => {
      const name = `number-${task.slug}-${index.model(row.model).slug}`;
      if (!Bench.has(name)) return new Map();
      const of = (await Bench.data(name)).conditions.find((one) => one.name === Bench.asked(row));
      return new Map(((of && of.parts) || []).map((part) => [part.name, part]));
    }));
  }

  function differs([old, now], command) {
    const names = [...new Set([...old.keys(), ...now.keys()])].filter((name) => name !== "n" && name !== "no_answer");
    const value = (parts, name) => (parts.has(name) ? parts.get(name).value : "");
    const changed = names.filter((name) => value(old, name) !== value(now, name));
    if (!names.length) return null;
    const same = names.filter((name) => !changed.includes(name));
    return Bench.h(
      "section", {}, Bench.h("h3", {}, "What differs"),
      changed.length ? Bench.table([
        { key: "name", title: "Part", plain: true }, { key: "a", title: "A", plain: true }, { key: "b", title: "B", plain: true },
        { key: "meaning", title: "Meaning", plain: true },
      ], changed.map((name) => ({
        name: Bench.words(name), a: value(old, name), b: value(now, name), meaning: (now.get(name) || old.get(name)).meaning,
      })), { label: "What differs", heading: "name", class: "spelled" }) : Bench.h("p", {}, "Nothing: the same questions, prompts, model, judge and scorer."),
      same.length > 0 && Bench.h("p", { class: "note" }, `The same: ${same.map(Bench.words).join(", ")}.`),
      changed.length > 0 && Bench.h("p", { class: "note" }, "The same in a terminal: ", Bench.h("code", {}, command), "."),
    );
  }

  async function categories(task, chosen) {
    if (!Bench.has(`task-${task.slug}`)) return null;
    const rows = Bench.rows((await Bench.data(`task-${task.slug}`)).rows).filter((row) => row.metric === task.metric && row.category !== "all" && row.value !== null);
    const of = (model, condition) => new Map(rows.filter((row) => row.model === model && row.condition === condition).map((row) => [row.category, row]));
    const [a, b] = [of(chosen.a, chosen.ca), of(chosen.b, chosen.cb)];
    const both = [...a.keys()].filter((name) => b.has(name));
    if (both.length < 2) return null;
    return Bench.h(
      "section", {}, Bench.h("h3", {}, "By category"),
      Bench.table([
        { key: "category", title: "Category", value: (row) => Bench.words(row.category) },
        { key: "a", title: "A", number: true, cell: (row) => Bench.number(row.a) },
        { key: "b", title: "B", number: true, cell: (row) => Bench.number(row.b) },
        { key: "change", title: "Difference", number: true, cell: (row) => Bench.h("b", {}, Bench.signed(row.change)) },
        { key: "n", title: "n", number: true },
      ], both.map((category) => ({
        category, a: a.get(category).value, b: b.get(category).value, n: b.get(category).n_scored,
        change: b.get(category).value - a.get(category).value,
      })), { label: "By category", heading: "category", sort: Bench.isLowestBest(task) ? "-change" : "change" }),
    );
  }

  /** Curves of the runs of both models, with all checkpoints. */
  async function curve(index, task, chosen) {
    const models = [chosen.a, chosen.b].map((name) => index.model(name)).filter((one) => one && one.run !== null && one.step !== null);
    const runs = [...new Set(models.map((one) => one.run))];
    const rows = index.rows.filter((row) => row.task === task.name && row.condition === chosen.cb && row.value !== null)
      .map((row) => ({ ...row, run: (index.model(row.model) || {}).run, step: (index.model(row.model) || {}).step }))
      .filter((row) => runs.includes(row.run) && row.step !== null);
    if (rows.length < 2) return null;
    return Bench.h("section", {}, Bench.curves(runs.length > 1 ? "Both runs" : models.length > 1 ? "The run of both" : `The run of ${models[0].name === chosen.a ? "A" : "B"}`, rows, [], { label: Bench.words(task.metric), note: "Bands are 95 % intervals." }));
  }

  /** Sample data of both: questions, and the share of points of each; null if missing. */
  async function questions(index, { task, rows }) {
    const name = `samples-${task.slug}`;
    if (!Bench.has(name) || !Bench.samples) return null;
    const about = await Bench.data(name);
    const sides = rows.map((row) => {
      const condition = about.conditions.find((one) => one.name === Bench.asked(row));
      const model = condition && condition.models.find((one) => one.slug === index.model(row.model).slug);
      return model && !model.problem && Bench.has(`${model.data}-points`) ? { condition, model } : null;
    });
    if (sides.some((side) => !side)) return null;
    return Promise.all(sides.map(async ({ condition, model }) => {
      const [listed, points] = await Promise.all([Bench.data(`${condition.questions}-questions`), Bench.data(`${model.data}-points`)]);
      return { listed, model, asked: condition.questions, chunk: about.chunk, of: Bench.samples.unpacked(points) };
    }));
  }

  function moved(task, chosen, [a, b]) {
    const places = a.listed === b.listed ? null : new Map(a.listed.ids.map((id, row) => [id, row]));
    const all = b.listed.ids.map((id, row) => {
      const at = places ? places.get(id) : row;
      return { id, a: at, b: row, change: at === undefined ? NaN : b.of.shares[row] - a.of.shares[at] };
    });
    const worse = all.filter((one) => one.change < 0).sort((x, y) => x.change - y.change);
    const better = all.filter((one) => one.change > 0).sort((x, y) => y.change - x.change);
    const only = all.filter((one) => one.a === undefined).length;
    const gone = places ? a.listed.ids.filter((id) => !b.listed.ids.includes(id)).length : 0;
    const same = all.filter((one) => one.change === 0).length;
    return [
      Bench.h(
        "p", {}, `${Bench.count(worse.length)} questions got worse, ${Bench.count(better.length)} better, ${Bench.count(same)} did not change`,
        only > 0 && `, ${Bench.count(only)} are asked of B only`, gone > 0 && `, ${Bench.count(gone)} of A only`, ".",
      ),
      list("Got worse", "worse", worse, task, chosen, a, b), list("Got better", "better", better, task, chosen, a, b),
    ];
  }

  function list(title, kind, found, task, chosen, a, b) {
    if (!found.length) return null;
    const cards = Bench.h("ul", { class: `moved ${kind}` });
    const more = Bench.h("button", { type: "button", class: "plain no-print", onclick: () => show() });
    let shown = 0;
    function show() {
      for (const one of found.slice(shown, shown + STEP)) cards.append(card(one, task, chosen, a, b));
      shown = Math.min(found.length, shown + STEP);
      if (shown === found.length) more.remove();
      else more.textContent = `${Math.min(STEP, found.length - shown)} more of ${found.length - shown}`;
    }
    show();
    const rest = shown < found.length && more;
    return Bench.h("section", {}, Bench.h("h3", {}, `${title} (${Bench.count(found.length)})`), cards, rest);
  }

  function card(one, task, chosen, a, b) {
    const images = Bench.samples.images(b.listed, one.b).filter((image) => image.small);
    const said = Bench.h("dl", { class: "said" });
    responses(said, one, a, b);
    const gold = Bench.h("p", { class: "quiet" });
    answer(gold, one, b);
    const link = Bench.link(["samples", task.name], {
      condition: chosen.cb === "main" ? "" : chosen.cb, model: chosen.b, beside: chosen.ca === chosen.cb ? chosen.a : "", sample: one.id,
    });
    return Bench.h(
      "li", {},
      Bench.h("div", { class: "thumbs" }, images.slice(0, 3).map((image) => Bench.h("img", { src: image.small, alt: image.alt, loading: "lazy" }))),
      Bench.h("p", {}, Bench.foreign(b.listed.texts[one.b])),
      gold,
      said,
      Bench.h("p", {}, Bench.h("a", { href: link }, Bench.foreign(one.id)), Bench.h("span", { class: "quiet" }, ` ${Bench.signed(one.change, 2)}`)),
    );
  }

  /** Load and append the right answer. */
  async function answer(place, one, side) {
    const rows = await Bench.data(`${side.asked}-texts-${Math.floor(one.b / side.chunk)}`).catch(() => []);
    const gold = (rows[one.b % side.chunk] || {}).answer || [];
    place.append("Answer: ", gold.length ? Bench.foreign(gold.join(" | ")) : "not known");
  }

  /** Load and append the responses of both. */
  async function responses(place, one, a, b) {
    const texts = await Promise.all([[a, one.a], [b, one.b]].map(async ([side, row]) => {
      const name = `${side.model.data}-responses-${Math.floor(row / side.chunk)}`;
      if (!Bench.has(name)) return "";
      const samples = (await Bench.data(name).catch(() => []))[row % side.chunk] || [];
      return samples.map((sample) => text(sample)).join(" / ");
    }));
    texts.forEach((said, i) => place.append(Bench.h("dt", {}, i ? "B" : "A"), Bench.h("dd", {}, said ? Bench.foreign(said) : Bench.h("span", { class: "quiet" }, "(nothing)"))));
  }

  /** A response as scored, shortened. */
  function text(sample) {
    const ranked = sample.ranking && sample.ranking.join(" > ");
    const said = sample.text || ranked || sample.raw || sample.error || sample.no_answer || "";
    const first = Array.isArray(said) ? said[0] : said;
    return first.length > 160 ? `${first.slice(0, 159)}…` : first;
  }

  Bench.compare.task = drawTask;
})();
