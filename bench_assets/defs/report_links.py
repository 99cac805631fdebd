"""Links from asset checks to pages of the report."""

from collections.abc import Iterable, Mapping
from itertools import islice

import dagster as dg

from bench_assets.core.text.escaping import escape_markdown
from bench_assets.evaluation.task import Task
from bench_assets.report.site.addresses import (
    audit_page,
    number_page,
    sample_page,
    served_address,
    task_page,
)
from bench_resources.config.environment import default_home

_MAX_LINKS = 10  # questions that are linked


def link_questions(
    result: dg.AssetCheckResult,
    task: Task,
    condition: str = "main",
    model: str = "",
    questions: Iterable[str] = (),
) -> dg.AssetCheckResult:
    """Add links to the report, which work while ``bench ui`` or ``bench report --serve`` runs.

    They lead to the number of the model, or to the task if the checked tables have no model, and
    to the first few ``questions`` with findings, by id.
    """
    page = number_page(task.name, model, condition) if model else task_page(task.name)
    samples = {
        question: sample_page(task.name, question, model, condition) for question in questions
    }
    return _add_links(result, page, samples)


def link_audit(
    result: dg.AssetCheckResult, task: Task, questions: Iterable[str] = ()
) -> dg.AssetCheckResult:
    """Add links from an audit result to the task's findings and their questions."""
    samples = {question: sample_page(task.name, question) for question in questions}
    return _add_links(result, audit_page(task.name), samples)


def _add_links(
    result: dg.AssetCheckResult, page: str, samples: Mapping[str, str]
) -> dg.AssetCheckResult:
    """Link a page, and the pages of samples by question id."""
    served = served_address(default_home())
    links: dict[str, dg.MetadataValue] = {"report": dg.MetadataValue.url(f"{served}{page}")}
    if samples:
        lines = (
            f"- [{escape_markdown(question)}]({served}{address})"
            for question, address in islice(samples.items(), _MAX_LINKS)
        )
        links["samples"] = dg.MetadataValue.md("\n".join(lines))
    return result._replace(metadata={**(result.metadata or {}), **links})
