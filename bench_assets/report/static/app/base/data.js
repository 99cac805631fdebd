/* Loads data on demand, as scripts: a page opened from disk can load nothing else. They call the only global, `Bench.put`. */
import { h } from "./elements.js";

const values = new Map(); // name -> value that a data script has put
const requested = new Map(); // name -> promise of it

if (globalThis.window) window.Bench = { put: (name, value) => values.set(name, value) };

/** Whether the report has data of that name. @type {(name: string) => boolean} */
export function hasData(name) {
  return name in (values.get("files") || {});
}

/** Load data: await loadData("index"). Each is loaded once. @type {LoadData} */
export const loadData = (/** @type {string} */ name) => {
  if (!requested.has(name)) requested.set(name, load(name));
  return requested.get(name);
};

/** @type {(name: string) => Promise<any>} */
async function load(name) {
  if (!hasData(name)) throw new Error(`This report has no data named ${name}.`);
  const digest = values.get("files")[name];
  await loadScript(`data/${name}.${digest}.js`).catch(async (error) => {
    await refreshData(); // the report may have been rebuilt
    if (values.get("files")[name] === digest) throw error;
    await loadScript(`data/${name}.${values.get("files")[name]}.js`);
  });
  if (!values.has(name)) throw new Error(`The data file of ${name} is damaged: build the report again.`);
  const value = values.get(name);
  values.delete(name); // the promise holds it
  return value;
}

/** Release loaded data; the next request loads them again. @type {(name: string) => void} */
export function forgetData(name) {
  requested.delete(name);
}

/** Read the list of data again, and forget loaded data that have changed.
    Returns whether any have. */
export async function refreshData() {
  const before = values.get("files");
  await loadScript(`data/files.js?${Date.now()}`);
  const changed = [...requested.keys()].filter((name) => before[name] !== values.get("files")[name]);
  changed.forEach(forgetData);
  return changed.length > 0;
}

/** @type {(src: string) => Promise<void>} */
function loadScript(src) {
  return new Promise((resolve, reject) => {
    const element = h("script", {
      src,
      onload: () => { element.remove(); resolve(); },
      onerror: () => {
        element.remove();
        reject(new Error(`${src} cannot be loaded: the report was rebuilt. Reload the page.`));
      },
    });
    document.head.append(element);
  });
}

/** @type {Promise<void> | null} */
let plots = null;
/** Load d3 and Observable Plot, once; afterwards they are `d3` and `Plot`. @type {() => Promise<void>} */
export function loadPlot() {
  plots = plots || loadScript("vendor/d3.min.js").then(() => loadScript("vendor/plot.umd.min.js"));
  return plots;
}
