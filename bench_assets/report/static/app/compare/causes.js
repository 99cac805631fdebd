/* Splits the difference between two scores by cause, like `bench tables diff`, for any two models.

   Follows comparison/causes.py and comparison/difference.py, but compares digests, and sums what each unit adds
   to the metric instead of computing the metric again. Pure. */
import { asWords } from "../base/text.js";
import { pairUnits } from "./differences.js";

const [CHANGED, PROMPT, MODEL, DECODING, VERSION] = ["question", "prompt", "model", "decoding", "version of the task"];
const STAGES = [
  CHANGED, PROMPT, MODEL, DECODING, "asked again", "no response", "cut off before an answer", "thoughts taken off",
  "judge", "judge's verdict", "scorer", VERSION, "rest",
];
const SETTINGS = [MODEL, DECODING, "judge", "scorer", VERSION];
const IN_PROMPTS = ["kind", "text", "images", "image_texts", "options", "context"];
const APART = " + "; // separates causes that cannot be told apart
const [REMOVED, ADDED, REST] = ["questions removed", "questions added", "rest"];
const SAME = 1e-9;
const EXAMPLES = 5;

/** {whole, rows} of two sides: {ids, of: origins, exam: origins of its questions, categories, shares,
    parts: data `compare-...`, written: the number in the table}.
    @type {(a: CauseSide, b: CauseSide) => { whole: CauseRow, rows: CauseRow[] }} */
export function splitByCause(a, b) {
  const at = new Map(a.ids.map((id, row) => [id, row]));
  /** @type {(side: CauseSide, row?: number) => boolean} */
  const said = (side, row) => row !== undefined && Boolean(value(side.of.points, row));
  /** @type {CausedQuestion[]} */
  const both = [];
  /** @type {CausedQuestion[]} */
  const added = [];
  b.ids.forEach((id, row) => {
    if (!said(b, row)) return;
    const old = at.get(id);
    (said(a, old) ? both : added).push({ id, a: old, b: row, gain: gain(a.shares[old], b.shares[row]) });
  });
  const kept = new Set(both.map((one) => one.a));
  const removed = a.ids.map((id, row) => ({ id, a: row, gain: 0 })).filter((one) => said(a, one.a) && !kept.has(one.a));
  both.sort((x, y) => x.a - y.a);
  for (const one of both) one.cause = causeOf(a, b, one);
  const units = unitsOf(a, b, removed, added);
  if (units) together(a, both, units);
  const found = steps(both, removed, added);
  const change = b.parts.value - a.parts.value;
  effects(found, a, b, units, change);
  const rows = found.map((step) => summaryOf(step, a, b));
  const named = new Set(rows.flatMap((one) => one.cause.split(APART)));
  return { whole: summaryOf({ cause: "in all", ones: both, effect: change }, a, b), rows: [...rows, ...rest(a, b, change), ...unmoved(a, b, named)] };
}

/** @type {(coded: Coded, row?: number) => string} */
function value(coded, row) {
  return coded.values[coded.codes[row]];
}

/** @type {(before: number, after: number) => number} */
function gain(before, after) {
  const gained = after - before;
  return Number.isNaN(gained) ? 0 : gained;
}

/** The causes that may have changed the points of a question: `cause_of`. @type {(a: CauseSide, b: CauseSide, one: CausedQuestion) => string} */
function causeOf(a, b, one) {
  /** @type {(name: string) => boolean} */
  const differ = (name) => value(a.of[name], one.a) !== value(b.of[name], one.b);
  if (differ("failed")) return "no response";
  const [sameResponse, samePoints] = [!differ("response"), !differ("points")];
  const changed = changedFields(a, b, one);
  const found = [changed.length && CHANGED];
  if (!sameResponse || samePoints) {
    const follows = changed.some((name) => IN_PROMPTS.includes(name));
    found.push(!follows && differ("prompt") && PROMPT, differ("who") && MODEL, differ("how") && DECODING);
  }
  if (!sameResponse && !found.some(Boolean)) found.push(value(a.of.raw, one.a) && !differ("raw") ? "thoughts taken off" : "asked again");
  if (differ("cut")) found.push("cut off before an answer");
  const other = value(a.of.judges, one.a) && value(b.of.judges, one.b) && differ("judges");
  found.push(other && "judge", sameResponse && !other && differ("verdicts") && "judge's verdict", differ("scorers") && "scorer");
  found.push(a.of.spelled[VERSION] !== b.of.spelled[VERSION] && VERSION);
  return STAGES.filter((cause) => found.includes(cause)).join(APART) || (samePoints ? "" : REST);
}

