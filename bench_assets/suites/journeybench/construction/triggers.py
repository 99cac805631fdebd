"""Questions that invite hallucinations, as HaloQuest has them: three kinds of triggers.

A model that sees an image with its captions writes questions and answers, and people verify
them. HaloQuest's questions are written by people and by models.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from bench_assets.annotation.tasks import unit_id
from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.tables.build import Table
from bench_assets.suites.journeybench.hallucination_vqa.dataset import TRIGGERS, TriggerQuestion
from bench_assets.suites.journeybench.published_files import number_repeated
from bench_assets.suites.journeybench.raw_material import (
    OPEN,
    TriggerVote,
    normalize_text,
    vote_fault,
)
from bench_assets.suites.journeybench.text_generation import (
    GeneratedText,
    format_list,
    proposals_of,
)

MAX_ANSWERS = 5  # short answers per question; HaloQuest has one to five

_TRIGGER_PROMPT = """\
The picture is described by these captions:
{captions}

Write one question about the picture of each of these kinds, with one to five short answers that \
say the same in other words:
"false premises": the question takes for granted that something is there which is not; the answers \
say that it is not there;
"visual challenge": the question asks for a detail that is hard to see or to count;
"insufficient context": the picture does not show what is asked for; the answers say that it \
cannot be told.

Print a JSON list with three objects and nothing else, each with the fields "trigger" (one of the \
three kinds), "question" and "answers" (a list of texts)."""


def trigger_prompts(
    captions: Mapping[str, Sequence[str]], images: Mapping[str, str]
) -> dict[str, Prompt]:
    """Build the prompts for one question of each kind about each image, by request id.

    ``captions`` and ``images``, their SHA-256, are by the name of the image.
    """
    return {
        f"{image}/triggers": Prompt.of(
            Image(images[image]), _TRIGGER_PROMPT.format(captions=format_list(texts))
        )
        for image, texts in captions.items()
    }


def valid_questions(responses: Iterable[GeneratedText]) -> list[TriggerQuestion]:
    """List the questions that pass the automatic checks; of equal ones, the first."""
    questions: dict[tuple[str, str], TriggerQuestion] = {}
    for response in responses:
        for question in _proposed_questions(response):
            if not _question_fault(question):
                questions.setdefault((question.image, normalize_text(question.question)), question)
    return list(questions.values())


def verify_triggers(
    responses: Sequence[GeneratedText], votes: Iterable[TriggerVote], least_votes: int = 1
) -> Table[TriggerQuestion]:
    """Keep the questions that pass the automatic checks and a majority of the annotators.

    Repetitions are rejected. A question with fewer than ``least_votes`` is rejected as open.
    """
    votes_by_question: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for vote in votes:
        votes_by_question[vote.image, normalize_text(vote.question)][vote.annotator] = vote.accepts
    valid = set(valid_questions(responses))
    table = Table[TriggerQuestion]()
    for response in responses:
        table.rejections.extend(proposals_of(response).rejections)
        for number, question in enumerate(_proposed_questions(response), 1):
            image, text = question.image, normalize_text(question.question)
            question_votes = list(votes_by_question[image, text].values())
            question_fault = _question_fault(question)
            if not question_fault and question not in valid:
                question_fault = "an earlier question says the same"
            fault = question_fault or vote_fault(question_votes, least_votes, "accept it")
            if not question_fault and len(question_votes) < least_votes:
                table.reject(unit_id(image, text), f"{OPEN}{fault}")
            elif fault:
                table.reject(f"{response.request_id}/{number}", fault)
            else:
                table.rows.append(question)
    return number_repeated(table, "entry_id")  # of images that differ only in their endings


def _proposed_questions(response: GeneratedText) -> list[TriggerQuestion]:
    """List the questions in a response, which may have faults."""
    image = response.request_id.removesuffix("/triggers")
    proposals = proposals_of(response).rows
    return [_question(image, number, proposal) for number, proposal in enumerate(proposals, 1)]


def _question(image: str, number: int, proposal: Mapping[str, Any]) -> TriggerQuestion:
    answers = proposal.get("answers")
    answers = answers if isinstance(answers, list) else []
    texts = (" ".join(str(answer).split()) for answer in answers)
    return TriggerQuestion(
        entry_id=f"{PurePath(image).with_suffix('')}-{number}",
        image=image,
        image_source="generated",
        trigger=str(proposal.get("trigger", "")).strip(),
        question=" ".join(str(proposal.get("question", "")).split()),
        answers=tuple(text for text in texts if text),
    )


def _question_fault(question: TriggerQuestion) -> str:
    """Why a question does not pass the automatic checks; "" if it does."""
    if question.trigger not in TRIGGERS:
        return f"unknown trigger {question.trigger!r}; known: {', '.join(TRIGGERS)}"
    if not question.question:
        return "the question is empty"
    if not 1 <= len(question.answers) <= MAX_ANSWERS:
        return f"{len(question.answers)} answers, expected 1 to {MAX_ANSWERS}"
    return ""
