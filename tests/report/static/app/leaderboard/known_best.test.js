/* The best value beside bounds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isKnownBest } from "../../../../../bench_assets/report/static/app/leaderboard/known_best.js";

const HIGH = { name: "s/one", metric: "accuracy", lower_is_better: [] };
const LOW = { name: "s/two", metric: "wer", lower_is_better: ["wer"] };
const ROW = { value: 0.5 };

test("no value is the best beside bounds that reach above it", () => {
  const hidden = { ...ROW, value: 0.45, unread: 0.2, if_unread_wrong: 0.45, if_unread_right: 0.55 };
  const between = { ...ROW, value: 0.5 };
  const rows = [hidden, between, { ...ROW, value: 0.1 }];
  assert.deepEqual(rows.map((row) => isKnownBest(HIGH, row, rows)), [false, false, false]);
  assert.deepEqual([0.56, 0.55].map((value) => isKnownBest(HIGH, { ...ROW, value }, rows)), [true, true]);
  assert.equal(isKnownBest(HIGH, hidden, [hidden, rows[2]]), true);
  assert.equal(isKnownBest(LOW, { ...ROW, value: 0.46 }, [hidden]), false);
  assert.equal(isKnownBest(LOW, { ...ROW, value: 0.44 }, [hidden]), true);
});
