from typing import Any

from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.multi.dataset.questions import KINDS
from bench_assets.suites.multi.dataset.source import MultiItem
from tests.fakes import rows

LABELS = {
    "images": "NI",
    "level": "SeH",
    "subject": "数学",
    "difficulty": "3",
    "quality": "4",
    "knowledge": "集合",
}


def question(kind: str = "SA", gold: str = "B", **fields: Any) -> Question:
    """A question of a kind; ``gold`` has its letters, a line for each blank, or its text."""
    answer: tuple[str, ...] = (gold,)
    if kind in ("SA", "MA"):
        answer = tuple(gold)
    elif kind == "FB":
        answer = tuple(gold.split("\n"))
    defaults: dict[str, Any] = {
        "question_id": "multi/gzsx_1_0",
        "task": "multi",
        "text": "下列正确的是[MASK]\nA. 甲\nB. 乙\nC. 丙\nD. 丁",
        "kind": KINDS[kind],
        "category": kind,
        "group_id": "gzsx_1",
        "answer": answer,
        "labels": LABELS | fields.pop("labels", {}),
    }
    return rows.question(**(defaults | fields))


def answered(response: str, kind: str = "SA", gold: str = "B", **fields: Any) -> AnsweredQuestion:
    example = question(kind, gold, **fields)
    return AnsweredQuestion(
        example, rows.prediction(question_id=example.question_id, text=response)
    )


def item(**fields: Any) -> MultiItem:
    defaults: dict[str, Any] = {
        "item_id": "gzsx_1_0",
        "problem_id": "gzsx_1",
        "general": "",
        "specific": "1+1=[MASK]\nA. 1\nB. 2\nC. 3\nD. 4",
        "type": "SA",
        "answer": "B",
        "education": "高中",
        "subject": "数学",
        "difficulty": "3",
        "quality": "4",
    }
    return MultiItem(**(defaults | fields))
