/* Addresses of pages. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pageLink } from "../../../../../bench_assets/report/static/app/base/addresses.js";

test("parts are encoded, and a list is repeated", () => {
  assert.equal(pageLink(["task", "journeybench/mcot"]), "#/task/journeybench%2Fmcot");
  assert.equal(pageLink(["samples", "a"], { beside: ["x", "y & z"], wrong: 1 }), "#/samples/a?beside=x&beside=y+%26+z&wrong=1");
});

test("what is empty or unknown is left out", () => {
  assert.equal(pageLink(["compare"], { a: "", b: null, ca: undefined, models: [] }), "#/compare");
});
