/* Filters of samples by outcome, category, label and group. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countOutcomes, matchingQuestions, outcomeOf, outcomeTests, unpackOutcomes, valueCounts,
} from "../../../../../bench_assets/report/static/app/samples/filter.js";

const FIRST = unpackOutcomes({ letters: "rpwWnxueo-", shares: [0.5], unread: [3] });
const SECOND = unpackOutcomes({ letters: "wrwrrrrrrr", shares: [], unread: [] });
const ROWS = [...FIRST.letters].map((_, row) => row);

const QUESTIONS = {
  ids: ["a", "b", "c", "d"],
  categories: { values: ["x", "y"], codes: [0, 1, 0, 1] },
  groups: { values: ["", "pair"], codes: [0, 0, 1, 1] },
  labels: { form: { values: ["one", "a=b"], codes: [0, 1, 1, 1] } },
};

/** Rows that pass the test of an outcome. */
function passing(models, earlier, outcome) {
  return ROWS.filter(outcomeTests(models, earlier)[outcome]);
}

test("shares of the points are unpacked; without points there is none", () => {
  assert.deepEqual([...FIRST.shares], [1, 0.5, 0, 0, 0, 0, NaN, NaN, NaN, NaN]);
});

test("an outcome has a word, and says if its response was cut short", () => {
  assert.deepEqual(outcomeOf(FIRST, 0), { letter: "r", cut: false, mark: "✓", name: "right" });
  assert.deepEqual(outcomeOf(FIRST, 3), { letter: "w", cut: true, mark: "✗", name: "wrong, cut short" });
  assert.equal(outcomeOf(null, 0).name, "not asked");
});

test("wrong are also those without an answer, and refused ones", () => {
  assert.deepEqual(passing([FIRST], null, "wrong"), [2, 3, 4, 5]);
  assert.deepEqual(passing([FIRST], null, "right"), [0]);
  assert.deepEqual(passing([FIRST], null, "cut"), [3, 4]);
  assert.deepEqual(passing([FIRST], null, "unread"), [3]);
  assert.deepEqual(passing([FIRST], null, "failed"), [7]);
});

test("models disagree where their shares differ, and both are wrong where none has points", () => {
  assert.deepEqual(passing([FIRST, SECOND], null, "disagree"), [0, 1, 3, 4, 5]);
  assert.deepEqual(passing([FIRST, SECOND], null, "wrong-by-all"), [2]);
});

test("worse and better are against the checkpoint before", () => {
  assert.deepEqual(passing([FIRST], SECOND, "worse"), [1, 3, 4, 5]);
  assert.deepEqual(passing([FIRST], SECOND, "better"), [0]);
  assert.deepEqual(passing([FIRST], null, "worse"), []);
});

test("a model that was not evaluated passes no test but all", () => {
  assert.deepEqual(countOutcomes(ROWS, outcomeTests([null, SECOND], null)).wrong, 0);
  assert.equal(countOutcomes(ROWS, outcomeTests([null, SECOND], null))[""], 10);
});

test("category, group and labels are combined; a value may have an equals sign", () => {
  const none = { category: "", group: "", label: [] };
  assert.deepEqual(matchingQuestions(QUESTIONS, none), [0, 1, 2, 3]);
  assert.deepEqual(matchingQuestions(QUESTIONS, { ...none, category: "y" }), [1, 3]);
  assert.deepEqual(matchingQuestions(QUESTIONS, { category: "y", group: "pair", label: ["form=a=b"] }), [3]);
  assert.deepEqual(matchingQuestions(QUESTIONS, { ...none, category: "z" }), []);
});

test("values are counted in the order of their names, numbers as numbers", () => {
  const coded = { values: ["10", "9", ""], codes: [0, 1, 1, 2] };
  assert.deepEqual(valueCounts([0, 1, 2, 3], coded), [["9", 2], ["10", 1]]);
});
