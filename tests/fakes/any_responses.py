"""Unusual responses of any length, which readers of responses must survive."""

from typing import Any

from bench_assets.core.schema.rows import Question
from bench_assets.suites.journeybench.hallucination_vqa.dataset import TASK_NAME as HALOQUEST
from tests.cases import read_rows
from tests.fakes.multi_rows import question as of_multi
from tests.fakes.rows import question
from tests.fakes.stories import story_question

BITS: dict[str, str] = dict(read_rows(__file__, "any_responses.jsonl"))
"""Texts to repeat, by their description."""


def response_of(bit: str, n: int) -> str:
    """Repeat ``bit`` up to at most ``n`` characters, and add an x."""
    return bit * (n // len(bit)) + "x"


SIDES: dict[str, Any] = {"kind": "choice", "options": ("left", "right"), "answer": ("A",)}
TIMES = tuple(f"{hour}:09 (answers from {hour}:07 to {hour}:10 are all right)." for hour in (6, 18))


def questions_of(task: str) -> list[Question]:
    """Questions of a task, one for each rule that reads its responses."""
    defaults: dict[str, Any] = {
        "task": task,
        "category": "c",
        "group_id": "g",
        "labels": {"image_source": "real"},
    }
    rows = {
        "codis": [
            question(text="Is he going up or down?", options=("Up.", "Down."), answer=("Up.",)),
            question(text="Is it legal?", options=("Yes.", "No."), answer=("Yes.",)),
            question(text="What time is it?", options=TIMES, answer=TIMES[:1]),
        ],
        "multi": [
            of_multi("SA"),
            of_multi("MA", "AB"),
            of_multi("FB", "1\n2"),
            of_multi("OP", "因为它是正确的。"),
        ],
        "cogbench/description": [story_question({"event": ["It rains. -> It is wet."]})],
        HALOQUEST: [question(**defaults, text="Where is the owl?", answer=("There is no owl",))],
        "journeybench/mcot": [
            question(answer=("12",), **defaults),
            question(answer=("no cups exist", "0"), **defaults),
        ],
        "journeybench/multi_image_vqa": [
            question(answer=("image2",), options=("image1", "image2"), **defaults)
        ],
        "journeybench/captioning": [question(answer=("an owl on a tree",), **defaults)],
    }
    return rows.get(task, [question(**SIDES), question(**SIDES | {"options": tuple("123")})])
