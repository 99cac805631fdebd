/* Images at full size in a dialog: arrow keys change the image, Esc closes it. */
import { h } from "../base/elements.js";

/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, k: -1, ArrowRight: 1, j: 1 };
const SIZES = [["fit", "fit"], ["1", "1:1"], ["2", "2×"], ["4", "4×"]];

/** Show images, each {full, alt}; closing restores the focus. @type {(images: ShownImage[], at?: number) => void} */
export function zoom(images, at = 0) {
  const back = /** @type {HTMLElement | null} */ (document.activeElement);
  let size = "fit";
  const image = h("img", { alt: "", onload: () => draw(), onclick: () => resize(size === "fit" ? "1" : "fit") });
  const frame = h("div", { class: "zoomed", tabindex: "0", role: "group", "aria-label": "Image" }, image);
  const caption = h("p", { class: "zoom-caption", "aria-live": "polite" });
  const sizes = SIZES.map(([value, name]) =>
    h("button", { type: "button", class: "plain", onclick: () => resize(value) }, name));
  const dialog = h(
    "dialog", { class: "zoom", "aria-label": "Images at full size", onclose: () => { dialog.remove(); if (back) back.focus(); }, onkeydown: key },
    h(
      "div", { class: "zoom-bar" },
      button("←", "Previous image", () => step(-1)), button("→", "Next image", () => step(1)),
      caption, sizes, button("✕", "Close", () => dialog.close()),
    ),
    frame,
  );

  /** @type {(sign: string, name: string, onclick: () => void) => HTMLElement} */
  function button(sign, name, onclick) {
    return h("button", { type: "button", class: "plain", "aria-label": name, title: name, onclick }, sign);
  }

  /** @type {(event: KeyboardEvent) => void} */
  function key(event) {
    const steps = STEPS[event.key];
    if (steps && images.length > 1) {
      event.preventDefault();
      step(steps);
    } else if (event.key === "Enter" && event.target === frame) dialog.close();
    event.stopPropagation();
  }

  /** @type {(steps: number) => void} */
  function step(steps) {
    at = (at + steps + images.length) % images.length;
    image.src = images[at].full;
    image.alt = images[at].alt;
    draw();
  }

  /** @type {(wanted: string) => void} */
  function resize(wanted) {
    size = wanted;
    draw();
  }

  function draw() {
    const { naturalWidth: width, naturalHeight: height } = image;
    caption.textContent = `${at + 1} of ${images.length}${width ? ` · ${width} × ${height} px` : ""}`;
    image.className = size === "fit" ? "fits" : size === "1" ? "" : "pixels";
    image.style.width = size === "fit" || !width ? "" : `${width * Number(size)}px`;
    SIZES.forEach(([value], i) => sizes[i].setAttribute("aria-pressed", String(value === size)));
  }

  document.body.append(dialog);
  step(0);
  dialog.showModal();
  frame.focus();
}
