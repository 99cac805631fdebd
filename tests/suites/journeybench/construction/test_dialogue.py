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
        return [Response(text=self.answer(request.prompt)) for request in requests]

    def answer(self, prompt):
        system, user = (turn.parts[0] for turn in prompt.turns)
        self.received.append(user)
        return self.questions if "Ask short questions" in system else self.reasonings.pop(0)


def hold_dialogue(asker, rounds=4, answer="It is a dog."):
    """Utterances and ending of a dialogue about one image."""
    answerer = ScriptedModel("answerer", lambda _: answer)
    captions, images = {"a.png": "A cat on a cake."}, {"a.png": "sha"}
    dialogues = hold_dialogues(captions, images, asker, answerer, rounds=rounds, tries=3)
    (ending,) = dialogues.endings
    return dialogues.utterances, ending


def test_a_dialogue_continues_until_the_reasoner_is_sure():
    asker = Asker([reasoning(UNSURE, "First."), reasoning("neutral", "Second.")])
    utterances, ending = hold_dialogue(asker)
    assert (ending.outcome, ending.decision, ending.rounds) == ("decision", "neutral", 2)
    assert [row.text for row in dialogue_statements(utterances)] == ["First.", "Second."]


def test_the_second_round_has_the_exchange_and_the_analysis_of_the_first():
    asker = Asker([reasoning(UNSURE, "First."), reasoning("neutral", "Second.")])
    hold_dialogue(asker)
    _, _, second_question, second_reasoning = asker.received
    assert "Analysis: The answers differ." in second_question
    exchange = "Sub-question: What animal is it? Answer: It is a dog."
    assert second_question.count(exchange) == 1
    assert second_reasoning.count(exchange) == 2


def test_only_the_last_round_demands_a_decision():
    systems = []

    def answer(request):
        system = request.prompt.turns[0].parts[0]
        systems.append(system)
        return "Sub-question 1: What?" if "Ask short" in system else reasoning(UNSURE)

    hold_dialogue(ScriptedModel("asker", answer), rounds=2)
    first, last = (system for system in systems if "Ask short" not in system)
    assert "even if you are not sure" not in first
    assert "even if you are not sure" in last


@pytest.mark.parametrize(
    ("asker", "speaker"),
    [
        pytest.param(
            Asker([], questions="What animal is it?"), "asker", id="a question without its label"
        ),
        pytest.param(Asker(["Hm."] * 3), "reasoner", id="reasoning without its labels"),
        pytest.param(Asker([reasoning("maybe")] * 3), "reasoner", id="an answer that is no option"),
    ],
)
def test_a_dialogue_ends_after_three_unreadable_responses(asker, speaker):
    utterances, ending = hold_dialogue(asker)
    assert ending.outcome == "parse failure"
    assert ending.detail == f"the {speaker}'s response was unreadable 3 times"
    attempts = [utterance.attempt for utterance in utterances if utterance.speaker == speaker]
    assert attempts == [0, 1, 2]
    assert dialogue_statements(utterances) == []


def test_an_unreadable_response_is_retried():
    utterances, ending = hold_dialogue(Asker(["Hm.", reasoning("entailment")]))
    assert (ending.outcome, ending.decision) == ("decision", "entailment")
    assert [utterance.attempt for utterance in utterances] == [0, 0, 0, 1]


class UnreachableModel:
    name = signature = "unreachable"

    def response(self, requests):
        return [Response(error="connection lost") for _ in requests]


def test_a_dialogue_without_a_response_ends_with_the_error():
    utterances, ending = hold_dialogue(UnreachableModel())
    assert (ending.outcome, ending.detail) == ("no response", "connection lost")
    assert [utterance.said for utterance in utterances] == ["(no response: connection lost)"]


def test_questions_that_the_answerer_adds_are_cut():
    asker = Asker([reasoning("neutral")])
    hold_dialogue(asker, answer="It is a dog. Question: What colour is it? Answer: Brown.")
    *_, reasoner_prompt = asker.received
    assert "Answer: It is a dog." in reasoner_prompt
    assert "Brown" not in reasoner_prompt


@pytest.mark.parametrize(
    ("response", "questions"),
    [
        pytest.param(
            "Additional Sub-question 1: What?\nSub-question 12:  Where? ",
            ["What?", "Where?"],
            id="two questions, one with two digits",
        ),
        pytest.param("Sub-question 1:\nSub-question 2: What?", ["What?"], id="an empty one"),
        pytest.param("What is it?", None, id="no label"),
    ],
)
def test_questions_are_read_by_their_labels(response, questions):
    assert read_questions(response) == questions


@pytest.mark.parametrize(
    ("response", "turn"),
    [
        pytest.param(
            reasoning("Contradiction."),
            ReasonerTurn(
                analysis="The answers differ.",
                statement="A dog on a cake.",
                decision="contradiction",
            ),
            id="capital and full stop",
        ),
        pytest.param(reasoning("option 4"), None, id="no option"),
        pytest.param("Analysis: x\nMore Likely Answer: neutral", None, id="no statement"),
    ],
)
def test_reasoning_is_read_by_its_three_labels(response, turn):
    assert read_reasoning(response) == turn
