/* The difference of two models on one task, paired on what both have; as report/comparisons.py has it. Pure. */
"use strict";
(() => {
  const WAYS = ["own", "points", "clusters", "categories", "groups"];
  const Z = 1.959963984540054;

  /** {before, after, change, low, high, n, paired} of two models' data `compare-...`; null without values.

      Paired where the questions are the same and the metric can be parted in the same way; else the
      difference of two numbers, its interval from theirs. */
  function difference(old, now, rows) {
    if (rows.some((row) => !row || row.value === null)) return null;
    const [before, after] = rows.map((row) => row.value);
    const change = after - before;
    const sameExam = Boolean(old && now) && old.data === now.data && rows[0].edition === rows[1].edition;
    const found = sameExam && paired(old, now);
    if (found && found.pairs.length > 1) {
      const [low, high] = interval(found.pairs, change);
      return { before, after, change, low, high, n: found.pairs.length, paired: true, sameExam };
    }
    const half = Math.hypot(...rows.map((row) => (row.low === null ? NaN : (row.high - row.low) / 2)));
    const known = !Number.isNaN(half);
    return { before, after, change, low: known ? change - half : null, high: known ? change + half : null, n: 0, paired: false, sameExam };
  }

  /** Units of both: {way, pairs: [{unit, gained, weight, cluster}]}; null where no way fits both. */
  function paired(old, now) {
    for (const way of WAYS) {
      const [a, b] = [old.ways[way], now.ways[way]];
      const pairs = a && b && joined(a, b);
      if (pairs) return { way, pairs };
    }
    return null;
  }

  function joined(a, b) {
    const places = new Map(b.units.map((unit, i) => [unit, i]));
    if (a.units.length !== b.units.length) return null;
    const pairs = [];
    for (let i = 0; i < a.units.length; i += 1) {
      const at = places.get(a.units[i]);
      if (at === undefined || Math.abs(a.weights[i] - b.weights[at]) > 1e-6 * a.weights[i]) return null;
      pairs.push({ unit: a.units[i], gained: b.values[at] - a.values[i], weight: a.weights[i], cluster: a.clusters[i] });
    }
    return pairs;
  }

  /** The 95 % interval around a change, from the spread over clusters: core/paired.py, `interval`. */
  function interval(pairs, change) {
    const clusters = new Map();
    let [most, gain] = [0, 0];
    for (const pair of pairs) {
      const sums = clusters.get(pair.cluster) || [0, 0];
      clusters.set(pair.cluster, [sums[0] + pair.gained, sums[1] + pair.weight]);
      most += pair.weight;
      gain += pair.gained;
    }
    const freedom = clusters.size - 1;
    if (!freedom) return [null, null];
    const ratio = gain / most;
    let spread = 0;
    for (const [gained, weight] of clusters.values()) spread += (gained - ratio * weight) ** 2;
    const n = pairs.length;
    const variance = Math.max(((freedom + 1) / freedom) * (spread / most ** 2), 1 / (n * (n + 2)));
    let changed = 0;
    for (const [gained] of clusters.values()) changed += gained !== 0;
    const half = Math.max(student(freedom) * Math.sqrt(variance), 2 ** -(changed + 1) >= 0.05 ? Math.abs(change) : 0);
    return [change - half, change + half];
  }

  /** 97.5 % quantile of Student's t: to a thousandth, and from seven on by Abramowitz and Stegun, 26.7.5. */
  function student(freedom) {
    if (freedom < 7) return [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469][freedom - 1];
    const terms = [
      (Z ** 3 + Z) / 4, (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96,
      (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384,
    ];
    return terms.reduce((sum, term, k) => sum + term / freedom ** (k + 1), Z);
  }

  /** What a difference says: "better", "worse", or that none is shown. */
  function verdict(found) {
    if (!found || found.low === null) return "";
    return found.low > 0 ? "better" : found.high < 0 ? "worse" : "no difference shown";
  }

  Bench.compare = { difference, paired, verdict };
})();
