/* Light and dark theme: the system's or the reader's choice; loaded first, to avoid flashing. */
import { h } from "./elements.js";

const KEY = "bench-theme";
const NAMES = { auto: "as the system", light: "light", dark: "dark" };

function kept() {
  try {
    return localStorage.getItem(KEY) in NAMES ? localStorage.getItem(KEY) : "auto";
  } catch {
    return "auto"; // no storage for pages from disk
  }
}

/** @type {(theme: string) => void} */
function use(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // not stored: applies to this visit
  }
}

/** The theme selector of the header. */
export function themeSwitch() {
  return h(
    "label", { class: "theme" }, h("span", { class: "unseen" }, "Colours"),
    h(
      "select", { onchange: (event) => use(event.target.value) },
      Object.entries(NAMES).map(([value, name]) =>
        h("option", { value, selected: value === kept() }, `◐ ${name}`)),
    ),
  );
}

use(kept());
