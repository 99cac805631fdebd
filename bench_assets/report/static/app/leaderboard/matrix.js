/* The matrix of the first page: measured models, sorted, between blind baselines and published rows. */
import { pageLink } from "../base/addresses.js";
import { h, svg } from "../base/elements.js";
import { bestBaseline, bestFirst, bestValue, byMerit, chanceLevel, isBaseline, isBetter, isHidden, isLowestBest, isShownBetter, kindOf, lineEnds, markElements, notesOf, shortTitle, shownValue, suiteTitle, warningsOf } from "../base/results.js";
import { sortableTable } from "../base/table.js";
import { foreign, formatInterval, formatNumber, metricName, printable, shaded } from "../base/text.js";

/** @type {(index: Index, shown: Matrix, chosen: LeaderboardChoice, change: (changes: Query) => void) => HTMLElement} */
export function matrix(index, shown, chosen, change) {
  /** @type {Column<MatrixRow>[]} */
  const columns = [
    { key: "model", title: "Model", value: (row) => row.name, cell: nameCell },
    ...(shown.ranked ? [rankColumn(index, shown)] : []),
    ...shown.tasks.map((task) => taskColumn(index, task, shown, chosen)),
  ];
  /** @type {MatrixRow[]} */
  const rows = shown.models.map((one) => ({ ...one, name: one.model.name }));
  const isPrinted = chosen.published !== "none" && shown.published.length > 0;
  return sortableTable(columns, rows, {
    label: "Models and tasks", class: "leaderboard", heading: "model",
    sort: columns.some((column) => column.key === chosen.sort.replace(/^-/, "")) ? chosen.sort
      : shown.tasks.length === 1 ? bestFirst(shown.tasks[0], shown.tasks[0].name) : "model",
    onsort: (sort) => change({ sort }),
    groups: groups(index, shown),
    below: [{ class: "blind", title: "Blind baselines", rows: blindRows(shown) }, isPrinted && { class: "published", title: "Published – other questions, other prompts: not comparable with the rows above", rows: publishedRows(shown, chosen) }],
  });
}

/** @type {(index: Index, shown: Matrix) => TableGroup[]} */
function groups(index, shown) {
  /** @type {TableGroup[]} */
  const found = [{ title: "", span: shown.ranked ? 2 : 1 }];
  for (const task of shown.tasks) {
    const last = found[found.length - 1];
    if (last.suite === task.suite) last.span += 1;
    else found.push({ suite: task.suite, title: suiteTitle(index, task.suite), span: 1 });
  }
  return found;
}

/** @type {(row: MatrixRow) => Child} */
function nameCell(row) {
  if (!row.model) return row.link || row.name;
  return [
    foreign(row.model.name, "bdi", { class: "name" }),
    h("small", { class: "quiet" }, row.only ? `only ${row.only.join(", ")}` : kindOf(row.model)),
  ];
}

/** @type {(index: Index, shown: Matrix) => Column<MatrixRow>} */
function rankColumn(index, shown) {
  const tasks = shown.ranked.tasks.map((name) => index.task(name).title).join("; ");
  return {
    key: "rank", title: "Mean rank", number: true, ascending: true, hint: `over ${shown.ranked.tasks.length} tasks that all ranked models have: ${tasks}`,
    value: (row) => row.rank && row.rank.mean,
    cell: (row) => row.rank && [
      h("span", { class: "value" }, formatNumber(row.rank.mean, 1)),
      h("small", { class: "interval" }, formatInterval(row.rank.low, row.rank.high, 1)),
    ],
  };
}

/** @type {(index: Index, task: Task, shown: Matrix, chosen: LeaderboardChoice) => Column<MatrixRow>} */
function taskColumn(index, task, shown, chosen) {
  const alone = suiteTitle(index, task.suite) === task.title;
  return {
    key: task.name, number: true, ascending: isLowestBest(task), hint: `${task.title}: ${task.about}`,
    title: [h("span", { class: alone ? "unseen" : null }, alone ? task.title : shortTitle(index, task)), h("small", {}, metricName(task.metric), isLowestBest(task) && ", lower is better")],
    value: (row) => (row.cells && row.cells[task.name] ? row.cells[task.name].value : null),
    cell: (row) => (row.printed ? row.printed(task) : row.reference ? row.reference(task) : cell(task, row, shown, chosen)),
  };
}

