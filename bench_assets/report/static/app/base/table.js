/* Sortable tables: by a click or Enter on the head of a column. */
import { h } from "./elements.js";
import { foreign, formatCount, formatNumber } from "./text.js";

/** Make a table.

    columns: [{key, title, number, value(row), cell(row), hint, ascending, plain (not sortable)}]. `value` is sorted
    and exported (default: row[key]), `cell` is shown (a text, an element, or a list of them). Numbers are aligned
    right, and sorted highest first unless `ascending`.
    options: {caption, label (without a caption), sort: "key" or "-key", onsort(sort), heading: key of the column
    whose cells name their rows, class, rowClass(row), groups: [{title, span}] above the heads, below: sections
    [{class, title, rows}], which are not sorted}. A table that is wider than the page says so.
    @type {<R>(columns: Column<R>[], rows: R[], options?: TableOptions<R>) => HTMLElement} */
export function sortableTable(columns, rows, options = {}) {
  let sort = options.sort || "";
  let shown = rows;
  const body = h("tbody");
  const heads = columns.map((column) => head(column, () => {
    const falls = column.number && !column.ascending;
    const first = falls ? `-${column.key}` : column.key;
    sort = sort === first ? (falls ? column.key : `-${column.key}`) : first;
    draw();
    if (options.onsort) options.onsort(sort);
  }));

  function draw() {
    const key = sort.replace(/^-/, "");
    columns.forEach((column, i) => {
      const way = column.key !== key ? null : sort.startsWith("-") ? "descending" : "ascending";
      if (way) heads[i].setAttribute("aria-sort", way);
      else heads[i].removeAttribute("aria-sort");
    });
    const by = columns.find((column) => column.key === key);
    shown = sortRows(rows, by, sort.startsWith("-"));
    body.replaceChildren(...shown.map((row) => line(columns, row, options)));
  }

  draw();
  const named = options.caption || options.label || "Table";
  const wide = h(
    "div", { class: "wide", tabindex: "0", role: "region", "aria-label": named },
    h(
      "table", { class: options.class, "aria-label": options.caption ? null : named },
      options.caption && h("caption", {}, options.caption),
      h("thead", {}, grouped(options.groups), h("tr", {}, heads)),
      body, (options.below || []).map((section) => fixed(columns, section, options)),
    ),
    rows.length > 0 && csvLink(
      columns.filter((column) => !(column.plain && column.cell)),
      () => [{ rows: shown }, ...(options.below || [])].flatMap((part) => (part ? part.rows : [])), named,
    ),
  );
  new ResizeObserver(() => wide.classList.toggle("scrolls", wide.scrollWidth > wide.clientWidth + 1)).observe(wide);
  return wide;
}

/** @type {(groups?: { title: string, span: number }[]) => Child} */
function grouped(groups) {
  return groups && h("tr", { class: "groups" }, groups.map((group) =>
    h(group.title ? "th" : "td", { colspan: group.span, scope: group.title ? "colgroup" : null }, group.title)));
}

/** @type {(columns: Column<any>[], section: TableSection<any> | false | null, options: TableOptions<any>) => Child} */
function fixed(columns, section, options) {
  if (!section || !section.rows.length) return null;
  return h(
    "tbody", { class: section.class },
    section.title && h("tr", { class: "title" }, h("th", { colspan: columns.length, scope: "rowgroup" }, h("span", {}, section.title))),
    section.rows.map((row) => line(columns, row, options)),
  );
}

/** The value of a row in a column. @type {(column: { key: string, value?: (row: any) => any }, row: any) => any} */
function valueOf(column, row) {
  return column.value ? column.value(row) : row[column.key];
}

/** Rows sorted by a column; those without a value are always last.
    @type {<R>(rows: R[], column: { key: string, value?: (row: R) => any } | undefined, descending: boolean) => R[]} */
export function sortRows(rows, column, descending) {
  if (!column) return [...rows];
  /** @type {(value: any) => boolean} */
  const missing = (value) => value === null || value === undefined || value === "" || Number.isNaN(value);
  return [...rows].sort((a, b) => {
    const [x, y] = [valueOf(column, a), valueOf(column, b)];
    if (missing(x) || missing(y)) return Number(missing(x)) - Number(missing(y));
    const order = typeof x === "number" && typeof y === "number"
      ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    return descending ? -order : order;
  });
}

/** @type {(column: Column<any>, click: () => void) => HTMLElement} */
function head(column, click) {
  return h(
    "th", { scope: "col", class: column.number ? "number" : null, title: column.hint },
    column.plain ? column.title : h("button", { type: "button", onclick: click }, column.title),
  );
}

/** @type {(columns: Column<any>[], row: any, options: TableOptions<any>) => HTMLElement} */
function line(columns, row, options) {
  return h("tr", { class: options.rowClass && options.rowClass(row) }, columns.map((column) => {
    const value = valueOf(column, row);
    const shown = column.cell ? column.cell(row)
      : typeof value === "number" ? (Number.isInteger(value) ? formatCount(value) : formatNumber(value))
      : value === null || value === undefined ? "" : foreign(value);
    const isHeading = column.key === options.heading;
    return h(isHeading ? "th" : "td", {
      scope: isHeading ? "row" : null, class: column.number ? "number" : null,
    }, shown);
  }));
}

/** Rows as CSV (RFC 4180); formulas are escaped for spreadsheets. @type {(columns: Column<any>[], rows: any[]) => string} */
function csv(columns, rows) {
  /** @type {(value: any) => string} */
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
    const text = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns.map((column) => cell(h("span", {}, column.title).textContent)), ...rows.map((row) => columns.map((c) => cell(valueOf(c, row) ?? textOf(c, row))))];
  return lines.map((cells) => `${cells.join(",")}\r\n`).join("");
}

/** Text of a cell without a sortable value. @type {(column: Column<any>, row: any) => string | null} */
function textOf(column, row) {
  return column.cell ? h("span", {}, column.cell(row)).innerText : null;
}

/** A link that saves the present rows as a CSV file. @type {(columns: Column<any>[], rows: () => any[], name: string) => HTMLElement} */
function csvLink(columns, rows, name) {
  const file = `${name.replace(/[^\w-]+/g, "-")}.csv`;
  return h("a", {
    class: "csv no-print", download: file, href: "#", "aria-label": `CSV: ${name}`,
    onclick: (event) => { // written on demand, because the address contains all rows
      event.currentTarget.href = `data:text/csv;charset=utf-8,${encodeURIComponent(csv(columns, rows()))}`;
    },
  }, "CSV");
}
