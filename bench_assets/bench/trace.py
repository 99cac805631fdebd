"""One question's way through the tables: what was asked, replied, judged and scored."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from bench_assets.bench.workbench import Workbench
from bench_assets.core.errors import UnknownNameError
from bench_assets.core.tables import to_json
from bench_assets.evaluation import evaluation_key, questions_key
from bench_assets.task import Task
from resources.settings.stores import replies_of


def trace(
    bench: Workbench, question_id: str, model: str = "", condition: str = "main"
) -> Iterator[dict[str, Any]]:
    """Walk a question through the tables, as JSON objects that name their table first.

    The prompt stands after the question, word for word as it was sent.

    Raises:
        UnknownNameError: If no question has that id.
    """
    task, question = _find(bench, question_id, condition)
    yield {"table": "/".join(questions_key(task, condition)), **to_json(question)}
    asked = task.conditions[condition].prompt(question)
    sent = replies_of(bench.settings).prompt(asked.sha256)
    yield {
        "table": "prompts",
        "sha256": asked.sha256,
        "sent": sent is not None,
        "turns": asked.to_json(),
    }
    known = bench.definitions.resolve_asset_graph().get_all_asset_keys()
    for table in ("predictions", "judgements", "scores"):
        key = evaluation_key(task, condition, table)
        if dg.AssetKey(key) not in known:
            continue
        models = [model] if model else bench.tables.partitions(key)
        for name in models:
            for row in bench.rows("/".join(key), name):
                if row.question_id == question_id:
                    yield {"table": "/".join(key), **to_json(row)}


def _find(bench: Workbench, question_id: str, condition: str) -> tuple[Task, Any]:
    seen: list[str] = []
    suite = question_id.partition("/")[0]
    tasks = bench.catalog.tasks_of(suite)
    asking = [task for task in tasks if condition in task.conditions]
    for task in asking or tasks:  # the first of those without it says which there are
        for question in bench.questions(task, condition):
            if question.question_id == question_id:
                return task, question
            seen.append(question.question_id)
    raise UnknownNameError("question", question_id, seen, all_by=f"bench questions {suite}")
