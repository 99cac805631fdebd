/* Which value is the best, where unread responses leave only bounds. */

import { boundsOf, isBetter, isHidden, isLowestBest } from "../base/results.js";

/** @typedef {Parameters<typeof isHidden>[0]} Bounded a value that unread responses may hide */

/** The worst and the best that a row's value may be. @type {(task: Task, row: Bounded) => [number, number]} */
function extent(task, row) {
  const [least, most] = (isHidden(row) && boundsOf(row)) || [row.value, row.value];
  return isLowestBest(task) ? [most, least] : [least, most];
}

/** Whether no other row may be better than a row: too much may be unread to say so.
    @type {(task: Task, row: Bounded, rows: Bounded[]) => boolean} */
export function isKnownBest(task, row, rows) {
  const [worst] = extent(task, row);
  return rows.every((other) => other === row || !isBetter(task, extent(task, other)[1], worst));
}
