"""Evidence about a task with made-up models, and judges who are honest, or are not."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench_assets.audit.framework.evidence import (
    Columns,
    JudgeFigure,
    JudgeVerdict,
    OrderFigure,
    Results,
    Table,
)
from bench_assets.audit.judges.human_agreement import collect_verdicts
from bench_assets.core.schema.chat import Request
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score, Vote
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import Task
from bench_assets.suites.codis.task import TASK as CODIS
from bench_resources.models.registry.baselines import ScriptedModel
from tests.audit.held import columns_of
from tests.rows import prediction, question

ANSWERS = ("heron", "teapot", "ladder", "violin", "cactus", "anchor")


def queries(n: int = 60) -> list[Question]:
    """Queries of CODIS in pairs; each pair has two possible answers."""
    return [
        question(
            question_id=f"codis/{number // 2:03}/{number % 2 + 1}",
            task="codis",
            text="What is meant?",
            answer=(options[number % 2],),
            options=options,
            group_id=f"{number // 2:03}",
        )
        for number in range(n)
        for pair in [number // 2]
        for options in [(ANSWERS[pair % 6], ANSWERS[(pair + 1) % 6])]
    ]


@dataclass
class Judged:
    """What lies in a home about one task, without a home."""

    questions: Sequence[Question]
    said: Mapping[str, Sequence[Prediction]]
    heard: Mapping[str, Sequence[Judgement]] = field(default_factory=dict)
    task: Task = CODIS
    judge_figures: Sequence[JudgeFigure] = ()
    order_figures: Sequence[OrderFigure] = ()
    votes: Sequence[Vote] = ()
    elsewhere: Mapping[str, Any] = field(default_factory=dict)

    def predictions(
        self, model: str, condition: str = "main", of: Collection[str] | None = None
    ) -> Sequence[Prediction]:
        return [one for one in self.said[model] if of is None or one.question_id in of]

    def judgements(
        self, model: str, condition: str = "main", of: Collection[str] | None = None
    ) -> Sequence[Judgement]:
        heard = self.heard.get(model, [])
        return [one for one in heard if of is None or one.question_id in of]

    def scores(self, model: str, condition: str = "main") -> list[Score]:
        return pipeline.score(self.task, self.questions, self.said[model], self.judgements(model))

    def columns(
        self, table: Table, model: str, names: Sequence[str], condition: str = "main"
    ) -> Columns:
        return columns_of(getattr(self, table)(model, condition), names)

    @property
    def verdicts(self) -> Sequence[JudgeVerdict]:
        return collect_verdicts(self)

    def results(self, condition: str = "main") -> Results:
        ids = tuple(one.question_id for one in self.questions)
        points = np.full((len(self.said), len(ids)), np.nan)
        return Results(models=tuple(self.said), questions=ids, points=points)


def responses(
    asked: Sequence[Question], right: float, name: str, seed: int = 0
) -> list[Prediction]:
    """Responses of a model that is right with a probability, in a sentence or a word."""
    rng = np.random.default_rng(seed)
    said = []
    for one in asked:
        (key,) = one.answer
        other = next(option for option in one.options if option != key)
        answer = key if rng.random() < right else other
        text = answer if rng.random() < 0.5 else f"I have looked at it, and it is the {answer}."
        said.append(prediction(question_id=one.question_id, model=name, text=text, raw_text=text))
    return said


def asked_of_codis(request: Request) -> tuple[str, str]:
    """The ground truth and the output that a prompt of CODIS' judge shows."""
    text = "".join(part for part in request.prompt.turns[-1].parts if isinstance(part, str))
    truth, _, output = text.partition("Here is the groundtruth: ")[2].partition(
        "\nHere is the output: "
    )
    return truth, output


def is_right(truth: str, output: str) -> bool:
    """Whether what somebody says is the truth, whatever he tells the judge beside it."""
    first = output.split("\n\n")[:2]
    return any(truth in part for part in first)


def obeys(output: str) -> bool:
    """Whether an output has words that one who obeys would follow."""
    return any(word in output.casefold() for word in ("right", "yes", "correct", "true"))


def honest(request: Request) -> str:
    return "right" if is_right(*asked_of_codis(request)) else "wrong"


def always_right(_: Request) -> str:
    return "right"


def follower(request: Request) -> str:
    truth, output = asked_of_codis(request)
    return "right" if is_right(truth, output) or obeys(output) else "wrong"


def likes_length(request: Request) -> str:
    truth, output = asked_of_codis(request)
    return "right" if is_right(truth, output) or 30 < len(output) < 400 else "wrong"


def judged_by(
    says: Callable[[Request], str],
    said: Mapping[str, Sequence[Prediction]],
    asked: Sequence[Question],
    name: str = "a judge",
) -> dict[str, list[Judgement]]:
    """Have a model that is a function judge everything."""
    judge = ScriptedModel(name, says)
    return {model: pipeline.judge(CODIS, asked, rows, judge) for model, rows in said.items()}
