import pytest

from bench_assets.core.judging.second_look import (
    ANSWER,
    NONE,
    AnswerForm,
    ConstrainedReader,
    find_second_look,
    look_again,
)
from bench_assets.core.schema.chat import Image, Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Judgement
from tests.cases import read_rows
from tests.fakes.rows import prediction, question

ANIMALS = AnswerForm("choice", ("cat", "dog", "owl"))
FORMS = {
    "choice": ANIMALS,
    "choices": AnswerForm("choices", ("cat", "dog", "owl")),
    "answers": AnswerForm("answers", ("Up.", "Down.")),
    "references": AnswerForm("references", ("There is no cat.",)),
    "number": AnswerForm("number", ("no cups",)),
    "numbers": AnswerForm("numbers"),
    "yes_no": AnswerForm("yes_no"),
    "blanks": AnswerForm("blanks", ("", "")),
}
QUESTION = question(text="Which animal is it?", images=("a" * 64,), options=("cat", "dog", "owl"))


class Reader:
    """A model with scripted replies that records its requests."""

    name = "gpt"
    signature = "gpt|t=0"

    def __init__(self, *replies, elicits=(), stored=None):
        self.replies, self.elicits, self.requests, self.calls = list(replies), elicits, [], []
        self.cached = lambda: Reader(stored or Response(error="not cached"))

    def response(self, requests):
        self.requests += requests
        return [self.replies.pop(0) for _ in requests]


def prompt_text(prompt: Prompt) -> str:
    return "".join(part for turn in prompt.turns for part in turn.parts if isinstance(part, str))


def second_look(text="The one that barks, I think.", form=ANIMALS):
    return form.look(QUESTION, prediction(text=text), text)


@pytest.mark.parametrize("kind", FORMS)
def test_a_prompt_has_the_response_and_no_image(kind):
    prompt = FORMS[kind].make_prompt(QUESTION, "It barks.")
    assert not any(isinstance(part, Image) for turn in prompt.turns for part in turn.parts)
    assert "It barks." in prompt_text(prompt)
    assert "{" not in prompt_text(prompt)  # every field is filled


@pytest.mark.parametrize(("kind", "has_question"), [("choice", False), ("number", True)])
def test_the_question_is_in_the_prompt_where_options_do_not_suffice(kind, has_question):
    prompt = FORMS[kind].make_prompt(QUESTION, "It barks.")
    assert (QUESTION.text in prompt_text(prompt)) is has_question


@pytest.mark.parametrize(("kind", "reply", "answer"), read_rows(__file__, "replies.jsonl"))
def test_a_reply_is_read_by_explicit_forms(kind, reply, answer):
    assert FORMS[kind].read_reply(reply) == answer


def test_the_letter_for_none_is_no_option():
    axes = AnswerForm("choice", ("X", "Y", "Z"))
    assert axes.choices == ("A", "B", "C", "N")
    assert axes.read_reply("N") == NONE


def test_an_unreadable_reply_is_requested_once_more_and_then_no_verdict():
    reader = Reader(Response(text="Hm."), Response(text="Hm?"))
    ((row, *_),) = look_again([second_look()], reader)
    assert len(reader.requests) == 2
    assert (row.criterion, row.verdict, row.value) == (ANSWER, None, "")


def test_a_reply_is_a_judgement():
    reader = Reader(Response(text="B"), Response(text="Z"))
    (right,), (none,) = look_again([second_look(), second_look()], reader)
    assert (right.verdict, right.value, right.judge) == (True, "B", "gpt")
    assert (none.verdict, none.value, none.judge) == (False, NONE, "gpt")


def test_the_second_look_is_found_among_the_judgements_of_a_prediction():
    by_rules = Judgement.of(prediction(), judge="r", criterion=ANSWER, verdict=True, response="")
    ((look,),) = look_again([second_look()], Reader(Response(text="B")))
    assert find_second_look([by_rules, look]) == look
    assert find_second_look([by_rules]) is None


def test_letters_are_constrained_where_the_engine_can():
    reader = Reader(Response(text="B"), elicits=("constrained",))
    look_again([second_look()], reader)
    (request,) = reader.requests
    assert (request.elicit, request.options) == ("constrained", ("A", "B", "C", "Z"))


def test_a_number_is_never_constrained():
    reader = Reader(Response(text="12"), elicits=("constrained",))
    look_again([second_look(form=FORMS["number"])], reader)
    assert [request.elicit for request in reader.requests] == [""]


class ReaderWithoutOptions(Reader):
    """A reader whose server ignores options, which its engine notices."""

    def response(self, requests):
        self.calls.append(requests)
        if any(request.elicit for request in requests):
            raise ModelError("the server does not support constrained")
        return super().response(requests)


def test_a_server_that_ignores_options_gets_further_requests_without_them():
    reader = ReaderWithoutOptions(Response(text="B"), elicits=("constrained",))
    look_again([second_look()], reader)
    assert [request.elicit for request in reader.requests] == [""]


def test_a_cached_reply_shows_that_a_server_ignores_options():
    reply = Response(text="B")
    reader = ReaderWithoutOptions(reply, elicits=("constrained",), stored=reply)
    request = Request(prompt=Prompt.of("?"), elicit="constrained", options=("A", "B"))
    assert ConstrainedReader(reader).response([request]) == [reply]
    assert [[request.elicit for request in call] for call in reader.calls] == [[""]]
