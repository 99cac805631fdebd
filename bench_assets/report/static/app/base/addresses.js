/* Addresses of pages: the whole state of a page is in its address. */

/** An address: pageLink(["samples", "journeybench/mcot"], {model: ["a", "b"], wrong: 1}). @type {(parts: string[], query?: Query) => string} */
export function pageLink(parts, query) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query || {})) appendValues(given, name, value);
  return `#/${parts.map(encodeURIComponent).join("/")}${given.size ? `?${given}` : ""}`;
}

/** Append a value, or each of a list, to a query; null, undefined and "" are left out.
    @type {(query: URLSearchParams, name: string, value: Query[string]) => void} */
function appendValues(query, name, value) {
  for (const text of Array.isArray(value) ? value : [value]) {
    if (text !== null && text !== undefined && text !== "") query.append(name, text);
  }
}

/** The query of the present address. */
export function currentQuery() {
  return new URLSearchParams(location.hash.split("?").slice(1).join("?"));
}

/** Change the query of the address without redrawing the page. @type {(changes: Query) => void} */
export function replaceQuery(changes) {
  const now = currentQuery();
  for (const [name, value] of Object.entries(changes)) {
    now.delete(name);
    appendValues(now, name, value);
  }
  const route = location.hash.split("?")[0] || "#/";
  history.replaceState(null, "", `${route}${now.size ? `?${now}` : ""}`);
}
