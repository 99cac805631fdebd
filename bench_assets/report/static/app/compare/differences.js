/* Compares two models on a task, paired over the units of its metric, and decides over several tasks. The formulas
   and the sentence are those of comparison/verdicts.py, comparable.py and core/stats/paired_tests.py. Pure. */
import { boundsOf, isHidden } from "../base/results.js";
import { formatPercent, formatSigned } from "../base/text.js";

const ALPHA = 0.05;
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
    const shown = { before, after, ...tested(found.pairs), n: found.pairs.length, paired: true, reason, unread, lower };
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

/** {change, low, high, p}: Student's t over clusters, CR2 with Satterthwaite's degrees of freedom. @type {(pairs: UnitPair[]) => Tested} */
function tested(pairs) {
  const clusters = new Map();
  let [most, gain] = [0, 0];
  for (const pair of pairs) {
    const sums = clusters.get(pair.cluster) || [0, 0];
    clusters.set(pair.cluster, [sums[0] + pair.gained, sums[1] + pair.weight]);
    most += pair.weight;
    gain += pair.gained;
  }
  const change = gain / most;
  if (clusters.size < 2) return { change, low: null, high: null, p: 1 };
  let [spread, squares, adjusted, fourths, changed] = [0, 0, 0, 0, 0];
  for (const [gained, weight] of clusters.values()) {
    const leverage = weight / most;
    const one = leverage ** 2 / (1 - leverage);
    spread += (gained - change * weight) ** 2 / (1 - leverage);
    [squares, adjusted, fourths] = [squares + leverage ** 2, adjusted + one, fourths + one ** 2];
    changed += Number(Math.abs(gained) > 1e-9);
  }
  const freedom = 1 / (squares + adjusted ** 2 - fourths);
  const n = pairs.length;
  const error = Math.sqrt(Math.max(spread / most ** 2, 1 / (n * (n + 2))));
  let least = 2 ** -(changed + 1); // least one-sided mid-p-value of a sign test
  const ofT = tails(change / error, freedom);
  const few = 1 / squares < Math.min(25, 0.75 * clusters.size); // effective clusters, and uneven
  if (few && ofT < ALPHA) least = Math.max(least, signFlip([...clusters.values()].map(([gained]) => gained)));
  const half = Math.max(quantile(freedom) * error, least >= ALPHA ? Math.abs(change) : 0);
  const p = changed ? Math.max(ofT, least) : 1;
  const largest = pairs.every((pair) => pair.share) ? 1 : Infinity;
  return { change, low: Math.max(change - half, -largest), high: Math.min(change + half, largest), p };
}

/** p-value of giving each gain either sign (Fisher, 1935); the sum of those beyond the largest 14 is taken for normal.
    @type {(gains: number[]) => number} */
function signFlip(gains) {
  const sizes = gains.map(Math.abs).sort((x, y) => y - x);
  let sums = [0];
  for (const size of sizes.slice(0, 14)) sums = sums.flatMap((sum) => [sum - size, sum + size]);
  const spread = Math.sqrt(sizes.slice(14).reduce((all, size) => all + size ** 2, 0));
  const total = Math.abs(gains.reduce((all, gain) => all + gain, 0));
  /** @type {(z: number) => number} */
  const share = (z) => (z < 0 ? 2 - tails(z, 1e6) : tails(z, 1e6));
  const shares = sums.map((sum) => (spread ? share((total - sum) / spread) : Number(Math.abs(sum) >= total - 1e-6)));
  return shares.reduce((all, one) => all + one, 0) / sums.length;
}

/** Two-sided p-value of Student's t: the regularised incomplete beta function, as a continued fraction (Lentz).
    @type {(t: number, freedom: number) => number} */
function tails(t, freedom) {
  const x = freedom / (freedom + t * t);
  const [a, b] = [freedom / 2, 0.5];
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  if (!(x < 1)) return 1;
  return x < (a + 1) / (a + b + 2) ? (front * fraction(a, b, x)) / a : 1 - (front * fraction(b, a, 1 - x)) / b;
}

/** @type {(a: number, b: number, x: number) => number} */
function fraction(a, b, x) {
  /** @type {(value: number) => number} */
  const away = (value) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let [c, d] = [1, 1 / away(1 - ((a + b) * x) / (a + 1))];
  let found = d;
  for (let m = 1; m < 500; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    for (const part of [even, odd]) {
      d = 1 / away(1 + part * d);
      c = away(1 + part / c);
      found *= d * c;
    }
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return found;
}

/** Lanczos's approximation (g = 7, nine terms). @type {(z: number) => number} */
function logGamma(z) {
  const terms = [
    676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012,
    9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  if (z < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * z)) - logGamma(1 - z);
  const sum = terms.reduce((all, term, i) => all + term / (z + i), 0.99999999999980993);
  const top = z + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (z - 0.5) * Math.log(top) - top + Math.log(sum);
}

/** 97.5 % quantile of Student's t, by halving. @type {(freedom: number) => number} */
function quantile(freedom) {
  let [low, high] = [1.9, 12.8];
  for (let i = 0; i < 60; i += 1) {
    const middle = (low + high) / 2;
    [low, high] = tails(middle, freedom) > ALPHA ? [middle, high] : [low, middle];
  }
  return high;
}

/** Set `verdict` and the corrected `p` of all differences that are tested together (Holm, 1979). @type {(all: Difference[]) => Difference[]} */
export function decide(all) {
  const tests = all.filter((found) => found.p !== null).sort((x, y) => x.p - y.p);
  let highest = 0;
  tests.forEach((found, rank) => {
    highest = Math.max(highest, Math.min(1, (tests.length - rank) * found.p));
    found.p = highest;
    const shown = !found.reason && highest < ALPHA && Math.abs(found.change) > 1e-12;
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
  const reasons = (some) => some.filter(({ found }) => found.reason).map(({ title, found }) => `${title}: ${found.reason}`).join(", ");
  const doubts = reasons(undecided);
  const unpaired = rows.length - tests.length - refused.length;
  return [
    named("better"), named("worse"), undecided.length > 0 && `undecided on ${undecided.length} of ${tests.length} tasks${doubts && ` (${doubts})`}`,
    refused.length > 0 && `not comparable at ${reasons(refused)}`, unpaired > 0 && `not paired on ${unpaired}`,
  ].filter(Boolean).join("; ");
}
