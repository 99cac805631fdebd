"""Evidence about a judged task, in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bench_assets.audit.framework.evidence import Columns, Results, Table
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.checked_scores import PeopleCheck
from bench_assets.evaluation.task import Task
from bench_assets.suites.codis.task import TASK as CODIS
from tests.audit.held import PartialEvidence, columns_of
from tests.fakes.rows import question

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
class Judged(PartialEvidence):
    """What lies in a home about one task, without a home."""

    questions: Sequence[Question]
    responses: Mapping[str, Sequence[Prediction]]
    verdicts: Mapping[str, Sequence[Judgement]] = field(default_factory=dict)
    task: Task = CODIS
    people_checks: Mapping[str, PeopleCheck] = field(default_factory=dict)

    def predictions(self, model: str, condition: str = "main") -> Sequence[Prediction]:
        return self.responses[model]

    def judgements(self, model: str, condition: str = "main") -> Sequence[Judgement]:
        return self.verdicts.get(model, [])

    def scores(self, model: str, condition: str = "main") -> list[Score]:
        return pipeline.score(
            self.task, self.questions, self.responses[model], self.judgements(model)
        )

    def columns(
        self, table: Table, model: str, names: Sequence[str], condition: str = "main"
    ) -> Columns:
        return columns_of(getattr(self, table)(model, condition), names)

    def results(self, condition: str = "main") -> Results:
        ids = tuple(one.question_id for one in self.questions)
        points = np.full((len(self.responses), len(ids)), np.nan)
        return Results(models=tuple(self.responses), questions=ids, points=points)
