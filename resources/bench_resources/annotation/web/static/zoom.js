/* Images at full size over the page; without scripts the same links open them in a tab. */
"use strict";
(() => {
  const STEP = 1.5;
  for (const link of document.querySelectorAll("a.full")) link.addEventListener("click", open);
  for (const image of document.querySelectorAll(".image img"))
    image.addEventListener("click", () => image.closest("figure").querySelector("a.full").click());

  function open(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const link = event.currentTarget;
    const image = make("img", { src: link.href, alt: link.closest("figure").querySelector("img").alt });
    const frame = make("div", { className: "zoomed", tabIndex: 0, role: "group", ariaLabel: "Image" }, image);
    const caption = make("p", { ariaLive: "polite" });
    const dialog = make("dialog", { className: "zoom", ariaLabel: "Image at full size" });
    const buttons = [
      button("−", "Smaller", () => scale(now() / STEP)), button("+", "Larger", () => scale(now() * STEP)),
      button("1:1", "Original size", () => scale(1)), button("Fit", "Fit to window", () => scale(0)),
      button("✕", "Close", () => dialog.close()),
    ];
    let wanted = 0; // 0: fit to the window

    function now() {
      return image.clientWidth / (image.naturalWidth || 1);
    }

    function scale(size) {
      wanted = size && Math.min(16, Math.max(0.05, size));
      image.className = wanted ? (wanted > 1 ? "pixels" : "") : "fits";
      image.style.width = wanted ? `${image.naturalWidth * wanted}px` : "";
      caption.textContent = `${image.naturalWidth} × ${image.naturalHeight} px, shown at ${Math.round(now() * 100)} %`;
    }

    dialog.append(make("div", { className: "zoom-bar" }, caption, ...buttons), frame);
    dialog.addEventListener("close", () => { dialog.remove(); link.focus({ preventScroll: true }); });
    dialog.addEventListener("keydown", (pressed) => {
      const does = { "+": () => scale(now() * STEP), "=": () => scale(now() * STEP), "-": () => scale(now() / STEP), 0: () => scale(0), 1: () => scale(1) };
      if (!does[pressed.key] || pressed.ctrlKey || pressed.metaKey) return;
      pressed.preventDefault();
      does[pressed.key]();
    });
    image.addEventListener("load", () => scale(0));
    image.addEventListener("click", () => scale(wanted ? 0 : 1));
    document.body.append(dialog);
    dialog.showModal();
    frame.focus();
  }

  function button(sign, name, onclick) {
    return make("button", { type: "button", className: "plain", ariaLabel: name, title: name, onclick }, sign);
  }

  function make(tag, told, ...inside) {
    const one = Object.assign(document.createElement(tag), told);
    one.append(...inside);
    return one;
  }
})();