/** Fields in which a question differs; none if both sides have the same table.
    @type {(a: CauseSide, b: CauseSide, one: CausedQuestion) => string[]} */
function changedFields(a, b, one) {
  if (a.exam === b.exam) return [];
  return Object.keys(a.exam.fields).filter((name) => value(a.exam.fields[name], one.a) !== value(b.exam.fields[name], one.b));
}

/** The gain of each unit of the metric, and its questions; null if the units of both cannot be paired.
    @type {(a: CauseSide, b: CauseSide, removed: unknown[], added: unknown[]) => CauseUnits | null} */
function unitsOf(a, b, removed, added) {
  const found = a.exam === b.exam && !removed.length && !added.length && pairUnits(a.parts, b.parts);
  if (!found || found.way === "groups") return null;
  const n = a.ids.length;
  const all = found.pairs.map((pair) => ({ ...pair, place: pair.unit % n, category: Math.floor(pair.unit / n) - 1 }));
  /** @type {(unit: CauseUnit) => string} */
  const alone = (unit) => `${unit.category} ${unit.cluster}`;
  const counted = new Map();
  for (const unit of all) counted.set(alone(unit), (counted.get(alone(unit)) || 0) + 1);
  /** @type {(unit: CauseUnit) => boolean} */
  const isWhole = (unit) => !["own", "points", "questions"].includes(found.way) && counted.get(alone(unit)) === 1;
  const weight = all.reduce((sum, unit) => sum + unit.weight, 0);
  return { all, weight, complete: found.whole, rows: (unit) => (found.way === "pairs" ? ofPair(a, unit) : isWhole(unit) ? ofCluster(a, unit) : [unit.place]) };
}

/** @type {(side: CauseSide, unit: CauseUnit) => number[]} */
function ofPair(side, { place }) {
  side.pairs = side.pairs || members(side.exam.pairs);
  return side.pairs.get(place);
}

/** The rows of a cluster, or those in a category. @type {(side: CauseSide, unit: CauseUnit) => number[]} */
function ofCluster(side, { cluster, category }) {
  side.members = side.members || members(side.exam.clusters);
  const { codes } = side.categories;
  return side.members.get(cluster).filter((row) => category < 0 || codes[row] === codes[category]);
}

/** @type {(numbers: number[]) => Map<number, number[]>} */
function members(numbers) {
  const found = new Map();
  numbers.forEach((number, row) => {
    if (!found.has(number)) found.set(number, []);
    found.get(number).push(row);
  });
  return found;
}

/** Questions of one unit share all of their causes. @type {(a: CauseSide, both: CausedQuestion[], units: CauseUnits) => void} */
function together(a, both, units) {
  const ofRow = new Map(both.map((one) => [one.a, one]));
  for (const unit of units.all) {
    unit.ones = units.rows(unit).map((row) => ofRow.get(row)).filter((one) => one && one.cause);
    const named = new Set(unit.ones.flatMap((one) => one.cause.split(APART)));
    const joint = STAGES.filter((cause) => named.has(cause)).join(APART);
    for (const one of unit.ones) one.cause = joint;
    unit.cause = joint;
  }
}

/** Questions by cause, in the order in which causes act.
    @type {(both: CausedQuestion[], removed: CausedQuestion[], added: CausedQuestion[]) => CauseStep[]} */
function steps(both, removed, added) {
  /** @type {Map<string, CausedQuestion[]>} */
  const found = new Map();
  for (const one of both) {
    if (!one.cause) continue;
    if (!found.has(one.cause)) found.set(one.cause, []);
    found.get(one.cause).push(one);
  }
  /** @type {(cause: string) => string} */
  const order = (cause) => cause.split(APART).map((part) => String.fromCharCode(97 + STAGES.indexOf(part))).join("");
  const sorted = [...found].sort(([x], [y]) => (order(x) < order(y) ? -1 : 1));
  /** @type {[string, CausedQuestion[]][]} */
  const all = [[REMOVED, removed], ...sorted, [ADDED, added]];
  return all.filter(([, ones]) => ones.length).map(([cause, ones]) => ({ cause, ones, effect: NaN })); // known later
}

/** Sets the effect of each step on the metric; null if it cannot be determined.
    @type {(found: CauseStep[], a: CauseSide, b: CauseSide, units: CauseUnits | null, change: number) => void} */