/** @type {(task: Task, row: MatrixRow, shown: Matrix, chosen: LeaderboardChoice) => Child} */
function cell(task, row, shown, chosen) {
  const found = row.cells[task.name];
  if (!found) return missing(task, row);
  if (found.value === null) return found.unreadable || found.stale ? markElements(found) : h("span", { class: "quiet", title: "nothing could be scored" }, "–");
  const blind = bestBaseline(task, found);
  const isKnown = !isHidden(found);
  const isAbove = isKnown && isShownBetter(task, found, blind) && !isBaseline(row.model);
  const least = blind ?? (isLowestBest(task) ? Infinity : 0);
  const isBest = isKnown && !isBaseline(row.model) && isBetter(task, found.value, least) && found.value === shown.best[task.name] && !warningsOf(found).length;
  return [
    h("a", {
      class: `value${isAbove ? " above" : ""}${isBest ? " best" : ""}`,
      href: pageLink(["task", task.name], { model: row.model.name, condition: found.condition === "main" ? "" : found.condition }),
      "aria-label": `${shownValue(found)}, ${row.name}, ${task.title}`,
    }, isBaseline(row.model) || !isKnown ? shownValue(found) : shaded(isAbove ? above(task, found, shown) : 0, formatNumber(found.value))),
    isAbove && h("span", { class: "up", title: "shown to be better than the best blind baseline" }, "▲"),
    chosen.intervals === "yes" && isKnown && h("small", { class: "interval" }, formatInterval(found.low, found.high, 2)),
    chosen.intervals === "yes" && image(found, blind, shown.scale[task.name]),
    markElements(found),
  ];
}

/** How far a value is above the interval of the best blind baseline, as a share of what is left above that.
    @type {(task: Task, row: Row, shown: Matrix) => number} */
function above(task, row, shown) {
  const end = row.baseline_end ?? bestBaseline(task, row) ?? 0;
  const top = isLowestBest(task) ? 0 : shown.scale[task.name];
  return Math.max(0.1, (row.value - end) / (top - end || 1));
}

/** Draw the interval, or the bounds: a band, a dot for a known value, a tick for the best blind baseline.
    @type {(row: Row, blind: number | null, scale: number) => SVGElement} */
function image(row, blind, scale) {
  const [low, high] = lineEnds(row);
  /** @type {(value: number) => number} */
  const x = (value) => 2 + (60 * Math.max(0, Math.min(value, scale))) / scale;
  return svg(
    "svg", { class: "range", width: 64, height: 9, viewBox: "0 0 64 9", "aria-hidden": "true" },
    svg("line", { class: "axis", x1: 2, x2: 62, y1: 4.5, y2: 4.5 }),
    svg("line", { class: "band", x1: x(low), x2: x(high), y1: 4.5, y2: 4.5 }),
    blind !== null && svg("line", { class: "tick", x1: x(blind), x2: x(blind), y1: 0.5, y2: 8.5 }),
    !isHidden(row) && svg("circle", { cx: x(row.value), cy: 4.5, r: 2.6 }),
  );
}

/** @type {(task: Task, row: MatrixRow) => HTMLElement} */
function missing(task, row) {
  const why = task.asked_of === "encoder" ? "evaluates encoders of texts and images"
    : row.only ? `evaluated only on ${row.only.join(", ")}` : "not evaluated yet";
  return h("span", { class: "quiet", title: why }, "–", h("span", { class: "unseen" }, why));
}

