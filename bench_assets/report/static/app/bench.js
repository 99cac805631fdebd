/* Base of all scripts of the report: creates elements, and loads data on demand.

   The only global is `Bench`. Elements are made by `Bench.h` only; foreign text is always a text node. */
"use strict";
(() => {
  const values = new Map(); // name -> value that a data script has put
  const asked = new Map(); // name -> promise of it

  /** Make an element: Bench.h("a", {href: "...", class: "x", onclick: f}, "text", element, [more]).
      An attribute that is null, undefined or false is left out; `style` is an object. */
  function h(tag, attributes, ...children) {
    return filled(document.createElement(tag), attributes, children);
  }

  /** The same for SVG. */
  function svg(tag, attributes, ...children) {
    return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  }

  function filled(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name === "style") for (const [key, one] of Object.entries(value)) setStyle(element, key, one);
      else element.setAttribute(name, value === true ? "" : String(value));
    }
    append(element, children);
    return element;
  }

  function setStyle(element, key, value) {
    if (key.startsWith("--")) element.style.setProperty(key, value);
    else element.style[key] = value;
  }

  /** Append texts, elements, and lists of them; null, undefined and false are ignored. */
  function append(element, children) {
    for (const child of children) {
      if (child === null || child === undefined || child === false) continue;
      if (Array.isArray(child)) append(element, child);
      else element.append(child);
    }
  }

  /** Called by data scripts. */
  function put(name, value) {
    values.set(name, value);
  }

  /** Whether the report has data of that name. */
  function has(name) {
    return name in (values.get("files") || {});
  }

  /** Load data: await Bench.data("index"). Each is loaded once. */
  function data(name) {
    if (!asked.has(name)) asked.set(name, load(name));
    return asked.get(name);
  }

  async function load(name) {
    if (!has(name)) throw new Error(`This report has no data named ${name}.`);
    const made = values.get("files")[name];
    await script(`data/${name}.${made}.js`).catch(async (why) => {
      await refresh(); // the report may have been rebuilt
      if (values.get("files")[name] === made) throw why;
      await script(`data/${name}.${values.get("files")[name]}.js`);
    });
    if (!values.has(name)) throw new Error(`The data file of ${name} is damaged: build the report again.`);
    const value = values.get(name);
    values.delete(name); // the promise holds it
    return value;
  }

  /** Release loaded data; the next request loads them again. */
  function forget(name) {
    asked.delete(name);
  }

  /** Read the list of data again, and forget loaded data that have changed.
      Returns whether any have. */
  async function refresh() {
    const before = values.get("files");
    await script(`data/files.js?${Date.now()}`);
    const changed = [...asked.keys()].filter((name) => before[name] !== values.get("files")[name]);
    changed.forEach(forget);
    return changed.length > 0;
  }

  /** Load a script of the report. */
  function script(src) {
    return new Promise((done, failed) => {
      const element = h("script", {
        src,
        onload: () => { element.remove(); done(); },
        onerror: () => {
          element.remove();
          failed(new Error(`${src} cannot be loaded: the report was rebuilt. Reload the page.`));
        },
      });
      document.head.append(element);
    });
  }

  let plots = null;
  /** Load d3 and Observable Plot, once; afterwards they are `d3` and `Plot`. */
  function plotting() {
    plots = plots || script("vendor/d3.min.js").then(() => script("vendor/plot.umd.min.js"));
    return plots;
  }

  window.Bench = { h, svg, append, put, has, data, forget, refresh, plotting };
})();
