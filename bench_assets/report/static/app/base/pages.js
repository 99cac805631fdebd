/* Routes, and the frame of every page. The whole state is in the address, so that every state is a link. */
import { currentQuery } from "./addresses.js";
import { hasData, loadData, refreshData } from "./data.js";
import { h } from "./elements.js";
import { loadIndex } from "./results.js";
import { foreign, formatCount, printable } from "./text.js";
import { themeSwitch } from "./theme.js";

/** @type {{ parts: string[], render: DrawPage }[]} */
let routes = [];
/** @type {HTMLElement} */
let main; // the element of the present page

/** The title of the page, in the window and as its heading. @type {(text: string, ...beside: Child[]) => HTMLElement} */
export function pageTitle(text, ...beside) {
  document.title = `${printable(text)} – bench-assets`;
  return h("h1", { tabindex: "-1" }, foreign(text), beside);
}

/** @type {(path: string) => string[]} */
function split(path) {
  return path.split("/").filter(Boolean);
}

/** @type {(path: string) => { render: DrawPage, params: Params } | null} */
function routeOf(path) {
  const parts = split(path);
  for (const route of routes) {
    if (route.parts.length !== parts.length) continue;
    /** @type {Params} */
    const params = {};
    const fits = route.parts.every((part, i) => {
      if (!part.startsWith(":")) return part === parts[i];
      params[part.slice(1)] = decoded(parts[i]);
      return true;
    });
    if (fits) return { render: route.render, params };
  }
  return null;
}

/** @type {(part: string) => string} */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // an unescaped "%"
  }
}

/** Draw the page of the address. focus: whether to focus its heading; top: scroll position.
    @type {(focus: boolean, top?: number) => Promise<void>} */
async function show(focus, top = 0) {
  const path = (location.hash.slice(1) || "/").split("?")[0];
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  const next = h("main", { id: "main" });
  main.replaceWith(next);
  main = next;
  window.scrollTo(0, top);
  await navigation(path);
  const route = routeOf(path);
  try {
    if (!route) throw new Error("This report has no such page.");
    await route.render(next, route.params, currentQuery());
  } catch (error) {
    console.error(error);
    next.replaceChildren(problem(error));
  }
  if (top) window.scrollTo(0, top);
  if (focus && next.isConnected) (next.querySelector("h1") || next).focus({ preventScroll: true });
}

const TABS = ["samples", "compare", "audit", "annotation"];

/** Links to the pages with data; the present one is marked. @type {(path: string) => Promise<void>} */
async function navigation(path) {
  const tabs = hasData("tabs") ? await loadData("tabs") : [];
  const shown = [["", "Leaderboard"], ["task", "Tasks"], ...TABS.filter((tab) => tabs.includes(tab)).map((tab) => [tab, tab[0].toUpperCase() + tab.slice(1)])];
  document.querySelector("nav.pages").replaceChildren(...shown.map(([tab, name]) => h(
    "a", { href: `#/${tab}`, "aria-current": (split(path)[0] || "") === tab && "page" }, name,
  )));
}

/** @type {(error: any) => HTMLElement} */
function problem(error) {
  return h(
    "section", { class: "problem", role: "alert" }, pageTitle("This page cannot be shown"),
    h("p", {}, printable(error.message)), h("p", {}, h("a", { href: "#/" }, "Leaderboard")),
  );
}

const EVERY = 5000; // ms between two checks for new data

/** Check a served report for new data, and show them; ask first if the reader is using the page. */
async function follow() {
  const news = newsButton();
  try {
    if (await refreshData()) news.hidden = false;
  } catch {
    return; // the server has ended
  }
  const isIdle = !main.contains(document.activeElement) || document.activeElement.localName === "h1";
  if (!news.hidden && isIdle && !main.querySelector("dialog[open], details[open], .sample-columns")) await renew();
  await running();
  setTimeout(follow, EVERY);
}

const RECENT = 120; // s since the last snapshot of an evaluation that is not over
const begun = new Map(); // first snapshot that this page has seen of each evaluation

/** Show the evaluations in progress of a served report: responses, time left, and the last failure. */
async function running() {
  const { running: all, missing } = await loadIndex();
  const lines = all.filter((one) => Date.now() / 1000 - one.at < RECENT).map((one) => {
    const [done, total] = one.part.match(/\d+/g).map(Number);
    const name = `${one.model} ${one.task}`;
    if (!begun.has(name)) begun.set(name, { done, at: one.at });
    const first = begun.get(name);
    const left = done > first.done ? `, about ${Math.ceil(((total - done) * (one.at - first.at)) / (done - first.done))} s left` : "";
    return h("span", {}, foreign(one.model), ` on ${printable(one.task)}: ${formatCount(done)} of ${formatCount(total)}${left}`);
  });
  if (missing.length) lines.push(h("a", { class: "problem", href: "#/" }, printable(missing[missing.length - 1])));
  document.querySelector(".running").replaceChildren(...lines);
}

/** @type {() => HTMLElement} */
function newsButton() {
  return document.querySelector("button.news");
}

async function renew() {
  newsButton().hidden = true;
  await show(false, window.scrollY);
  await made();
}

/** Draw the frame and the first page, once the document is there, and then the page of each new address.

    pages: by pattern, such as "/samples/:task", async (main, params, query) => ...; `query` is a URLSearchParams.
    Content that arrives after the reader has left is not shown.
    @type {(pages: Record<string, DrawPage>) => void} */
export function startPages(pages) {
  routes = Object.entries(pages).map(([pattern, render]) => ({ parts: split(pattern), render }));
  document.addEventListener("DOMContentLoaded", start);
}

async function start() {
  main = h("main", { id: "main" });
  document.body.append(
    h("a", { class: "skip", href: "#main", onclick: toMain }, "To the content"),
    h(
      "header", { class: "frame" }, h("a", { class: "name", href: "#/" }, "bench-assets"),
      h("nav", { class: "pages", "aria-label": "Pages" }),
      h("button", { class: "plain news", hidden: true, onclick: renew }, "Show new results"),
      themeSwitch(), h("p", { class: "running note", role: "status" }),
    ),
    main,
    h("footer", { class: "frame" }),
  );
  window.addEventListener("hashchange", () => show(true));
  await show(false);
  await made();
  if (["127.0.0.1", "localhost"].includes(location.hostname)) await follow();
}

async function made() {
  const { version, measured } = await loadIndex();
  document.querySelector("footer.frame").textContent = `Made by bench-assets ${version}${measured ? `; newest number: ${measured}` : ""}. Loads nothing from other sites.`;
}

/** @type {(event: Event) => void} */
function toMain(event) {
  event.preventDefault(); // the hash is the route
  (main.querySelector("h1") || main).focus();
}
