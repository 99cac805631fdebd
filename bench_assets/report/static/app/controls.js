/* Form controls; choices are kept in the address. */
"use strict";
(() => {
  /** A drop-down list: values are texts, or [value, text]. */
  function select(label, values, chosen, onchange) {
    return Bench.h(
      "label", { class: "control" }, Bench.h("span", {}, label),
      Bench.h(
        "select", { onchange: (event) => onchange(event.target.value) },
        values.map((one) => {
          const [value, text] = Array.isArray(one) ? one : [one, Bench.words(one)];
          return Bench.h("option", { value, selected: value === chosen }, Bench.printable(text));
        }),
      ),
    );
  }

  /** A text field; `oninput` is called for every letter. */
  function field(label, text, oninput, hint) {
    return Bench.h(
      "label", { class: "control" }, Bench.h("span", {}, label),
      Bench.h("input", { type: "search", value: text, placeholder: hint, oninput: (event) => oninput(event.target.value) }),
    );
  }

  /** A checkbox. */
  function tick(label, checked, onchange) {
    return Bench.h(
      "label", { class: "control tick" },
      Bench.h("input", { type: "checkbox", checked, onchange: (event) => onchange(event.target.checked) }),
      Bench.h("span", {}, label),
    );
  }

  /** A row of controls. */
  function controls(...children) {
    return Bench.h("div", { class: "controls no-print", role: "group", "aria-label": "What is shown" }, children);
  }

  Object.assign(Bench, { select, field, tick, controls });
})();
