/* Formatting of texts and numbers. */
import { h } from "./elements.js";

// As in core/text/escaping.py: control characters, direction marks, lone surrogates.
const UNFIT = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Escape control characters. @type {(text: unknown) => string} */
export function printable(text) {
  return String(text).replace(UNFIT, (found) => {
    const code = found.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** A foreign text: a question, a response, a name. Always a text node, in its own writing direction.
    @type {(text: unknown, tag?: string, attributes?: Attributes, ...after: Child[]) => HTMLElement} */
export function foreign(text, tag = "bdi", attributes = {}, ...after) {
  return h(tag, { dir: "auto", ...attributes }, printable(text), after);
}

/** A number with the given number of decimals; "–" for none. @type {(value: number | null | undefined, digits?: number) => string} */
export function formatNumber(value, digits = 3) {
  return value === null || value === undefined || Number.isNaN(value) ? "–" : value.toFixed(digits).replace("-", "−");
}

/** A difference, with its sign. @type {(value: number | null | undefined, digits?: number) => string} */
export function formatSigned(value, digits = 3) {
  return `${value > 0 ? "+" : ""}${formatNumber(value, digits)}`;
}

/** A share in percent: 2.1 %; "" for none. @type {(value: number | null | undefined) => string} */
export function formatPercent(value) {
  return value === null || value === undefined ? "" : `${(100 * value).toFixed(1)} %`;
}

/** A whole number with thin spaces: 20 000. @type {(value: number | null | undefined) => string} */
export function formatCount(value) {
  return value === null || value === undefined ? "–" : String(value).replace("-", "−").replace(/\B(?=(\d{3})+$)/g, " ");
}

/** A number with its interval, on one line. @type {(low: number | null | undefined, high: number | null | undefined, digits?: number) => string} */
export function formatInterval(low, high, digits = 3) {
  return low === null || low === undefined ? "" : `${formatNumber(low, digits)} – ${formatNumber(high, digits)}`;
}

/** A number on a colour scale; `share` in [0, 1] is its position. @type {(share: number, text: string) => HTMLElement} */
export function shaded(share, text) {
  return h("span", { class: "shaded", style: { "--share": `${Math.round(55 * Math.max(0, Math.min(1, share || 0)))}%` } }, text);
}

/** A name with "_" as words. @type {(name: string) => string} */
export function asWords(name) {
  return name.replaceAll("_", " ");
}

/** @type {[RegExp, string][]} */
const METRICS = [
  [/^acc_([pq])$/, "Acc_$1"], [/^cider$/, "CIDEr"], [/^bleu(_\d)?$/, "BLEU$1"], [/^rouge_l$/, "ROUGE-L"], [/^meteor$/, "METEOR"],
  [/^(text|image)_r@(\d+)$/, "$1 R@$2"],
];

/** The usual spelling of a metric's name. @type {(name: string) => string} */
export function metricName(name) {
  const known = METRICS.find(([pattern]) => pattern.test(name));
  return known ? name.replace(known[0], known[1]).replace(/^BLEU_/, "BLEU-") : asWords(name);
}
