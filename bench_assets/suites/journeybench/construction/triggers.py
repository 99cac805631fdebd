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

MAX_ANSWERS = 5  # HaloQuest has one to five short answers per question

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
    """Ask for one question of each kind about each image."""
    return {
        f"{image}/triggers": Prompt.of(
            Image(images[image]),
            _TRIGGER_PROMPT.format(captions=format_list(texts)),
        )
        for image, texts in captions.items()
    }


def valid_questions(responses: Iterable[GeneratedText]) -> list[TriggerQuestion]:
    """List the questions that pass the automatic checks."""
    return [
        question
        for response in responses
        for image in [_image_of(response)]
        for number, proposal in enumerate(proposals_of(response).rows, 1)
        if not _question_fault(question := _question(image, number, proposal))
    ]


def verify_triggers(
    responses: Iterable[GeneratedText], votes: Iterable[TriggerVote], least: int = 1
) -> Table[TriggerQuestion]:
    """Keep the questions that pass the automatic checks and a majority of the annotators.

    Args:
        responses: The model's responses, one per image.
        votes: Annotators' votes, by the words of a question.
        least: Votes that decide on a question.
    """
    votes_by_question: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for vote in votes:
        votes_by_question[vote.image, normalize_text(vote.question)][vote.annotator] = vote.accepts
    table = Table[TriggerQuestion]()
    for response in responses:
        image, proposals = _image_of(response), proposals_of(response)
        table.rejections.extend(proposals.rejections)
        for number, proposal in enumerate(proposals.rows, 1):
            question = _question(image, number, proposal)
            cast = [*votes_by_question[image, normalize_text(question.question)].values()]
            waits = OPEN if len(cast) < least else ""
            voted = vote_fault(cast, least, "accept it")
            if fault := _question_fault(question) or f"{waits}{voted}":
                unit = unit_id(image, normalize_text(question.question))
                entry = unit if fault.startswith(OPEN) else f"{response.request_id}/{number}"
                table.reject(entry, fault)
            else:
                table.rows.append(question)
    return table


def _image_of(response: GeneratedText) -> str:
    return response.request_id.removesuffix("/triggers")


def _question(image: str, number: int, proposal: Mapping[str, Any]) -> TriggerQuestion:
    answers = proposal.get("answers")
    listed = answers if isinstance(answers, list) else []
    return TriggerQuestion(
        entry_id=f"{PurePath(image).with_suffix('')}-{number}",
        image=image,
        image_source="generated",
        trigger=str(proposal.get("trigger", "")).strip(),
        question=" ".join(str(proposal.get("question", "")).split()),
        answers=tuple(text for answer in listed if (text := " ".join(str(answer).split()))),
    )


def _question_fault(question: TriggerQuestion) -> str:
    if question.trigger not in TRIGGERS:
        return f"unknown trigger {question.trigger!r}; known: {', '.join(TRIGGERS)}"
    if not question.question:
        return "the question is empty"
    if not 1 <= len(question.answers) <= MAX_ANSWERS:
        return f"{len(question.answers)} answers, expected 1 to {MAX_ANSWERS}"
    return ""
