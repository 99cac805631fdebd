"""Data of ``#/gold``: what became of proposed questions, and the open ones."""

from dataclasses import asdict
from typing import Any

from bench_assets.annotation.gold import GoldStep, mark_changes
from bench_assets.catalog import Catalog
from bench_assets.core.gold.funnel import gold_funnel
from bench_assets.core.gold.proposals import DecidedProposal, is_for_people
from bench_assets.core.schema.errors import TableError
from bench_assets.core.text.escaping import escape_to_one_line
from bench_assets.report.site.folder import Site
from bench_resources.tables.parquet import TableFiles

_LISTED = 60  # open proposals per suite


class GoldPage:
    """Writes ``gold``: the funnel of each suite that proposes questions, and what is open."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the funnels; unreadable tables by their error."""
        entries = [_suite(tables, suite.gold) for suite in catalog.suites if suite.gold]
        if built := [entry for entry in entries if entry["funnel"] or entry["problem"]]:
            site.put("gold", built)


def _suite(tables: TableFiles, step: GoldStep) -> dict[str, Any]:
    entry: dict[str, Any] = {"suite": step.suite, "funnel": [], "open": [], "problem": ""}
    folder = step.folder.split("/")
    if not tables.exists([*folder, "decided_proposals"]):
        return entry
    try:
        proposals = tables.read([*folder, "proposals"], DecidedProposal)
        decided = tables.read([*folder, "decided_proposals"], DecidedProposal)
    except TableError as error:
        return {**entry, "problem": escape_to_one_line(str(error))}
    waiting = [_proposal(row) for row in decided if is_for_people(row)]
    funnel = [asdict(row) for row in gold_funnel(proposals, decided)]
    return {**entry, "funnel": funnel, "open": waiting[:_LISTED]}


def _proposal(row: DecidedProposal) -> dict[str, Any]:
    names = ("id", "construction", "before", "shows", "key", "why", "reason")
    shown = {name: getattr(row, name) for name in names}
    votes = list(zip(row.solvers, row.votes, row.last_lines, strict=True))
    question = mark_changes(row.before, row.question) if row.before else row.question
    return {**shown, "question": question, "votes": votes}
