"""What responses took, which options are confused, and the prompts as they were sent."""

import json
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Prediction, Question, Score
from bench_assets.report.pages.tasks import confusion, prices_of, usage
from bench_assets.report.samples.questions import CHUNK
from bench_assets.report.samples.responses import SentPrompts, short_name
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.tables.parquet import TableFiles
from tests.fakes.quiz import TASK
from tests.fakes.rows import prediction, question


@pytest.fixture
def tables(tmp_path: Path) -> TableFiles:
    return TableFiles(folder=str(tmp_path / "tables"))


def test_tokens_seconds_and_cost_are_sums_of_what_is_known(tables: TableFiles) -> None:
    predictions = [
        prediction(
            question_id="quiz/1", model="m", prompt_tokens=100, completion_tokens=10, seconds=1.5
        ),
        prediction(
            question_id="quiz/2", model="m", prompt_tokens=300, completion_tokens=30, seconds=0.5
        ),
        prediction(question_id="quiz/3", model="m", error="timeout"),
    ]
    tables.write(["quiz", "predictions"], predictions, Prediction, "m")
    tables.write(
        ["quiz", "predictions"], [prediction(question_id="quiz/1", model="n")], Prediction, "n"
    )
    priced = ServerSpec(
        kind="server", base_url="http://127.0.0.1:1", model="m", price_in=5.0, price_out=50.0
    )
    m, n = usage(tables, TASK, "main", prices_of({"m": priced}))
    # 400 tokens at 5 a million, 40 at 50 a million.
    assert m == {
        **{"condition": "main", "model": "m", "responses": 2, "seconds": 2.0},
        **{"prompt_tokens": 400, "completion_tokens": 40, "cost": 0.004},
    }
    assert (n["responses"], n["prompt_tokens"], n["seconds"], n["cost"]) == (1, None, None, None)


def test_choices_are_counted_by_the_right_one(tables: TableFiles) -> None:
    questions = [
        question(question_id=f"quiz/{n}", kind="choice", options=("x", "y"), answer=(right,))
        for n, right in enumerate("AABB")
    ]
    tables.write(["quiz", "questions"], questions, Question)
    predictions = [prediction(question_id=one.question_id, model="m") for one in questions]
    read = [("A",), ("B",), (), ("B",)]
    scores = [
        Score.of(one, points=0.0, answer=to) for one, to in zip(predictions, read, strict=True)
    ]
    tables.write(["quiz", "scores"], scores, Score, "m")
    found = [(one["right"], one["chosen"], one["n"]) for one in confusion(tables, TASK, "main")]
    assert found == [("A", "A", 1), ("A", "B", 1), ("B", "", 1), ("B", "B", 1)]


def test_a_prompt_stands_once_with_its_turns_and_images() -> None:
    sent = Prompt.of("Look:", Image("ab" * 32), "What is it?", system="Be brief.")
    known = {sent.sha256: sent.to_json()}
    found = SentPrompts()
    for prompts in ([sent.sha256, "", None], [sent.sha256, "of a baseline", sent.sha256]):
        for number, sha256 in zip((0, 1, CHUNK), prompts, strict=True):
            found.add(number, sha256)
    chunk, after = found.chunks(lambda wanted: {w: known[w] for w in wanted if w in known})
    assert (chunk.number, after.number, after.turns) == (0, 1, chunk.turns)
    assert chunk.images == ["ab" * 32]
    assert chunk.turns == {
        short_name(sent.sha256): [
            ["system", ["Be brief."]],
            ["user", ["Look:", {"image": "ab" * 32}, "What is it?"]],
        ]
    }
    assert json.loads(sent.to_json()) == chunk.turns[short_name(sent.sha256)]
