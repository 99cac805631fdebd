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


def test_tokens_seconds_and_cost_are_summed_over_answered_questions(tables: TableFiles) -> None:
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
    known, unknown = usage(tables, TASK, "main", prices_of({"m": priced}))
    # 400 tokens at 5 a million, 40 at 50 a million.
    assert known == {
        "condition": "main",
        "model": "m",
        "responses": 2,
        "seconds": 2.0,
        "prompt_tokens": 400,
        "completion_tokens": 40,
        "cost": 0.004,
    }
    assert unknown["responses"] == 1
    assert unknown["prompt_tokens"] is unknown["seconds"] is unknown["cost"] is None


def test_chosen_options_are_counted_by_the_right_option(tables: TableFiles) -> None:
    questions = [
        question(question_id=f"quiz/{n}", kind="choice", options=("x", "y"), answer=(right,))
        for n, right in enumerate("AABB")
    ]
    tables.write(["quiz", "questions"], questions, Question)
    answers = [("A",), ("B",), (), ("B",)]
    scores = [
        Score.of(prediction(question_id=f"quiz/{n}", model="m"), points=0.0, answer=answer)
        for n, answer in enumerate(answers)
    ]
    tables.write(["quiz", "scores"], scores, Score, "m")
    cells = confusion(tables, TASK, "main")
    counts = {(cell["right"], cell["chosen"]): cell["n"] for cell in cells}
    assert counts == {("A", "A"): 1, ("A", "B"): 1, ("B", ""): 1, ("B", "B"): 1}


def test_a_prompt_is_written_once_in_each_chunk_that_sent_it() -> None:
    sent = Prompt.of("Look:", Image("ab" * 32), "What is it?", system="Be brief.")
    prompts = SentPrompts()
    prompts.add(0, sent.sha256)
    prompts.add(0, sent.sha256)
    prompts.add(CHUNK, sent.sha256)

    first, second = prompts.chunks(lambda digests: {sent.sha256: sent.to_json()})

    assert (first.number, second.number) == (0, 1)
    assert first.turns == second.turns
    assert first.images == ["ab" * 32]
    assert first.turns == {
        short_name(sent.sha256): [
            ["system", ["Be brief."]],
            ["user", ["Look:", {"image": "ab" * 32}, "What is it?"]],
        ]
    }


@pytest.mark.parametrize("digest", [None, "", "0c"], ids=["no prompt", "blank", "not stored"])
def test_a_question_without_a_stored_prompt_is_left_out(digest):
    prompts = SentPrompts()
    prompts.add(0, digest)
    assert list(prompts.chunks(lambda digests: {})) == []
