/* Creates elements. Foreign text is always a text node. */

/** Make an element: h("a", {href: "...", class: "x", onclick: f}, "text", element, [more]).
    An attribute that is null, undefined or false is left out; `style` is an object.
    @type {MakeElement} */
export const h = (/** @type {string} */ tag, /** @type {Attributes | undefined} */ attributes, /** @type {Child[]} */ ...children) =>
  filled(document.createElement(tag), attributes, children);

/** The same for SVG. @type {(tag: string, attributes?: Attributes, ...children: Child[]) => SVGElement} */
export function svg(tag, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** @type {(element: any, attributes: Attributes | undefined, children: Child[]) => any} */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) setStyle(element, key, text);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** @type {(element: any, key: string, value: string | undefined) => void} */
function setStyle(element, key, value) {
  if (key.startsWith("--")) element.style.setProperty(key, value);
  else element.style[key] = value;
}

/** Append texts, elements, and lists of them; null, undefined and false are ignored.
    @type {(element: Element, children: readonly Child[]) => void} */
export function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(/** @type {string | Node} */ (child));
  }
}
