/* The part of a response that is marked. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf } from "../../../../../bench_assets/report/static/app/samples/response.js";

test("a text is divided before, in and after what was read", () => {
  assert.deepEqual(partsOf("It is B, surely.", 0, [6, 7]), ["It is ", "B", ", surely."]);
  assert.deepEqual(partsOf("It is B, surely.", 0), ["It is B, surely.", "", ""]);
});

test("a span over two pieces is marked in both, and one elsewhere in none", () => {
  assert.deepEqual(partsOf("The answ", 0, [4, 12]), ["The ", "answ", ""]);
  assert.deepEqual(partsOf("er is B.", 8, [4, 12]), ["", "er i", "s B."]);
  assert.deepEqual(partsOf("Nothing.", 16, [4, 12]), ["", "", "Nothing."]);
  assert.deepEqual(partsOf("Nothing.", 16, [30, 31]), ["Nothing.", "", ""]);
});
