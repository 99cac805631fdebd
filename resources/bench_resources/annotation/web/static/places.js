/* Points on an image: clicks and keys write coordinates into the text field. */
"use strict";
(() => {
  const area = document.querySelector('.field[data-kind="points"] textarea');
  const frame = document.querySelector(".image");
  if (!area || !frame) return;
  const cross = Object.assign(document.createElement("span"), { className: "cross" });
  const target = Object.assign(document.createElement("div"), {
    className: "target", tabIndex: 0, role: "group",
    ariaLabel: "Points on the image: arrows move the cross, Enter adds a point, Backspace removes the last one",
  });
  let at = [0.5, 0.5];
  target.append(cross);
  frame.append(target);

  const lines = () => area.value.split("\n").map((line) => line.trim()).filter(Boolean);
  const within = (share) => Math.min(1, Math.max(0, share));
  const put = (one, [x, y]) => { one.style.left = `${x * 100}%`; one.style.top = `${y * 100}%`; };

  function draw() {
    for (const old of target.querySelectorAll(".place")) old.remove();
    lines().forEach((line, n) => {
      const place = line.split(/\s+/).map(Number);
      if (place.length !== 2 || place.some((share) => !(share >= 0 && share <= 1))) return;
      const mark = Object.assign(document.createElement("span"), { className: "place", textContent: n + 1 });
      put(mark, place);
      target.append(mark);
    });
    put(cross, at);
  }

  function write(entries) {
    area.value = entries.join("\n");
    draw();
  }

  function add() {
    write([...lines(), at.map((share) => share.toFixed(4)).join(" ")]);
  }

  target.addEventListener("click", (event) => {
    const box = target.getBoundingClientRect();
    at = [within((event.clientX - box.left) / box.width), within((event.clientY - box.top) / box.height)];
    add();
  });
  target.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 0.1 : 0.01;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (event.ctrlKey || event.metaKey) return;
    if (moves[event.key]) at = at.map((share, n) => within(share + moves[event.key][n]));
    else if (event.key === "Enter" || event.key === " ") add();
    else if (event.key === "Backspace") write(lines().slice(0, -1));
    else return;
    event.preventDefault();
    draw();
  });
  area.addEventListener("input", draw);
  draw();
})();
