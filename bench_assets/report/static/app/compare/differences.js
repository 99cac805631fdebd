/* Compares two models on a task, paired over the units of its metric, and decides over several tasks. The sentence
   and the reasons are those of comparison/verdicts.py and comparable.py. Pure. */
import { boundsOf, isHidden } from "../base/results.js";
import { formatPercent, formatSigned } from "../base/text.js";
import { ALPHA, holm, pairedTest } from "./statistics.js";

const WAYS = ["own", "points", "questions", "pairs", "clusters", "categories", "groups"];
const SEPARABLE = ["own", "points", "questions", "pairs", "clusters"]; // units of only one model can be left out

/** {before, after, change, low, high, p, n, paired, reason, unread, lower} of two models' data `compare-...`; null
    without values. Not paired if anything but the model or the units differ: the interval then combines both
    numbers' intervals. `reason`: why there is no verdict; `unread`: the row of which too much is unread.
    @type {(old: ComparedParts | null, now: ComparedParts | null, rows: ComparedRow[]) => Difference | null} */
export function difference(old, now, rows) {
  if (rows.some((row) => !row || row.value === null)) return null;
  const [before, after] = rows.map((row) => row.value);
  const causes = comparable(old, now);
  const found = !causes.length && pairUnits(old, now);
  const lower = Boolean(now && now.lower_is_better);
  if (found && found.pairs.length) {
    const unread = doubt(rows);
    const reason = unread ? `${formatPercent(unread.unread)} of the responses of ${unread.model} are unread` : "";
    const shown = { before, after, ...pairedTest(found.pairs), n: found.pairs.length, paired: true, reason, unread, lower };
    return found.whole ? { ...shown, change: now.value - old.value } : shown; // the change over jackknife units is biased
  }
  const change = after - before;
  const half = Math.hypot(...rows.map((row) => (row.low === null ? NaN : (row.high - row.low) / 2)));
  const known = !Number.isNaN(half);
  return { before, after, change, low: known ? change - half : null, high: known ? change + half : null, p: null, n: 0, paired: false, reason: causes.length ? `other ${causes.join(", ")}` : "", lower };
}

/** Causes other than the models for which two numbers may differ: `comparable` of comparable.py.
    @type {(old: ComparedParts | null, now: ComparedParts | null) => string[]} */
function comparable(old, now) {
  if (!old || !now || old.data !== now.data) return ["questions"];
  const [a, b] = [old.compared, now.compared];
  return Object.keys(a).filter((cause) => cause in b && a[cause] !== b[cause]);
}

/** The row with more unread responses, if they leave no verdict; null if they do. @type {(rows: ComparedRow[]) => ComparedRow | null} */
function doubt(rows) {
  const [old, now] = rows.map((row) => boundsOf(row) || [row.value, row.value]);
  if (old[1] < now[0] || now[1] < old[0] || !rows.some(isHidden)) return null;
  return (rows[1].unread || 0) > (rows[0].unread || 0) ? rows[1] : rows[0];
}

/** Paired units of both: {way, whole, pairs: [{unit, gained, weight, cluster}]}; null if they differ.
    @type {(old: ComparedParts, now: ComparedParts) => PairedUnits | null} */
export function pairUnits(old, now) {
  for (const way of WAYS) {
    const [a, b] = [old.ways[way], now.ways[way]];
    const pairs = a && b && joined(a, b, SEPARABLE.includes(way));
    if (pairs) return { way, pairs, whole: pairs.length === Math.max(a.units.length, b.units.length) };
  }
  return null;
}

/** @type {(a: ComparedUnits, b: ComparedUnits, separable: boolean) => UnitPair[] | null} */
function joined(a, b, separable) {
  const places = new Map(b.units.map((unit, i) => [unit, i]));
  if (!separable && a.units.length !== b.units.length) return null;
  const pairs = [];
  for (let i = 0; i < a.units.length; i += 1) {
    const at = places.get(a.units[i]);
    if (at === undefined && separable) continue;
    if (at === undefined || Math.abs(a.weights[i] - b.weights[at]) > 1e-6 * a.weights[i]) return null;
    const [before, after, weight] = [a.values[i], b.values[at], a.weights[i]];
    const share = Math.min(before, after) >= 0 && Math.max(before, after) <= weight + 1e-6;
    pairs.push({ unit: a.units[i], gained: after - before, weight, share, cluster: a.clusters[i] });
  }
  return pairs;
}

/** Set `verdict` and the corrected `p` of all differences that are tested together (Holm, 1979). @type {(all: Difference[]) => Difference[]} */
export function decide(all) {
  const tests = all.filter((found) => found.p !== null);
  holm(tests.map((found) => found.p)).forEach((corrected, i) => {
    const found = tests[i];
    found.p = corrected;
    const shown = !found.reason && corrected < ALPHA && Math.abs(found.change) > 1e-12;
    found.verdict = !shown ? "undecided" : (found.change > 0) !== found.lower ? "better" : "worse";
  });
  for (const found of all) if (found.p === null) found.verdict = found.reason ? "not comparable" : "undecided";
  return all;
}

/** The sentence of `verdict_sentence`; rows: [{title, found}], decided. @type {(rows: { title: string, found: Difference }[]) => string} */
export function sentence(rows) {
  const tests = rows.filter(({ found }) => found.paired);
  /** @type {(verdict: string) => { title: string, found: Difference }[]} */
  const of = (verdict) => tests.filter(({ found }) => found.verdict === verdict);
  /** @type {(verdict: string) => string | false} */
  const named = (verdict) => of(verdict).length > 0
    && `${verdict} at ${of(verdict).map(({ title, found }) => `${title} (${[found.change, found.low, found.high].map((one) => formatSigned(one)).join(", ").replace(/, ([^,]*)$/, " to $1")})`).join(", ")}`;
  const [undecided, refused] = [of("undecided"), rows.filter(({ found }) => found.verdict === "not comparable")];
  /** @type {(some: { title: string, found: Difference }[]) => string} */
  const reasons = (some) => some.map(({ title, found }) => `${title}: ${found.reason}`).join(", ");
  const doubtful = undecided.filter(({ found }) => found.reason);
  const doubts = doubtful.length > 1 ? `too much is unread on ${doubtful.length} of them` : reasons(doubtful);
  const unpaired = rows.length - tests.length - refused.length;
  return [
    named("better"), named("worse"), undecided.length > 0 && `undecided on ${undecided.length} of ${tests.length} tasks${doubts && ` (${doubts})`}`,
    refused.length > 0 && `not comparable at ${reasons(refused)}`, unpaired > 0 && `not paired on ${unpaired}`,
  ].filter(Boolean).join("; ");
}
