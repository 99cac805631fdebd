/* The paired test of core/stats/paired_tests.py, with its interval, and Holm's correction: a report without a server
   compares any two models. Pure; a test holds it to what Python finds. */

/** Family-wise error rate of what is decided together, and what a 95 % interval misses. */
export const ALPHA = 0.05;

/** {change, low, high, p}: Student's t over clusters, CR2 with Satterthwaite's degrees of freedom. @type {(pairs: UnitPair[]) => Tested} */
export function pairedTest(pairs) {
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

/** p-values corrected for their number, in order (Holm, 1979). @type {(pValues: number[]) => number[]} */
export function holm(pValues) {
  const corrected = [...pValues];
  let highest = 0;
  pValues.map((_, i) => i).sort((i, j) => pValues[i] - pValues[j]).forEach((i, rank) => {
    highest = Math.max(highest, Math.min(1, (pValues.length - rank) * pValues[i]));
    corrected[i] = highest;
  });
  return corrected;
}
