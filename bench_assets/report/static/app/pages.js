/* Routes, and the frame of every page. The whole state is in the address, so that every state is a link. */
"use strict";
(() => {
  const routes = []; // {parts, render}
  let main = null;

  /** Register a page: Bench.page("/samples/:task", async (main, params, query) => ...).
      `query` is a URLSearchParams. Content that arrives after the reader has left is not shown. */
  function page(pattern, render) {
    routes.push({ parts: split(pattern), render });
  }

  /** An address: Bench.link(["samples", "journeybench/mcot"], {model: ["a", "b"], wrong: 1}). */
  function link(parts, query) {
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(query || {})) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== null && one !== undefined && one !== "") given.append(name, one);
      }
    }
    return `#/${parts.map(encodeURIComponent).join("/")}${given.size ? `?${given}` : ""}`;
  }

  /** The query of the present address. */
  function query() {
    return new URLSearchParams(location.hash.split("?").slice(1).join("?"));
  }

  /** Change the query of the address without redrawing the page. */
  function replaceQuery(changes) {
    const now = query();
    for (const [name, value] of Object.entries(changes)) {
      now.delete(name);
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== null && one !== undefined && one !== "") now.append(name, one);
      }
    }
    const route = location.hash.split("?")[0] || "#/";
    history.replaceState(null, "", `${route}${now.size ? `?${now}` : ""}`);
  }

  /** The title of the page, in the window and as its heading. */
  function title(text, ...beside) {
    document.title = `${Bench.printable(text)} – bench-assets`;
    return Bench.h("h1", { tabindex: "-1" }, Bench.foreign(text), beside);
  }

  function split(path) {
    return path.split("/").filter(Boolean);
  }

  function found(path) {
    const parts = split(path);
    for (const route of routes) {
      if (route.parts.length !== parts.length) continue;
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

  function decoded(part) {
    try {
      return decodeURIComponent(part);
    } catch {
      return part; // an unescaped "%"
    }
  }

  /** Draw the page of the address. focus: whether to focus its heading; top: scroll position. */
  async function show(focus, top = 0) {
    const path = (location.hash.slice(1) || "/").split("?")[0];
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
    const next = Bench.h("main", { id: "main" });
    main.replaceWith(next);
    main = next;
    window.scrollTo(0, top);
    await navigation(path);
    const route = found(path);
    try {
      if (!route) throw new Error("This report has no such page.");
      await route.render(next, route.params, query());
    } catch (why) {
      console.error(why);
      next.replaceChildren(problem(why));
    }
    if (top) window.scrollTo(0, top);
    if (focus && next.isConnected) (next.querySelector("h1") || next).focus({ preventScroll: true });
  }

  const TABS = ["samples", "compare", "audit", "expectations", "annotation"];

  /** Links to the pages with data; the present one is marked. */
  async function navigation(path) {
    const tabs = Bench.has("tabs") ? await Bench.data("tabs") : [];
    const shown = [["", "Leaderboard"], ["task", "Tasks"], ...TABS.filter((one) => tabs.includes(one)).map((one) => [one, one[0].toUpperCase() + one.slice(1)])];
    document.querySelector("nav.pages").replaceChildren(...shown.map(([one, name]) => Bench.h(
      "a", { href: `#/${one}`, "aria-current": (split(path)[0] || "") === one && "page" }, name,
    )));
  }

  function problem(why) {
    return Bench.h(
      "section", { class: "problem", role: "alert" }, title("This page cannot be shown"),
      Bench.h("p", {}, Bench.printable(why.message)), Bench.h("p", {}, Bench.h("a", { href: "#/" }, "Leaderboard")),
    );
  }

  const EVERY = 5000; // ms between two checks for new data

  /** Check a served report for new data, and show them; ask first if the reader is using the page. */
  async function follow() {
    const news = document.querySelector(".news");
    try {
      if (await Bench.refresh()) news.hidden = false;
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
    const { running: all, missing } = await Bench.index();
    const lines = all.filter((one) => Date.now() / 1000 - one.at < RECENT).map((one) => {
      const [done, total] = one.part.match(/\d+/g).map(Number);
      const name = `${one.model} ${one.task}`;
      if (!begun.has(name)) begun.set(name, { done, at: one.at });
      const first = begun.get(name);
      const left = done > first.done ? `, about ${Math.ceil(((total - done) * (one.at - first.at)) / (done - first.done))} s left` : "";
      return Bench.h("span", {}, Bench.foreign(one.model), ` on ${Bench.printable(one.task)}: ${Bench.count(done)} of ${Bench.count(total)}${left}`);
    });
    if (missing.length) lines.push(Bench.h("a", { class: "problem", href: "#/" }, Bench.printable(missing[missing.length - 1])));
    document.querySelector(".running").replaceChildren(...lines);
  }

  async function renew() {
    document.querySelector(".news").hidden = true;
    await show(false, window.scrollY);
    await made();
  }

  /** Draw the frame and the first page. */
  async function start() {
    main = Bench.h("main", { id: "main" });
    document.body.append(
      Bench.h("a", { class: "skip", href: "#main", onclick: toMain }, "To the content"),
      Bench.h(
        "header", { class: "frame" }, Bench.h("a", { class: "name", href: "#/" }, "bench-assets"),
        Bench.h("nav", { class: "pages", "aria-label": "Pages" }),
        Bench.h("button", { class: "plain news", hidden: true, onclick: renew }, "Show new results"),
        Bench.themeSwitch(), Bench.h("p", { class: "running note", role: "status" }),
      ),
      main,
      Bench.h("footer", { class: "frame" }),
    );
    window.addEventListener("hashchange", () => show(true));
    await show(false);
    await made();
    if (["127.0.0.1", "localhost"].includes(location.hostname)) await follow();
  }

  async function made() {
    const { version, measured } = await Bench.index();
    document.querySelector("footer.frame").textContent = `Made by bench-assets ${version}${measured ? `; newest number: ${measured}` : ""}. Loads nothing from other sites.`;
  }

  function toMain(event) {
    event.preventDefault(); // the hash is the route
    (main.querySelector("h1") || main).focus();
  }

  document.addEventListener("DOMContentLoaded", start); // when every page is registered
  Object.assign(Bench, { page, link, query, replaceQuery, title });
})();
