"""The dialogue ends by decision, by round limit, by parse failure and without a response."""

import pytest

from bench_assets.core.schema.chat import Response
from bench_assets.suites.journeybench.construction.dialogue import (
    ReasonerTurn,
    dialogue_statements,
    hold_dialogues,
    read_questions,
    read_reasoning,
)
from bench_resources.models.registry.baselines import ScriptedModel

UNSURE = "We are not sure which option is correct"


def reasoning(answer, statement="A dog on a cake."):
    return f"Analysis: The answers differ.\nStatement: {statement}\nMore Likely Answer: {answer}"


class Asker:
    """Asks one question a round, and reasons with the given responses, one after the other."""

    name = signature = "asker"

    def __init__(self, reasonings, questions="Sub-question 1: What animal is it?"):
        self.reasonings = list(reasonings)
        self.questions = questions
        self.received = []

    def response(self, requests):
        return [Response(text=self.say(request.prompt)) for request in requests]

    def say(self, prompt):
        system, user = (turn.parts[0] for turn in prompt.turns)
        self.received.append(user)
        return self.questions if "Ask short questions" in system else self.reasonings.pop(0)


def talk(asker, rounds=4, tries=3, answer="It is a dog."):
    answerer = ScriptedModel("answerer", lambda _: answer)
    held = hold_dialogues(
        {"a.png": "A cat on a cake."},
        {"a.png": "sha"},
        (asker, answerer),
        rounds=rounds,
        tries=tries,
    )
    (end,) = held.endings
    return held, end


def test_a_dialogue_goes_on_while_the_reasoner_is_not_sure_and_keeps_its_answers():
    asker = Asker([reasoning(UNSURE, "First."), reasoning("neutral", "Second.")])
    held, end = talk(asker)
    assert (end.outcome, end.decision, end.rounds) == ("decision", "neutral", 2)
    assert [row.text for row in dialogue_statements(held.utterances)] == ["First.", "Second."]
    second_question, second_reasoning = asker.received[2:]
    assert "Analysis: The answers differ." in second_question
    exchange = "Sub-question: What animal is it? Answer: It is a dog."
    assert second_question.count(exchange) == 1
    assert second_reasoning.count(exchange) == 2


def test_only_the_last_round_demands_a_decision():
    systems = []

    def say(request):
        system = request.prompt.turns[0].parts[0]
        systems.append(system)
        return "Sub-question 1: What?" if "Ask short" in system else reasoning(UNSURE)

    talk(ScriptedModel("asker", say), rounds=2)
    reasoners = [system for system in systems if "Ask short" not in system]
    assert ["even if you are not sure" in system for system in reasoners] == [False, True]


@pytest.mark.parametrize(
    ("asker", "speaker"),
    [
        pytest.param(Asker([], questions="What animal is it?"), "asker", id="no marked question"),
        pytest.param(Asker(["Hm."] * 3), "reasoner", id="no marked lines"),
        pytest.param(Asker([reasoning("maybe")] * 3), "reasoner", id="an answer that is no option"),
    ],
)
def test_a_dialogue_ends_when_a_response_stays_unreadable(asker, speaker):
    held, end = talk(asker)
    assert (end.outcome, end.detail) == (
        "parse failure",
        f"the {speaker}'s response was unreadable 3 times",
    )
    assert [utterance.attempt for utterance in held.utterances if utterance.speaker == speaker] == [
        0,
        1,
        2,
    ]
    assert dialogue_statements(held.utterances) == []


def test_an_unreadable_response_is_retried():
    held, end = talk(Asker(["Hm.", reasoning("entailment")]))
    assert (end.outcome, end.decision) == ("decision", "entailment")
    assert [utterance.attempt for utterance in held.utterances] == [0, 0, 0, 1]


def test_a_dialogue_without_a_response_says_why():
    class Silent:
        name = signature = "silent"

        def response(self, requests):
            return [Response(error="connection lost") for _ in requests]

    held, end = talk(Silent())
    assert (end.outcome, end.detail) == ("no response", "connection lost")
    assert [utterance.said for utterance in held.utterances] == ["(no response: connection lost)"]


def test_what_an_answerer_goes_on_to_ask_itself_is_cut():
    asker = Asker([reasoning("neutral")])
    talk(asker, answer="It is a dog. Question: What colour is it? Answer: Brown.")
    assert "Answer: It is a dog." in asker.received[-1]
    assert "Brown" not in asker.received[-1]


@pytest.mark.parametrize(
    ("response", "questions"),
    [
        pytest.param(
            "Additional Sub-question 1: What?\nSub-question 12:  Where? ",
            ["What?", "Where?"],
            id="more of them, two digits",
        ),
        pytest.param("Sub-question 1:\nSub-question 2: What?", ["What?"], id="an empty one"),
        pytest.param("What is it?", None, id="not marked"),
    ],
)
def test_questions_are_read_by_their_marks(response, questions):
    assert read_questions(response) == questions


@pytest.mark.parametrize(
    ("response", "read"),
    [
        pytest.param(
            reasoning("Contradiction."),
            ReasonerTurn("The answers differ.", "A dog on a cake.", "contradiction"),
            id="capital and full stop",
        ),
        pytest.param(reasoning("option 4"), None, id="no option"),
        pytest.param("Analysis: x\nMore Likely Answer: neutral", None, id="no statement"),
    ],
)
def test_reasoning_is_read_by_its_three_marks(response, read):
    assert read_reasoning(response) == read
