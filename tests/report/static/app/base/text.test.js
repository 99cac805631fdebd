/* Formatting of texts and numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  asWords, formatCount, formatInterval, formatNumber, formatPercent, formatSigned, metricName, printable,
} from "../../../../../bench_assets/report/static/app/base/text.js";

test("numbers have three decimals and a true minus; what is unknown is a dash", () => {
  assert.equal(formatNumber(0.12345), "0.123");
  assert.equal(formatNumber(-0.5, 1), "−0.5");
  assert.deepEqual([null, undefined, NaN].map((value) => formatNumber(value)), ["–", "–", "–"]);
});

test("differences have a sign, unless they are 0", () => {
  assert.deepEqual([0.25, -0.25, 0].map((value) => formatSigned(value, 2)), ["+0.25", "−0.25", "0.00"]);
});

test("shares are in percent, and nothing if unknown", () => {
  assert.deepEqual([0.0213, 0, null].map(formatPercent), ["2.1 %", "0.0 %", ""]);
});

test("whole numbers have spaces between thousands", () => {
  assert.deepEqual([999, 20000, 1234567, -4000, null].map(formatCount), ["999", "20 000", "1 234 567", "−4 000", "–"]);
});

test("an interval is both ends, and nothing if unknown", () => {
  assert.equal(formatInterval(0.1, 0.25, 2), "0.10 – 0.25");
  assert.equal(formatInterval(null, null), "");
});

test("names of metrics are spelled as papers do", () => {
  assert.deepEqual(
    ["acc_p", "cider", "bleu_4", "bleu", "rouge_l", "meteor", "text_r@5", "exact_match"].map(metricName),
    ["Acc_p", "CIDEr", "BLEU-4", "BLEU", "ROUGE-L", "METEOR", "text R@5", "exact match"],
  );
  assert.equal(asWords("no_row_lost"), "no row lost");
});

test("control characters, direction marks and half characters are written out", () => {
  assert.equal(printable("a\u0007b\u202ec\ud800d"), "a\\x07b\\u202ec\\ud800d");
  assert.equal(printable("two\nlines, a\ttab, 😀 and 中文"), "two\nlines, a\ttab, 😀 and 中文");
});
