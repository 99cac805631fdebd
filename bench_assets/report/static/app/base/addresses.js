/* Addresses of pages: the whole state of a page is in its address. */

/** An address: pageLink(["samples", "journeybench/mcot"], {model: ["a", "b"], wrong: 1}). @type {(parts: string[], query?: Query) => string} */
export function pageLink(parts, query) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query || {})) {
    for (const text of Array.isArray(value) ? value : [value]) {
      if (text !== null && text !== undefined && text !== "") given.append(name, text);
    }
  }
  return `#/${parts.map(encodeURIComponent).join("/")}${given.size ? `?${given}` : ""}`;
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
    for (const text of Array.isArray(value) ? value : [value]) {
      if (text !== null && text !== undefined && text !== "") now.append(name, text);
    }
  }
  const route = location.hash.split("?")[0] || "#/";
  history.replaceState(null, "", `${route}${now.size ? `?${now}` : ""}`);
}
