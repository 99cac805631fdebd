"""Finds questions that can be answered without the image (section 2.3.2).

A model that sees no image answers each question several times, its options in another order each
time; what it gets right every time is solvable by language alone. Where the paper asks ChatGPT, any
model can be named; the built-in one takes an option that is far longer than the others, which finds
badly made questions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random

from bench_assets.core.schema.chat import ChatModel, Request, Response
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.cogbench.vqa import prompts
from bench_assets.suites.cogbench.vqa.scoring import score_carefully

MUCH_LONGER = 1.5  # times the longest of the other options, in characters
SOLVABLE = "solvable without the image"


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageOnly:
    """How often a model was right about one question without its image."""

    question_id: str
    model: str
    n_tries: int  # that were answered
    n_right: int
    solvable: bool


def ask_without_image(
    questions: Sequence[Question], model: ChatModel, tries: int, seed: int
) -> list[LanguageOnly]:
    """Ask each question several times, and count how often the answer is right.

    Args:
        questions: With four options each.
        model: Answers; is shown no images.
        tries: Orders of the options that are tried.
        seed: Draws the orders, for each question by itself.
    """
    versions = [
        [
            _shuffled(question, Random(f"{seed}\n{number}\n{question.question_id}"))
            for number in range(tries)
        ]
        for question in questions
    ]
    requests = [
        Request(prompt=prompts.blind(version), sample=number, question=version)
        for shuffled in versions
        for number, version in enumerate(shuffled)
    ]
    responses = iter(model.response(requests))
    return [_counted(shuffled, list(islice(responses, tries)), model.name) for shuffled in versions]


def longest_option(request: Request) -> str:
    """The letter of an option that is far longer than the others; nothing if none stands out."""
    options = request.question.options if request.question else ()
    *_, second, longest = sorted(map(len, ("", "", *options)))
    stands_out = longest >= MUCH_LONGER * second > 0
    return "ABCD"[[len(option) for option in options].index(longest)] if stands_out else ""


def _shuffled(question: Question, rng: Random) -> Question:
    order = rng.sample(range(len(question.options)), len(question.options))
    (gold,) = question.answer
    place = order.index("ABCD".index(gold))
    options = tuple(question.options[number] for number in order)
    return replace(question, options=options, answer=("ABCD"[place],), images=())


def _counted(
    versions: Sequence[Question], responses: Sequence[Response], model: str
) -> LanguageOnly:
    right = [
        _is_right(version, response.text)
        for version, response in zip(versions, responses, strict=True)
        if not response.error
    ]
    return LanguageOnly(
        question_id=versions[0].question_id,
        model=model,
        n_tries=len(right),
        n_right=sum(right),
        solvable=len(right) == len(versions) and all(right),
    )


def _is_right(question: Question, response: str) -> bool:
    prediction = Prediction(
        question_id=question.question_id, model="", condition="blind", text=response
    )
    return score_carefully(AnsweredQuestion(question, prediction)).points == 1.0
