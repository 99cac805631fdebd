/* Numbers of the leaderboard: baselines, bounds, warnings. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bestBaseline, bestValue, boundsOf, byMerit, chanceLevel, dominatingCluster, isHidden, isShownBetter, shortTitle, shownInterval, shownValue,
  suiteTitle, unpackRows, warningsOf,
} from "../../../../../bench_assets/report/static/app/base/results.js";

const HIGH = { name: "s/one", suite: "s", title: "Suite, one", metric: "accuracy", lower_is_better: [], chance: 0.25, edition: "mini" };
const LOW = { ...HIGH, name: "s/two", title: "Suite, two", metric: "wer", lower_is_better: ["wer"] };
const ROW = { condition: "main", edition: "mini", value: 0.5, low: 0.4, high: 0.6, constant: 0.3, baseline: null };

test("columns become rows, also dictionary-encoded ones", () => {
  const columns = { model: [["a", "b"], [1, 0, 1]], value: [0.1, 0.2, 0.3] };
  assert.deepEqual(unpackRows(columns), [{ model: "b", value: 0.1 }, { model: "a", value: 0.2 }, { model: "b", value: 0.3 }]);
});

test("the best is the lowest where a task says so", () => {
  assert.equal(bestValue(HIGH, [0.1, 0.9, 0.5]), 0.9);
  assert.equal(bestValue(LOW, [0.1, 0.9, 0.5]), 0.1);
  assert.equal(bestValue(HIGH, []), null);
  assert.deepEqual([{ value: 2 }, { value: 1 }, { value: 3 }].sort(byMerit(LOW)).map((row) => row.value), [1, 2, 3]);
});

test("the best blind baseline is chance, the constant response or a baseline model", () => {
  assert.equal(bestBaseline(HIGH, ROW), 0.3);
  assert.equal(bestBaseline(HIGH, { ...ROW, constant: null }), 0.25);
  assert.equal(bestBaseline(HIGH, { ...ROW, baseline: 0.45 }), 0.45);
  assert.equal(bestBaseline(HIGH, { ...ROW, condition: "blind", constant: null }), null);
  assert.equal(chanceLevel(HIGH, "full"), null);
});

test("a model is shown to be better if its whole interval is", () => {
  assert.equal(isShownBetter(HIGH, ROW, 0.39), true);
  assert.equal(isShownBetter(HIGH, ROW, 0.4), false);
  assert.equal(isShownBetter(LOW, ROW, 0.61), true);
});

test("bounds stand in the place of a value of which more than a tenth is unread", () => {
  const unread = { ...ROW, unread: 0.1, if_unread_wrong: 0.45, if_unread_right: 0.55 };
  assert.equal(boundsOf(ROW), null);
  assert.deepEqual(boundsOf(unread), [0.45, 0.55]);
  assert.deepEqual([isHidden(unread), shownValue(unread), shownInterval(unread)], [false, "0.500", "0.400 – 0.600"]);
  const hidden = { ...unread, unread: 0.11 };
  assert.deepEqual([isHidden(hidden), shownValue(hidden), shownInterval(hidden)], [true, "0.450 to 0.550", ""]);
});

test("a cluster dominates from a tenth of the weight, and twice an equal share", () => {
  assert.equal(dominatingCluster({ largest_cluster: 0.2, n_clusters: 10 }), "one cluster has 20.0 % of the weight");
  assert.equal(dominatingCluster({ largest_cluster: 0.1, n_clusters: 10 }), "");
  assert.equal(dominatingCluster({ largest_cluster: 0.3, n_clusters: 9 }), "");
});

test("each reason to doubt a number has a mark", () => {
  const row = { ...ROW, partial: "3 of 9", n_failed: 1200, n_unscored: 0, n_rejected: null, stale: "" };
  assert.deepEqual(warningsOf(row).map(({ mark }) => mark), ["partial", "1 200 failed"]);
});

test("tasks of a suite share the first words of their titles", () => {
  const index = { tasks: [HIGH, LOW] };
  assert.equal(suiteTitle(index, "s"), "Suite");
  assert.equal(shortTitle(index, HIGH), "one");
  assert.equal(shortTitle({ tasks: [HIGH] }, HIGH), "Suite, one");
});