function effects(found, a, b, units, change) {
  const told = found.length === 1 ? () => change : (units && byUnits(units)) || byPoints(found, a, b) || (() => null);
  for (const step of found) step.effect = told(step);
}

/** Effects if both sides have the same units: the gain of the units of each cause.
    @type {(units: CauseUnits) => ((step: CauseStep) => number) | null} */
function byUnits({ all, weight, complete }) {
  const gained = new Map();
  for (const unit of all) if (unit.gained) gained.set(unit.cause, (gained.get(unit.cause) || 0) + unit.gained);
  return complete ? (step) => (gained.get(step.cause) || 0) / weight : null;
}

/** Effects of a metric that is the share of points. Questions of only one side are removed first or added
    last; questions of both change in between, cause after cause.
    @type {(found: CauseStep[], a: CauseSide, b: CauseSide) => ((step: CauseStep) => number | null) | null} */
function byPoints(found, a, b) {
  const [old, now] = [a, b].map(({ parts: { ways: { points } } }) => points && new Map(points.units.map((unit, i) => [unit, [points.values[i], points.weights[i]]])));
  if (!old || !now) return null;
  let [sum, weight] = [0, 0];
  for (const [points, most] of old.values()) [sum, weight] = [sum + points, weight + most];
  const moved = new Map(found.map((step) => [step, 0]));
  for (const phase of ["out", "paired", "in"]) {
    for (const step of found) {
      const before = sum / weight;
      for (const one of step.ones) {
        const [was, is] = [one.a !== undefined && old.get(one.a), one.b !== undefined && now.get(one.b)];
        if (Boolean(was && is) !== (phase === "paired")) continue;
        if (was && phase !== "in") [sum, weight] = [sum - was[0], weight - was[1]];
        if (is && phase !== "out") [sum, weight] = [sum + is[0], weight + is[1]];
      }
      if (weight <= SAME) moved.set(step, NaN);
      moved.set(step, moved.get(step) + sum / weight - before);
    }
  }
  return (step) => (Number.isNaN(moved.get(step)) ? null : moved.get(step));
}

/** @type {(step: CauseStep, a: CauseSide, b: CauseSide) => CauseRow} */
function summaryOf({ cause, ones, effect }, a, b) {
  const moved = ones.filter((one) => one.gain).sort((x, y) => x.gain - y.gain);
  const [before, after] = saidOf(cause, ones, a, b);
  return {
    cause, before, after, effect, n: ones.length, n_better: moved.filter((one) => one.gain > 0).length,
    n_worse: moved.filter((one) => one.gain < 0).length,
    examples: (cause === REMOVED || cause === ADDED ? ones : moved).slice(0, EXAMPLES).map((one) => one.id),
  };
}

/** The signatures' parts of a cause; for changed questions, the fields that differ.
    @type {(cause: string, ones: CausedQuestion[], a: CauseSide, b: CauseSide) => [string, string]} */
function saidOf(cause, ones, a, b) {
  const parts = cause.split(APART);
  const [before, after] = [a, b].map((side) => parts.map((part) => side.of.spelled[part]).filter(Boolean).join(", "));
  if (!parts.includes(CHANGED)) return [before, after];
  const changed = [...new Set(ones.flatMap((one) => changedFields(a, b, one)))];
  return [before, [`other ${changed.map(asWords).join(" and ")}`, after].filter(Boolean).join(", ")];
}

/** The part of the difference in the tables of metrics that the scores do not reproduce.
    @type {(a: CauseSide, b: CauseSide, change: number) => CauseRow[]} */
function rest(a, b, change) {
  const apart = b.written - a.written - change;
  if (!(Math.abs(apart) > SAME)) return [];
  const [before, after] = [a, b].map((side) => `${side.written.toFixed(4)} in the table`);
  return [{ ...summaryOf({ cause: REST, ones: [], effect: apart }, a, b), before, after }];
}

/** Settings that differ, without effect. @type {(a: CauseSide, b: CauseSide, named: Set<string>) => CauseRow[]} */
function unmoved(a, b, named) {
  const [old, now] = [a.of.spelled, b.of.spelled];
  /** @type {(part: string) => boolean} */
  const differ = (part) => (old[part] || "") !== (now[part] || "") && ![old[part], now[part]].includes("none");
  return SETTINGS.filter((part) => differ(part) && !named.has(part)).map((part) => summaryOf({ cause: part, ones: [], effect: 0 }, a, b));
}
