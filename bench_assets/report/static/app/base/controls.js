/* Form controls; choices are kept in the address. */
import { h } from "./elements.js";
import { asWords, printable } from "./text.js";

/** A drop-down list: values are texts, or [value, text].
    @type {(label: string, values: (string | string[])[], chosen: string, onchange: (value: string) => unknown) => HTMLElement} */
export function dropDown(label, values, chosen, onchange) {
  return h(
    "label", { class: "control" }, h("span", {}, label),
    h(
      "select", { onchange: (event) => onchange(event.target.value) },
      values.map((one) => {
        const [value, text] = Array.isArray(one) ? one : [one, asWords(one)];
        return h("option", { value, selected: value === chosen }, printable(text));
      }),
    ),
  );
}

/** A text field; `oninput` is called for every letter.
    @type {(label: string, text: string, oninput: (text: string) => unknown, hint: string) => HTMLElement} */
export function searchField(label, text, oninput, hint) {
  return h(
    "label", { class: "control" }, h("span", {}, label),
    h("input", { type: "search", value: text, placeholder: hint, oninput: (event) => oninput(event.target.value) }),
  );
}

/** A checkbox. @type {(label: string, checked: boolean, onchange: (checked: boolean) => unknown) => HTMLElement} */
export function checkBox(label, checked, onchange) {
  return h(
    "label", { class: "control tick" },
    h("input", { type: "checkbox", checked, onchange: (event) => onchange(event.target.checked) }),
    h("span", {}, label),
  );
}

/** A row of controls. @type {(...children: Child[]) => HTMLElement} */
export function controlBar(...children) {
  return h("div", { class: "controls no-print", role: "group", "aria-label": "What is shown" }, children);
}
