/* Marks on the first image, by mouse, finger or keys; they are written into the text field of their form field. */
"use strict";
(() => {
  const DIGITS = 5; // of a share: a tenth of a pixel in an image of 10,000
  const NEAR = 14; // CSS px around a point in which it can be dragged
  const DRAG = 4; // CSS px; a shorter drag is a click
  const frame = document.querySelector(".image");
  const fields = [...document.querySelectorAll('.field[data-kind="points"], .field[data-kind="boxes"]')].map(extend);
  if (!frame || !fields.length) return;
  const picture = frame.querySelector("img");
  const target = make("div", {
    className: "target", tabIndex: 0, role: "application",
    ariaLabel: "Marks on the image: arrows move the cross, Enter marks, Backspace removes the last mark, Ctrl+Z undoes",
  });
  const cross = make("span", { className: "cross" });
  let active = fields[0];
  let at = [0.5, 0.5]; // the cross, in shares of width and height
  let corner = null; // the first corner of a box, until there is the second
  let drag = null; // { from: shares, start: CSS px, point: index of the dragged point or -1, isLong }
  const status = make("span", { className: "quiet", ariaLive: "polite" });
  const undo = make("button", { type: "button", className: "plain", onclick: restore }, "Undo");
  frame.append(target);
  frame.after(make("p", { className: "mark-status" }, status, undo)); // on a phone, the fields are far below
  fields.forEach(enhance);

  function make(tag, properties, ...inside) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    return element;
  }

  function extend(element) {
    const { kind, most, names } = element.dataset;
    return { element, kind, most: Number(most), names: JSON.parse(names), area: element.querySelector("textarea"), before: [] };
  }

  /** Show a list of marks and buttons, and fold the text field away. */
  function enhance(field) {
    const text = field.element.querySelector(".as-text");
    const wasFocused = field.area === document.activeElement;
    const details = make("details", {}, make("summary", {}, "Coordinates as text"));
    field.list = make("ol", { className: "mark-list" });
    field.activate = make("button", { type: "button", className: "plain activate", onclick: () => { activate(field); target.focus(); } }, "Mark on the image");
    text.before(field.activate, field.list, details);
    details.append(text);
    field.area.addEventListener("input", () => { activate(field); });
    if (wasFocused) target.focus({ preventScroll: true });
  }

  const entries = (field) => field.area.value.split("\n").map((line) => line.trim()).filter(Boolean);
  const within = (share) => Math.min(1, Math.max(0, share));
  const format = (shares) => shares.map((share) => share.toFixed(DIGITS)).join(" ");
  const percent = (share) => `${share * 100}%`;
  const name = (field, number) => field.names[number] || (field.kind === "boxes" ? "Box" : "Point");

  /** The shares of an entry; null if they are no mark of this kind on the image. */
  function parse(field, line) {
    const shares = line.split(/\s+/).map(Number);
    const isWhole = shares.length === (field.kind === "boxes" ? 4 : 2) && shares.every((share) => share >= 0 && share <= 1);
    return isWhole ? shares : null;
  }

  function activate(field) {
    if (active !== field) corner = null;
    active = field;
    draw();
  }

  function write(lines) {
    active.before.push(active.area.value);
    active.area.value = lines.join("\n");
    corner = null;
    draw();
  }

  function restore() {
    if (corner) corner = null;
    else if (active.before.length) active.area.value = active.before.pop();
    draw();
  }

  function add(shares) {
    const lines = entries(active);
    corner = null;
    if (active.most === 1) write([format(shares)]);
    else if (lines.length < active.most) write([...lines, format(shares)]);
    else draw(`All ${active.most} are marked: undo or remove one first.`);
  }

  /** Mark the place of the cross: a point, or a corner of a box. */
  function mark() {
    if (active.kind === "points") add(at);
    else if (corner) addBox(corner, at);
    else { corner = at; draw(); }
  }

  function addBox([x, y], [toX, toY]) {
    const sides = [Math.min(x, toX), Math.min(y, toY), Math.max(x, toX), Math.max(y, toY)];
    const [left, top, right, bottom] = format(sides).split(" ");
    if (left !== right && top !== bottom) add(sides);
    else draw("A box needs two corners apart.");
  }

  function draw(message) {
    target.classList.toggle("boxing", active.kind === "boxes");
    target.classList.toggle("cornered", Boolean(corner));
    target.replaceChildren(cross);
    Object.assign(cross.style, { left: percent(at[0]), top: percent(at[1]) });
    for (const field of fields) {
      field.activate.setAttribute("aria-pressed", String(field === active));
      field.list.replaceChildren();
      entries(field).forEach((line, number) => drawEntry(field, line, number));
    }
    if (corner) drawBox([...corner, ...at], "");
    const text = message || nextStep(active);
    if (status.textContent !== text) status.textContent = text; // the same text would be read out again
  }

  function drawEntry(field, line, number) {
    const shares = parse(field, line);
    const size = [picture.naturalWidth, picture.naturalHeight];
    const pixels = shares ? shares.map((share, side) => Math.round(share * size[side % 2])).join(", ") : "not on the image";
    const remove = make("button", { type: "button", className: "plain", ariaLabel: `Remove ${name(field, number)} ${number + 1}` }, "✕");
    remove.addEventListener("click", () => {
      activate(field);
      write(entries(field).filter((_, other) => other !== number));
      target.focus({ preventScroll: true }); // the button is gone
    });
    field.list.append(make("li", {}, make("span", {}, `${name(field, number)}: ${pixels}${shares ? " px" : ""}`), remove));
    if (!shares) return;
    if (field.kind === "boxes") return drawBox(shares, number + 1);
    const point = make("span", { className: "mark", textContent: number + 1 });
    Object.assign(point.style, { left: percent(shares[0]), top: percent(shares[1]) });
    target.append(point);
  }

  function drawBox([x, y, toX, toY], label) {
    const box = make("span", { className: "box" }, make("b", {}, label));
    const [left, top] = [Math.min(x, toX), Math.min(y, toY)];
    Object.assign(box.style, { left: percent(left), top: percent(top), width: percent(Math.abs(toX - x)), height: percent(Math.abs(toY - y)) });
    target.append(box);
  }

  function nextStep(field) {
    const number = entries(field).length;
    if (corner) return "Now the opposite corner.";
    if (number >= field.most) return `${number} of ${field.most} marked.`;
    return field.names[number] ? `Next, ${number + 1} of ${field.names.length}: ${field.names[number]}.` : `${number} marked.`;
  }

  function place(event) {
    const area = target.getBoundingClientRect();
    return [within((event.clientX - area.left) / area.width), within((event.clientY - area.top) / area.height)];
  }

  function nearestPoint([x, y]) {
    const area = target.getBoundingClientRect();
    const points = entries(active).map((line) => parse(active, line) || [Infinity, Infinity]);
    const distances = points.map((point) => Math.hypot((point[0] - x) * area.width, (point[1] - y) * area.height));
    const nearest = distances.indexOf(Math.min(...distances));
    return distances[nearest] <= NEAR ? nearest : -1;
  }

  target.addEventListener("pointerdown", (event) => {
    if (event.button || !event.isPrimary) return;
    target.setPointerCapture(event.pointerId);
    target.classList.add("pointed"); // hides the cross, until keys move it
    const here = place(event);
    drag = { from: here, start: [event.clientX, event.clientY], point: active.kind === "points" ? nearestPoint(here) : -1, isLong: false };
  });
  target.addEventListener("pointermove", (event) => {
    if (!drag) return;
    drag.isLong ||= Math.hypot(event.clientX - drag.start[0], event.clientY - drag.start[1]) > DRAG;
    if (!drag.isLong || (active.kind === "points" && drag.point < 0)) return;
    at = place(event);
    if (active.kind === "boxes") corner = drag.from;
    draw();
  });
  target.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { point, isLong } = drag;
    drag = null;
    at = place(event);
    if (point < 0 || !isLong) mark();
    else write(entries(active).map((line, number) => (number === point ? format(at) : line)));
  });
  target.addEventListener("pointercancel", () => { drag = null; corner = null; draw(); });

  target.addEventListener("keydown", (event) => {
    const isPixel = event.ctrlKey && event.key.startsWith("Arrow");
    if (event.metaKey || (event.ctrlKey && !isPixel && event.key !== "z")) return;
    const step = event.shiftKey ? 0.1 : 0.01;
    const [wide, high] = isPixel ? [1 / (picture.naturalWidth || 1), 1 / (picture.naturalHeight || 1)] : [step, step];
    const moves = { ArrowLeft: [-wide, 0], ArrowRight: [wide, 0], ArrowUp: [0, -high], ArrowDown: [0, high] };
    if (moves[event.key]) at = at.map((share, side) => within(share + moves[event.key][side]));
    else if (event.key === "Enter" || event.key === " ") mark();
    else if (event.key === "Backspace" && corner) corner = null;
    else if (event.key === "Backspace") write(entries(active).slice(0, -1));
    else if (event.key === "z" && event.ctrlKey) restore();
    else return;
    event.preventDefault();
    target.classList.remove("pointed");
    if (moves[event.key] || event.key === "Backspace") draw();
  });

  if (!picture.complete) picture.addEventListener("load", () => draw());
  draw();
})();
