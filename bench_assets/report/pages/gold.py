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
        funnels = [_suite_funnel(tables, suite.gold) for suite in catalog.suites if suite.gold]
        non_empty = [funnel for funnel in funnels if funnel["funnel"] or funnel["problem"]]
        if non_empty:
            site.put("gold", non_empty)


def _suite_funnel(tables: TableFiles, step: GoldStep) -> dict[str, Any]:
    """Funnel and open proposals of a suite, or the error if its tables are unreadable."""
    data: dict[str, Any] = {"suite": step.suite, "funnel": [], "open": [], "problem": ""}
    folder = step.folder.split("/")
    if not tables.exists([*folder, "decided_proposals"]):
        return data
    try:
        proposals = tables.read([*folder, "proposals"], DecidedProposal)
        decided = tables.read([*folder, "decided_proposals"], DecidedProposal)
    except TableError as error:
        return {**data, "problem": escape_to_one_line(str(error))}
    open_proposals = [_proposal_data(row) for row in decided if is_for_people(row)]
    funnel = [asdict(row) for row in gold_funnel(proposals, decided)]
    return {**data, "funnel": funnel, "open": open_proposals[:_LISTED]}


def _proposal_data(row: DecidedProposal) -> dict[str, Any]:
    names = ("id", "construction", "before", "shows", "key", "why", "reason")
    row_fields = {name: getattr(row, name) for name in names}
    votes = list(zip(row.solvers, row.votes, row.last_lines, strict=True))
    question = mark_changes(row.before, row.question) if row.before else row.question
    return {**row_fields, "question": question, "votes": votes}
