/* The models that the sample browser shows. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkpointBefore, chosenModels, readState, sampleAddress } from "../../../../../bench_assets/report/static/app/samples/state.js";

const MODELS = ["step-20", "random", "step-3", "step-100"].map((name) => ({ name, slug: `${name}-slug`, data: name }));
const KNOWN = new Map(MODELS.map(({ name }) => [name, name === "random" ? { step: null } : { run: "r", step: Number(name.slice(5)) }]));

test("the last checkpoint is shown first, then the one before, its run, and all others", () => {
  const names = chosenModels(MODELS, { model: "", beside: [] }, KNOWN).map(({ name }) => name);
  assert.deepEqual(names, ["step-100", "step-20", "step-3", "random"]);
});

test("a chosen model is first, beside the chosen ones", () => {
  const names = chosenModels(MODELS, { model: "random-slug", beside: ["step-3", "unknown"] }, KNOWN).map(({ name }) => name);
  assert.deepEqual(names, ["random", "step-3"]);
});

test("the checkpoint before is by steps, not by names", () => {
  assert.equal(checkpointBefore(MODELS[3], MODELS, KNOWN).name, "step-20");
  assert.equal(checkpointBefore(MODELS[2], MODELS, KNOWN), null);
  assert.equal(checkpointBefore(MODELS[1], MODELS, KNOWN), null);
});

test("a state is read from its address", () => {
  const address = sampleAddress("a task", { ...readState(new URLSearchParams()), model: "m", beside: ["x", "y"], q: "two words" });
  assert.equal(address, "#/samples/a%20task?model=m&q=two+words&beside=x&beside=y");
  assert.deepEqual(readState(new URLSearchParams(address.split("?")[1])).beside, ["x", "y"]);
});
