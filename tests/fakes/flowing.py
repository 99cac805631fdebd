"""A task of three questions, its judges, and responses to it."""

from collections.abc import Sequence
from typing import Any

from bench_assets.core.schema.chat import ChatModel, Image, Prompt
from bench_assets.core.schema.rows import Judgement, Prediction, Score
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.evaluation.task import AnsweredQuestion, ByModel, ByRules, Condition, Task
from tests.fakes.rows import prediction, question

QUESTIONS = [
    question(question_id="t/1", text="one?", answer=("1",), category="odd"),
    question(question_id="t/2", text="two?", answer=("2",), category="even"),
    question(question_id="t/3", text="three?", answer=("3",), category="odd"),
]


def exact(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    points = float(answered.prediction.text == answered.question.answer[0])
    return Score.of(answered.prediction, points=points, answer=(answered.prediction.text,))


def by_verdict(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    (judgement,) = judgements
    return Score.of(answered.prediction, points=float(judgement.verdict is True))


def by_rules(answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
    return [
        Judgement.of(p, judge="rules", criterion="c", verdict=p.text in q.answer, response="")
        for q, p in answered
    ]


def by_model(answered: Sequence[AnsweredQuestion], model: ChatModel) -> list[Judgement]:
    return [
        Judgement.of(p, judge=model.name, criterion="c", verdict=True, response="")
        for _, p in answered
    ]


JUDGES = {"rules": ByRules(by_rules), "paper": ByModel(by_model)}


def task(**fields: Any) -> Task:
    standard: dict[str, Any] = {
        "name": "t",
        "title": "T",
        "version": 3,
        "conditions": {
            "main": Condition(prompt=lambda q: Prompt.of(q.text, *map(Image, q.images)), about=""),
            "thrice": Condition(
                prompt=lambda q: Prompt.of(q.text), about="", samples=3, temperature=0.7
            ),
        },
        "scorers": {"exact": exact, "by_verdict": by_verdict},
        "measures": {"accuracy": lambda rows: mean(ScoredPoint(s.points) for _, s in rows)},
    }
    return Task(**standard | fields)


def responses_of(**texts: str) -> list[Prediction]:
    """Responses by the number of the question: ``q1="1"``; an empty one never came."""
    return [
        prediction(question_id=f"t/{name[1:]}", text=text, error="" if text else "timeout")
        for name, text in texts.items()
    ]
