/* What a reader chooses with; what is chosen stands in the address. */
"use strict";
(() => {
  /** A choice of one: values are texts, or [value, text]. */
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

  /** A field for text; told of every letter. */
  function field(label, text, oninput, hint) {
    return Bench.h(
      "label", { class: "control" }, Bench.h("span", {}, label),
      Bench.h("input", { type: "search", value: text, placeholder: hint, oninput: (event) => oninput(event.target.value) }),
    );
  }

  /** A box to tick. */
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
