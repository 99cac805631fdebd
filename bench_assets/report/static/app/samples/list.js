/* The list of samples; only the visible rows are drawn. */
import { h } from "../base/elements.js";

const HEIGHT = 76; // px of a row, as in style/samples.css
const BEYOND = 6; // rows drawn above and below the visible ones

/** A list whose visible rows are filled by `draw(row)`; calls `chosen(row)` for a selected one.

    Returns {element, show(rows), select(row), selected, move(steps)}.
    @type {(label: string, draw: (row: number) => Child, chosen: (row: number) => void) => SampleList} */
export function sampleList(label, draw, chosen) {
  /** @type {number[]} */
  let rows = [];
  let selected = -1; // a row, not its position in the list
  let drawn = new Map(); // row -> element
  const sheet = h("div", { class: "sheet", role: "presentation" });
  const element = h("div", {
    class: "sample-list", role: "listbox", tabindex: "0", "aria-label": label, onscroll: () => later(),
  }, sheet);
  new ResizeObserver(() => later()).observe(element);

  let asked = 0;
  function later() {
    asked = asked || requestAnimationFrame(() => { asked = 0; redraw(); });
  }

  function redraw() {
    const first = Math.max(0, Math.floor(element.scrollTop / HEIGHT) - BEYOND);
    const last = Math.min(rows.length, Math.ceil((element.scrollTop + element.clientHeight) / HEIGHT) + BEYOND);
    const now = new Map();
    for (const row of rows.slice(first, last)) now.set(row, drawn.get(row) || option(row));
    const changed = now.size !== drawn.size || [...now.keys()].some((row) => !drawn.has(row));
    let at = first;
    for (const [row, one] of now) {
      one.style.top = `${at * HEIGHT}px`;
      one.setAttribute("aria-posinset", at + 1);
      one.setAttribute("aria-setsize", rows.length);
      one.setAttribute("aria-selected", row === selected);
      at += 1;
    }
    if (changed) sheet.replaceChildren(...now.values()); // in order, for screen readers
    drawn = now;
    if (drawn.has(selected)) element.setAttribute("aria-activedescendant", `sample-${selected}`);
    else element.removeAttribute("aria-activedescendant");
  }

  /** @type {(row: number) => HTMLElement} */
  function option(row) {
    return h("div", {
      id: `sample-${row}`, class: "sample-row", role: "option", onclick: () => select(row, true),
    }, draw(row));
  }

  /** Show these rows, all drawn again. @type {(some: number[]) => void} */
  function show(some) {
    rows = some;
    drawn = new Map();
    sheet.replaceChildren();
    sheet.style.height = `${rows.length * HEIGHT}px`;
    if (!rows.length) element.scrollTop = 0;
    redraw();
  }

  /** @type {(row: number, tell?: boolean) => void} */
  function select(row, tell = false) {
    selected = row;
    const at = rows.indexOf(row);
    if (at >= 0) {
      const top = at * HEIGHT;
      if (top < element.scrollTop) element.scrollTop = top;
      if (top + HEIGHT > element.scrollTop + element.clientHeight) {
        element.scrollTop = top + HEIGHT - element.clientHeight;
      }
    }
    redraw();
    if (tell) chosen(row);
  }

  /** @type {(steps: number) => void} */
  function move(steps) {
    if (!rows.length) return;
    const at = rows.indexOf(selected);
    const next = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + steps));
    if (rows[next] !== selected) select(rows[next], true);
  }

  return { element, show, select, move, get rows() { return rows; }, get selected() { return selected; } };
}
