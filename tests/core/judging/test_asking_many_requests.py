"""Requests that are made when they are asked are those that would have been held."""

from bench_assets.core.judging.request_streaming import (
    LazyRequests,
    LazyRows,
    answer_requests,
    request_batches,
    stream_responses,
)
from bench_assets.core.schema.chat import Prompt, Response
from tests.packed import packed
from tests.rows import question

QUESTIONS = [question(question_id=f"t/{n}", text=f"{n}?") for n in range(4)]


class Held:
    """Answers what it is given at once."""

    name, signature = "m", "m|t=0"

    def response(self, requests):
        assert isinstance(requests, list)
        return [Response(text=f"{one.question.question_id} {one.sample}") for one in requests]


class Many(Held):
    """Answers one after the other too."""

    def answers(self, requests):
        return ((one, Response(text="one after the other")) for one in requests)


def requests(questions=QUESTIONS):
    return LazyRequests(questions, lambda asked: Prompt.of(asked.text), 3, 0.5)


def asked(found):
    return [(one.prompt.turns[0].parts[0], one.sample) for one in found]


def test_the_draws_of_a_question_follow_one_another():
    every = [(f"{n}?", sample) for n in range(4) for sample in range(3)]
    made = requests()
    assert (len(made), asked(made)) == (12, every)
    assert asked([made[place] for place in range(12)]) == every
    assert (asked(made[4:9]), asked([made[-1]])) == (every[4:9], every[-1:])
    assert {(one.temperature, one.question in QUESTIONS) for one in made} == {(0.5, True)}


def test_few_are_answered_at_once_and_many_one_after_the_other():
    few = [response.text for _, response in answer_requests(Many(), requests())]
    assert few[:4] == ["t/0 0", "t/0 1", "t/0 2", "t/1 0"]
    many = list(answer_requests(Many(), requests(packed(QUESTIONS))))
    assert asked(one for one, _ in many) == asked(requests())
    assert {response.text for _, response in many} == {"one after the other"}


def test_a_model_that_answers_at_once_alone_is_given_all():
    found = list(stream_responses(Held(), requests(packed(QUESTIONS))))
    assert [(one.sample, response.text) for one, response in found][-1] == (2, "t/3 2")


def test_requests_are_parted_in_order():
    assert [len(some) for some in request_batches(requests(), 5)] == [5, 5, 2]


def test_what_is_made_of_rows_is_what_would_have_been_held():
    looked = []
    made = LazyRows([1, 2, 3, 4], lambda row: looked.append(row) or row * 10)
    assert (len(made), looked) == (4, [])
    assert (made[1], made[-1], made[1:3], looked) == (20, 40, [20, 30], [2, 4, 2, 3])
    assert list(made) == [10, 20, 30, 40]
