/* Keyboard shortcuts of the sample browser, and their help. */
import { h } from "../base/elements.js";

const KEYS = [
  ["j, ↓", "next sample"], ["k, ↑", "previous sample"], ["Page Down, Page Up", "ten on, ten back"],
  ["Home, End", "first, last"], ["Enter", "its images at full size"], ["← →", "previous image, next image"],
  ["/", "search"], ["Esc", "leave the search; close what is open"], ["?", "this help"],
];
/** @type {Record<string, number>} */
const STEPS = {
  j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity,
};

/** Handle keys while `main` is shown. @type {(main: HTMLElement, parts: { list: SampleList, bar: FilterBar, images: () => void }) => void} */
export function listenToKeys(main, { list, bar, images }) {
  /** @type {(event: KeyboardEvent) => void} */
  const listen = (event) => {
    if (!main.isConnected) document.removeEventListener("keydown", listen);
    else if (!event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.altKey) pressed(event);
  };

  /** @type {(event: any) => void} */
  function pressed(event) {
    const { key, target } = event;
    const writing = target.matches("input:not([type=checkbox]), select, textarea");
    if (key === "Escape") {
      for (const one of main.querySelectorAll("details")) if (one.matches(".menu")) one.open = false;
      if (writing) list.element.focus();
    } else if (writing || document.querySelector("dialog[open]")) {
      if (key === "Enter" && target.type === "search") list.element.focus();
    } else if (key === "/") act(event, () => bar.focus());
    else if (key === "?") act(event, showKeys);
    else if (key === "Enter" && !target.closest("a, button, summary, label")) act(event, images);
    else if (key in STEPS && (key.length === 1 || list.element.contains(target) || target === document.body || target.tagName === "H1")) {
      act(event, () => list.move(STEPS[key]));
    }
  }

  document.addEventListener("keydown", listen);
}

/** @type {(event: Event, what: () => void) => void} */
function act(event, what) {
  event.preventDefault();
  what();
}

/** Show the keyboard shortcuts. */
export function showKeys() {
  const back = /** @type {HTMLElement | null} */ (document.activeElement);
  /** @type {HTMLElement} */
  const close = h("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Close");
  /** @type {HTMLDialogElement} */
  const dialog = h(
    "dialog", { class: "keys", "aria-label": "Keys", onclose: () => { dialog.remove(); if (back) back.focus(); } },
    h("h2", {}, "Keys"),
    h("dl", { class: "response-facts" }, KEYS.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    close,
  );
  document.body.append(dialog);
  dialog.showModal();
}
