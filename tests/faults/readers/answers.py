from collections.abc import Callable
from functools import cache
from pathlib import Path

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import RULES, ByModel, Task
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.errors import classify_error
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from bench_resources.models.api.engine import FormatOf
from bench_resources.models.api.formats.anthropic import Anthropic
from bench_resources.models.api.formats.openai import OpenAI
from bench_resources.models.api.formats.response_body import decode_response
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.chat_server import Answer, body_of
from tests.fakes.rows import prediction, question
from tests.faults.readers.reader import from_text, row

_PATHS = {"openai": "/completions", "anthropic": "/messages"}


def _bodies(path: str) -> list[bytes]:
    """A response and an error of an API."""
    request: dict[str, list[object]] = {"messages": []}
    answers = (Answer(text="A"), Answer(status=500, text="no"))
    return [body_of(answer, request, path) for answer in answers]


def _response_reader(name: str) -> Callable[[bytes, Path], object]:
    """A reader of bodies in the format of an API."""
    spec = ServerSpec(kind="server", base_url="http://s/v1", model="m", format=name)
    apis: dict[str, FormatOf] = {"openai": OpenAI, "anthropic": Anthropic}
    form = apis[name](spec, lambda _: b"")
    return lambda data, _: decode_response(form, data, 1.0, {})


@cache
def _tasks() -> list[tuple[Task, list[Question]]]:
    from tests.test_no_answer import questions_of

    suites = load_catalog().only(["blink", "codis", "cogbench", "journeybench", "multi"])
    return [(task, questions_of(task)) for task in suites.tasks if task.asked_of == "model"]


def _score_in_every_task(text: str) -> object:
    """Read a response by every scorer of every task."""
    for task, questions in _tasks():
        predictions = [
            prediction(question_id=question.question_id, text=text) for question in questions
        ]
        judgements = []
        if RULES in task.judges:
            judgements = pipeline.judge(task, questions, predictions, None)
        for scorer in task.scorers:
            scores = pipeline.score(task, questions, predictions, judgements, scorer)
            pipeline.summarise(task, questions, predictions, scores)
    return None


def _judge_in_every_task(text: str) -> object:
    """Read a reply of a judge model by every judge of every task."""
    for task, questions, judge in judges():
        verdicts_for(task, questions[:1], judge, text)
    return None


def verdicts_for(task, questions, judge, reply):
    """Verdicts of a judge model with a constant reply on a response that no rule can read."""
    predictions = [
        prediction(question_id=question.question_id, text="I would say so.")
        for question in questions
    ]
    model = ScriptedModel("judge", lambda _: reply)
    judgements = pipeline.judge(task, questions, predictions, model, judge)
    scores = pipeline.score(task, questions, predictions, judgements)
    pipeline.summarise(task, questions, predictions, scores)
    return [judgement.verdict for judgement in judgements if not judgement.by_rules]


def judges() -> list[tuple[Task, list[Question], str]]:
    """Task, questions and name of every judge that asks a model."""
    return [
        (task, questions, name)
        for task, questions in _tasks()
        for name, judge in task.judges.items()
        if isinstance(judge, ByModel)
    ]


def _preview(text: str) -> object:
    shown = question(text=text, options=(text, "x"), kind="choice", answer=("A",), context=text)
    return question_preview([shown], ImageStore(folder="nowhere"))


ANSWERS = [
    *(
        row(f"a response of a server, {name}", "json", _response_reader(name), *_bodies(path))
        for name, path in _PATHS.items()
    ),
    row("an error of a server", "json", lambda data, _: classify_error(
        500, data, {"retry-after": "1"}), b'{"error": {"message": "no", "code": 1}}'),
    row("a response, by every scorer of every task", "text", from_text(_score_in_every_task),
         b"The answer: A", b"opening", b"3", short=False),
    row("a verdict, by every judge of every task", "text", from_text(_judge_in_every_task),
         b"right", b"yes", b"1. [1] 2. [0]", b"(A)", short=False),
    row("the preview of a question", "text", from_text(_preview), b"<script>1</script> a|b"),
]  # fmt: skip
