/* Light and dark: as the system says, or as was switched; loaded first, so that nothing flashes. */
"use strict";
(() => {
  const KEY = "bench-theme";
  const NAMES = { auto: "as the system", light: "light", dark: "dark" };

  function kept() {
    try {
      return localStorage.getItem(KEY) in NAMES ? localStorage.getItem(KEY) : "auto";
    } catch {
      return "auto"; // a browser that keeps nothing for files
    }
  }

  function use(theme) {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // then it is for this visit
    }
  }

  /** The switch of the header. */
  Bench.themeSwitch = () =>
    Bench.h(
      "label", { class: "theme" }, Bench.h("span", { class: "unseen" }, "Colours"),
      Bench.h(
        "select", { onchange: (event) => use(event.target.value) },
        Object.entries(NAMES).map(([value, name]) =>
          Bench.h("option", { value, selected: value === kept() }, `◐ ${name}`)),
      ),
    );

  use(kept());
})();
