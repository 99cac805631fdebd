"""A task of three questions, its judges, and what is said to it."""

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.evaluation.task import ByModel, ByRules, Condition, Task
from tests.fakes.rows import prediction, question

QUESTIONS = [
    question(question_id="t/1", text="one?", answer=("1",), category="odd"),
    question(question_id="t/2", text="two?", answer=("2",), category="even"),
    question(question_id="t/3", text="three?", answer=("3",), category="odd"),
]


def exact(answered, judgements):
    points = float(answered.prediction.text == answered.question.answer[0])
    return Score.of(answered.prediction, points=points, answer=(answered.prediction.text,))


def by_verdict(answered, judgements):
    (judgement,) = judgements
    return Score.of(answered.prediction, points=float(judgement.verdict))


def by_rules(answered):
    return [
        Judgement.of(p, judge="rules", criterion="c", verdict=p.text in q.answer, response="")
        for q, p in answered
    ]


def by_model(answered, model):
    return [
        Judgement.of(p, judge=model.name, criterion="c", verdict=True, response="")
        for _, p in answered
    ]


JUDGES = {"rules": ByRules(by_rules), "paper": ByModel(by_model)}


def task(**fields):
    return Task(
        **{
            "name": "t",
            "title": "T",
            "version": 3,
            "conditions": {
                "main": Condition(
                    prompt=lambda q: Prompt.of(q.text, *map(Image, q.images)), about=""
                ),
                "thrice": Condition(
                    prompt=lambda q: Prompt.of(q.text), about="", samples=3, temperature=0.7
                ),
            },
            "scorers": {"exact": exact, "by_verdict": by_verdict},
            "measures": {"accuracy": lambda rows: mean(ScoredPoint(s.points) for _, s in rows)},
        }
        | fields
    )


def responses_of(**texts):
    """Responses by the number of the question: ``said(q1="1")``; an empty one never came."""
    return [
        prediction(question_id=f"t/{name[1:]}", text=text, error="" if text else "timeout")
        for name, text in texts.items()
    ]
