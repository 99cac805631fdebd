/* Keyboard shortcuts (numbers choose, Ctrl+Enter sends) and the extension of reservations; optional. */
"use strict";
(() => {
  const form = document.querySelector("form.answer");
  if (!form) return;
  const KEPT = "bench-single-keys";
  const EACH = 60_000; // ms between two extensions of the reservation
  const box = document.getElementById("single-keys");
  box.closest(".scripted").hidden = false;
  box.checked = localStorage.getItem(KEPT) !== "no";
  box.addEventListener("change", () => localStorage.setItem(KEPT, box.checked ? "yes" : "no"));

  const fields = [...form.querySelectorAll(".field")];
  const inputs = (field) => [...field.querySelectorAll("input:not([type=hidden]), textarea, .activate")];
  const chooses = (field) => field.dataset.kind.startsWith("choice");
  const isTyping = (target) => target.matches("textarea, input:not([type=radio], [type=checkbox])");
  const isEmpty = (field) => !inputs(field).some((one) => (chooses(field) ? one.checked : one.value));

  /** The field that number keys apply to: the focused one, else the first without a choice. */
  function current() {
    const within = document.activeElement.closest(".field");
    if (within && chooses(within)) return within;
    return fields.find((field) => chooses(field) && isEmpty(field)) || fields.find(chooses);
  }

  function choose(number) {
    const field = current();
    const one = field && inputs(field)[number - 1];
    if (!one) return false;
    one.checked = one.type === "radio" || !one.checked;
    one.focus();
    const next = fields[fields.indexOf(field) + 1];
    if (one.type === "radio") (next ? inputs(next)[0] : form.querySelector(".send button"))?.focus();
    return true;
  }

  function key(event) {
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send(form.querySelector('button[value="send"]'));
    } else if (box.checked && !isTyping(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      if (/^[1-9]$/.test(event.key) && choose(Number(event.key))) event.preventDefault();
      if (event.key === "z") document.querySelector("a.full")?.click();
    }
  }

  let isSent = false;
  function send(button) {
    if (button && !isSent) form.requestSubmit(button);
  }
  form.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault(); // a second click
    isSent = true;
  });
  addEventListener("pageshow", () => { isSent = false; });
  document.addEventListener("keydown", key);

  let last = Date.now();
  let said = last;
  for (const name of ["input", "keydown", "pointerdown", "scroll"]) addEventListener(name, () => { last = Date.now(); }, { passive: true });
  setInterval(() => {
    if (last <= said) return; // no activity
    said = Date.now();
    fetch(form.dataset.stay, { method: "POST" }).catch(() => {});
  }, EACH);

  const faulty = fields.find((field) => field.classList.contains("faulty"));
  const first = faulty || (fields[0] && !chooses(fields[0]) ? fields[0] : null);
  if (first) inputs(first)[0]?.focus({ preventScroll: !faulty });
})();
