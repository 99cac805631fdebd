"""Readers of servers' answers, and of every task's responses and verdicts, end to end."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import RULES, ByModel, Task
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.errors import failure
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from bench_resources.models.api.engine import FormatOf
from bench_resources.models.api.formats.anthropic import Anthropic
from bench_resources.models.api.formats.openai import OpenAI
from bench_resources.models.api.formats.response_body import decode_response
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.chat_server import Answer, body_of
from tests.fakes.rows import prediction, question
from tests.faults.readers.reader import Reader, of_text

_PATHS = {"openai": "/completions", "anthropic": "/messages"}


def _bodies(path: str) -> list[bytes]:
    """A response and an error of an API."""
    request: dict[str, list[object]] = {"messages": []}
    kinds = (Answer(text="A"), Answer(status=500, text="no"))
    return [body_of(answer, request, path) for answer in kinds]


def _server(name: str) -> Callable[[bytes, Path], object]:
    spec = ServerSpec(kind="server", base_url="http://s/v1", model="m", format=name)
    apis: dict[str, FormatOf] = {"openai": OpenAI, "anthropic": Anthropic}
    form = apis[name](spec, lambda _: b"")
    return lambda data, _: decode_response(form, data, 1.0, {})


@cache
def _tasks() -> list[tuple[Task, list[Question]]]:
    from tests.test_no_answer import questions_of

    suites = load_catalog().only(["blink", "codis", "cogbench", "journeybench", "multi"])
    return [(task, questions_of(task)) for task in suites.tasks if task.asked_of == "model"]


def _every_task(text: str) -> object:
    """One response, read by every scorer of every task."""
    for task, questions in _tasks():
        predictions = [
            prediction(question_id=question.question_id, text=text) for question in questions
        ]
        rules = RULES in task.judges
        judged = pipeline.judge(task, questions, predictions, None) if rules else []
        for scorer in task.scorers:
            scores = pipeline.score(task, questions, predictions, judged, scorer)
            pipeline.summarise(task, questions, predictions, scores)
    return None


def _every_judge(text: str) -> object:
    """One verdict, read by every judge of every task."""
    for task, questions in _tasks():
        for name, judge in task.judges.items():
            if isinstance(judge, ByModel):
                judged_as(task, questions[:1], name, text)
    return None


def judged_as(task: Task, questions: list[Question], judge: str, text: str) -> list[bool | None]:
    """What a judge that always says the same decides of a response that the rules do not read."""
    predictions = [
        prediction(question_id=question.question_id, text="I would say so.")
        for question in questions
    ]
    rows = pipeline.judge(
        task, questions, predictions, ScriptedModel("judge", lambda _: text), judge
    )
    scores = pipeline.score(task, questions, predictions, rows)
    pipeline.summarise(task, questions, predictions, scores)
    return [row.verdict for row in rows if not row.by_rules]


def judges() -> list[tuple[Task, list[Question], str]]:
    """Every judge of every task that asks a model."""
    return [
        (task, questions, name)
        for task, questions in _tasks()
        for name, judge in task.judges.items()
        if isinstance(judge, ByModel)
    ]


def _preview(text: str) -> object:
    shown = question(text=text, options=(text, "x"), kind="choice", answer=("A",), context=text)
    return question_preview([shown], ImageStore(folder="nowhere"))


def _row(name: str, kind: str, read_it: object, *seeds: bytes, **more: Any) -> Reader:
    return Reader(name=name, kind=kind, read=read_it, seeds=seeds, **more)  # type: ignore[arg-type]


ANSWERS = [
    *(
        _row(f"a response of a server, {name}", "json", _server(name), *_bodies(path))
        for name, path in _PATHS.items()
    ),
    _row("an error of a server", "json", lambda data, _: failure(
        500, data, {"retry-after": "1"}), b'{"error": {"message": "no", "code": 1}}'),
    _row("a response, by every scorer of every task", "text", of_text(_every_task),
         b"The answer: A", b"opening", b"3", short=False),
    _row("a verdict, by every judge of every task", "text", of_text(_every_judge), b"right", b"yes",
         b"1. [1] 2. [0]", b"(A)", short=False),
    _row("the preview of a question", "text", of_text(_preview), b"<script>1</script> a|b"),
]  # fmt: skip