/** Rows of blind baselines. @type {(shown: Matrix) => MatrixRow[]} */
function blindRows(shown) {
  const measured = [...shown.models, ...shown.baselines];
  // The best constant of a judged task may differ between rows.
  /** @type {(task: Task) => number[]} */
  const constants = (task) => measured.map((one) => one.cells[task.name]).filter((row) => row && row.constant !== null).map((row) => row.constant);
  /** @type {(task: Task) => number | null} */
  const constant = (task) => bestValue(task, constants(task));
  /** @type {MatrixRow[]} */
  const rows = shown.baselines.map((one) => ({ ...one, name: one.model.name }));
  /** @type {(task: Task) => number | null} */
  const chance = (task) => chanceLevel(task, shown.edition);
  if (shown.tasks.some((task) => chance(task) !== null)) {
    rows.push({ name: "Chance", reference: (task) => quiet(chance(task)) });
  }
  if (shown.tasks.some((task) => constant(task) !== null)) {
    rows.push({ name: "Best constant response", reference: (task) => quiet(constant(task)) });
  }
  return rows;
}

/** @type {(value: number | null | undefined) => Child} */
function quiet(value) {
  return value === null || value === undefined ? h("span", { class: "quiet" }, "–") : formatNumber(value);
}

/** @type {(shown: Matrix, chosen: LeaderboardChoice) => MatrixRow[]} */
function publishedRows(shown, chosen) {
  if (chosen.published === "all") return everyPublished(shown);
  /** @type {(fits: (model: string) => boolean) => (task: Task) => Child} */
  const best = (fits) => (task) => {
    const rows = shown.published.filter((row) => row.task === task.name && fits(row.model));
    return rows.length ? printed(rows.sort(byMerit(task))[0], true) : quiet(null);
  };
  return [
    { name: "Best model of the papers", printed: best((model) => !isPerson(model) && !isNone(model)) },
    { name: "People", printed: best(isPerson) },
  ];
}

/** @type {(model: string) => boolean} */
function isPerson(model) {
  return /^humans?\b/i.test(model);
}

/** Published rows that are not models: guesses, or oracles. @type {(model: string) => boolean} */
function isNone(model) {
  return /^(random|oracle|chance)\b/i.test(model);
}

/** @type {(shown: Matrix) => MatrixRow[]} */
function everyPublished(shown) {
  const models = [...new Set(shown.published.map((row) => row.model))].sort((a, b) => a.localeCompare(b, "en"));
  return models.map((model) => ({
    name: model, link: foreign(model),
    printed: (task) => {
      const rows = shown.published.filter((row) => row.task === task.name && row.model === model);
      return rows.length ? rows.map((row) => h("div", {}, printed(row, false))) : quiet(null);
    },
  }));
}

/** @type {(row: Published, named: boolean) => Child} */
function printed(row, named) {
  return [
    h("a", { class: "value", href: pageLink(["task", row.task], { table: row.source }), title: printable(`${row.source}, printed ${row.printed}`) }, formatNumber(row.value)),
    named && foreign(row.model, "small", { class: "interval" }),
  ];
}

/** @type {(shown: Matrix) => HTMLElement[]} */
export function matrixLegend(shown) {
  const rows = [...shown.models, ...shown.baselines].flatMap((one) => Object.values(one.cells));
  const reasons = new Map();
  for (const row of rows) {
    for (const { mark, why } of [...warningsOf(row), ...notesOf(row)]) {
      const key = `${mark.replace(/^[\d. ]+(% )?/, "").replace(/: .*/, "")}: ${why}`;
      reasons.set(key, (reasons.get(key) || 0) + 1);
    }
  }
  return [
    h(
      "p", { class: "note" }, "Each number links to its task. ", h("b", {}, "Bold"), ": the best of the task here. ",
      h("span", { class: "up" }, "▲"), ": its whole 95 % interval is better than the best blind baseline: chance, the best constant response or a baseline model (the tick in the drawing). The darker, the further above its interval.",
      shown.ranked && ` Mean rank: over the ${shown.ranked.tasks.length} tasks with results of all ${shown.ranked.ranks.length} ranked models, with a 95 % interval over tasks.`,
    ),
    reasons.size > 0 && h("ul", { class: "note reasons" }, [...reasons].map(([why, n]) => h("li", {}, `${printable(why)} (${n} ${n === 1 ? "number" : "numbers"})`))),
  ].filter(Boolean);
}
