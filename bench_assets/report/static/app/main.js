/* The report's pages by their routes. Imported first, the theme applies before anything is drawn. */
import "./base/theme.js";
import { startPages } from "./base/pages.js";
import { comparePage } from "./compare/compare.js";
import { leaderboardPage } from "./leaderboard/leaderboard.js";
import { annotationList, annotationPage } from "./provenance/annotation.js";
import { auditList, auditPage } from "./provenance/audit.js";
import { goldPage } from "./provenance/gold.js";
import { numberPage } from "./provenance/number.js";
import { sampledTasks, samplesPage } from "./samples/samples.js";
import { taskList } from "./task/list.js";
import { taskPage } from "./task/task.js";

startPages({
  "/": leaderboardPage,
  "/task": taskList,
  "/task/:task": taskPage,
  "/samples": sampledTasks,
  "/samples/:task": samplesPage,
  "/compare": comparePage,
  "/number/:slug": numberPage,
  "/audit": auditList,
  "/audit/:task": auditPage,
  "/gold": goldPage,
  "/annotation": annotationList,
  "/annotation/:task": annotationPage,
});
