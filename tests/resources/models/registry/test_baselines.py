from collections import Counter

import pytest

from bench_assets.core.schema.chat import Image, Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Question
from bench_resources.models.registry.baselines import (
    BlindModel,
    MostFrequentBaseline,
    RandomBaseline,
    ScriptedModel,
)
from tests.fakes.rows import question


def requests_for(*questions: Question) -> list[Request]:
    return [Request(prompt=Prompt.of(q.text), question=q) for q in questions]


def texts(responses: list[Response]) -> list[str]:
    return [response.text for response in responses]


@pytest.mark.parametrize(
    ("posed", "possible_texts"),
    [
        pytest.param(
            question(kind="choice", options=("red", "green", "blue")),
            {"A", "B", "C"},
            id="a choice gets a letter",
        ),
        pytest.param(
            question(text="Who is it?", options=("My child.", "My sibling.")),
            {"My child.", "My sibling."},
            id="a pair gets one of its answers",
        ),
        pytest.param(question(text="Look: a cup.", answer=("No.",)), {"yes", "no"}, id="yes or no"),
        pytest.param(
            question(text="How many?", answer=("12", "12 cups")), {*"0123456789"}, id="a digit"
        ),
        pytest.param(
            question(text="How many?", answer=("no cups", "0")), {""}, id="a text gets nothing"
        ),
        pytest.param(question(kind="blanks", answer=("x", "y")), {""}, id="blanks get nothing"),
    ],
)
def test_random_draws_exactly_the_possible_answers(
    posed: Question, possible_texts: set[str]
) -> None:
    responses: list[Response] = []
    for seed in range(40):
        responses += RandomBaseline("random", seed).response(requests_for(posed))
    assert set(texts(responses)) == possible_texts


def four_option_questions(n: int) -> list[Question]:
    options = tuple("wxyz")
    return [question(question_id=str(i), kind="choice", options=options) for i in range(n)]


def test_random_draws_all_options_equally_often() -> None:
    responses = RandomBaseline("random").response(requests_for(*four_option_questions(4000)))
    counts = Counter(texts(responses))
    # 4000 / 4 = 1000; four standard deviations are 4 * sqrt(4000 * 1/4 * 3/4) = 110.
    assert all(890 <= counts[letter] <= 1110 for letter in "ABCD")


def test_a_random_draw_does_not_depend_on_the_other_questions() -> None:
    requests = requests_for(*four_option_questions(50))
    model = RandomBaseline("random")
    one_by_one = [response for request in requests for response in model.response([request])]
    assert texts(one_by_one) == texts(model.response(requests))


@pytest.mark.parametrize(
    ("questions", "expected"),
    [
        pytest.param(
            [
                question(question_id="1", kind="choice", options=("w", "x"), answer=("A",)),
                question(question_id="2", kind="choice", options=("w", "x", "y"), answer=("C",)),
                question(question_id="3", kind="choice", options=("w", "x", "y"), answer=("C",)),
            ],
            ["A", "C", "C"],
            id="the letter that is right most often, among the question's own",
        ),
        pytest.param(
            [
                *[question(question_id="1", kind="choice", options=("w", "x"), answer=("B",))] * 3,
                question(question_id="2", kind="choice", options=("w", "x"), answer=("A",)),
            ],
            ["A"] * 4,
            id="a question counts once however often it is requested; a tie goes to the first",
        ),
        pytest.param(
            [
                question(question_id="1", options=("yes", "no"), answer=("no",)),
                question(question_id="2", options=("yes", "no"), answer=("no",)),
                question(question_id="3", options=("up", "down"), answer=("down",)),
                question(question_id="4", answer=("no",)),
            ],
            ["no", "no", "no", "no"],
            id="one text for all, whatever the key's own alternatives",
        ),
    ],
)
def test_the_most_frequent_key_is_the_answer(questions, expected):
    model = MostFrequentBaseline("most-frequent")
    assert texts(model.response(requests_for(*questions))) == expected


@pytest.mark.parametrize("model", [RandomBaseline("luck"), MostFrequentBaseline("luck")])
def test_a_baseline_cannot_judge(model: RandomBaseline | MostFrequentBaseline) -> None:
    with pytest.raises(ModelError, match="luck: a baseline answers questions; it cannot judge"):
        model.response([Request(prompt=Prompt.of("Is this right?"))])


def test_a_blind_model_sends_the_prompt_without_its_images() -> None:
    seeing = ScriptedModel("eyes", lambda request: request.prompt.to_json())
    blind = BlindModel(seeing, "no-eyes")
    prompt = Prompt.of("Look:", Image("ab"), "What is it?", system="Be brief.")
    (response,) = blind.response([Request(prompt=prompt)])
    assert response.text == '[["system",["Be brief."]],["user",["Look:","What is it?"]]]'
