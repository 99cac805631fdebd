"""Questions of the VQA task: from the source, or written by a model (section 2.3.2, Figure 7).

A writer's response that is not exactly in the format is requested again, with the complaint.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from bench_assets.annotation.answers.values import lettered_choices
from bench_assets.annotation.gold import GoldStep
from bench_assets.annotation.tasks import SourceTable
from bench_assets.core.gold.proposals import Proposal
from bench_assets.core.schema.chat import ChatModel, Request, Response
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Edition, Question, StoredImage
from bench_assets.suites.cogbench.construction.selection import (
    images_by_id,
    question_id,
    shuffle_options,
)
from bench_assets.suites.cogbench.dataset.reasoning import (
    KINDS,
    Kind,
    content_words,
    find_kind,
    read_chain,
    word_share,
)
from bench_assets.suites.cogbench.dataset.source import SourceQuestion, Story, StoryChain
from bench_assets.suites.cogbench.vqa import prompts
from bench_assets.suites.cogbench.vqa.refinement import LanguageOnly, find_flags


def to_questions(
    questions: Iterable[SourceQuestion],
    images: Mapping[str, StoredImage],
    edition: Edition,
    flags: Mapping[str, str] = MappingProxyType({}),
) -> list[Question]:
    """Make question rows, with options in the order of the source.

    A repeated published question is asked twice; the second id ends in "-2".

    Args:
        questions: The selected ones.
        images: By image id.
        edition: ``"published"``, ``"mini"`` or ``"built"``.
        flags: Question id -> open flags, for a label of the question.

    Raises:
        SourceError: If a category is unknown.
    """
    times: Counter[str] = Counter()
    rows = []
    for question in questions:
        name = question_id(question)
        times[name] += 1
        rows.append(
            Question(
                question_id=name if times[name] == 1 else f"{name}-{times[name]}",
                task="cogbench/vqa",
                edition=edition,
                kind="choice",
                text=question.text,
                answer=(question.answer,),
                images=(images[question.image_id].sha256,),
                options=question.options,
                category=_category(question),
                group_id=question.image_id,
                labels={"flags": flags[name]} if name in flags else {},
            )
        )
    return rows


def _category(question: SourceQuestion) -> str:
    kind = find_kind(question.category)
    if kind is None:
        raise SourceError(f"{question.where}: unknown category {question.category!r}")
    return kind.name


_LETTERS = "ABCD"
_SEED = 0  # of the option orders; another seed would make another benchmark
_ANSWER_LINE = re.compile(r"Correct Answer: \[([A-D])\]")
_MOST_TRIES = 3  # of the writer, per question


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenQuestion:
    """A question as a model wrote it, with its origin."""

    question_id: str
    image_id: str
    kind: str  # as Table 1 names it
    text: str
    options: tuple[str, ...]
    answer: str  # a letter
    chain: int  # number of the chain that shares most words with the right option
    side: str  # "conclusion" or "evidence": the part of that chain
    tries: int  # requests until the response could be parsed
    writer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterResponse:
    """A writer's response about one kind of reasoning."""

    image_id: str
    kind: str  # as Table 1 names it
    tries: int  # number of the request, from 1; higher ones are retries
    writer: str
    text: str
    complaint: str  # why the response cannot be used; "" if it can


class _Assignment(NamedTuple):
    """The chains of one kind in one image: one request."""

    story: Story
    kind: Kind
    chains: tuple[str, ...]

    @property
    def name(self) -> str:
        """The key of a recorded response."""
        return f"cogbench/writing/{self.story.image_id}/{self.kind.code}"


def ask_writer(
    stories: Iterable[Story], chains: Iterable[StoryChain], writer: ChatModel
) -> list[WriterResponse]:
    """Request questions about each image and kind of reasoning; retry unreadable responses.

    A failed request is repeated as it was, an unreadable response with the complaint.
    """
    waiting = [
        (assignment, prompts.writer_prompt(*assignment))
        for assignment in _assignments(stories, chains)
    ]
    responses = []
    for tries in range(1, _MOST_TRIES + 1):
        if not waiting:
            break
        requests = [
            Request(prompt=prompt, sample=tries - 1, name=writer_question.name)
            for writer_question, prompt in waiting
        ]
        retries = []
        for (waiting_question, prompt), response in zip(
            waiting, writer.response(requests), strict=True
        ):
            row = _response(waiting_question, response, tries, writer.name)
            responses.append(row)
            if response.error:
                retries.append((waiting_question, prompt))
            elif row.complaint:
                retries.append(
                    (waiting_question, prompts.retry_prompt(prompt, response.text, row.complaint))
                )
        waiting = retries
    return responses


def written_questions(
    responses: Iterable[WriterResponse], chains: Iterable[StoryChain]
) -> list[WrittenQuestion]:
    """Parse the readable responses, in order."""
    chain_texts = _by_image_and_kind(chains)
    return [
        _written(response, draft, chain_texts[response.image_id, response.kind])
        for response in responses
        if not response.complaint
        for draft in read_response(response.text, n_chains=0)
        if isinstance(draft, SourceQuestion)
    ]


def read_response(response: str, n_chains: int) -> list[SourceQuestion] | str:
    """Parse questions as Figure 7 prints them, or return the format error.

    A question has six lines: itself, four options "A. ..." to "D. ...", and "Correct Answer:
    [D]"; blank lines are skipped.
    """
    lines = [line.strip() for line in response.splitlines() if line.strip()]
    if not lines or len(lines) % 6:
        return (
            f"{len(lines)} lines; each question has six: itself, A. to D., and Correct Answer: [X]"
        )
    drafts = [_draft(lines[start : start + 6]) for start in range(0, len(lines), 6)]
    complaints = [draft for draft in drafts if isinstance(draft, str)]
    if complaints:
        return complaints[0]
    if len(drafts) < n_chains:
        return (
            f"{len(drafts)} questions for {n_chains} reasoning processes; each needs at least one"
        )
    return [draft for draft in drafts if isinstance(draft, SourceQuestion)]


def as_source_question(written: WrittenQuestion) -> SourceQuestion:
    """A written question in the form of the authors' file."""
    return SourceQuestion(
        where=written.question_id,
        image_id=written.image_id,
        category=written.kind,
        text=written.text,
        options=written.options,
        answer=written.answer,
    )


def _assignments(stories: Iterable[Story], chains: Iterable[StoryChain]) -> list[_Assignment]:
    chain_texts = _by_image_and_kind(chains)
    return [
        _Assignment(story, kind, chain_texts[story.image_id, kind.name])
        for story in stories
        for kind in KINDS
        if (story.image_id, kind.name) in chain_texts
    ]


def _by_image_and_kind(chains: Iterable[StoryChain]) -> dict[tuple[str, str], tuple[str, ...]]:
    chain_texts: dict[tuple[str, str], tuple[str, ...]] = {}
    for chain in chains:
        kind_of_image = chain.image_id, chain.kind
        chain_texts[kind_of_image] = (*chain_texts.get(kind_of_image, ()), chain.text)
    return chain_texts


def _response(
    assignment: _Assignment, response: Response, tries: int, writer: str
) -> WriterResponse:
    read = response.error or read_response(response.text, n_chains=len(assignment.chains))
    return WriterResponse(
        image_id=assignment.story.image_id,
        kind=assignment.kind.name,
        tries=tries,
        writer=writer,
        text=response.text,
        complaint=read if isinstance(read, str) else "",
    )


def _draft(lines: Sequence[str]) -> SourceQuestion | str:
    text, *choices, gold = lines
    for letter, choice in zip(_LETTERS, choices, strict=True):
        if not re.match(rf"{letter}\. \S", choice):
            return f"expected an option that starts with '{letter}. ', found {choice!r:.80}"
    if not (match := _ANSWER_LINE.fullmatch(gold)):
        return f"expected 'Correct Answer: [X]' with X from A to D, found {gold!r:.80}"
    return SourceQuestion(
        where="",
        image_id="",
        category="",
        text=text,
        options=tuple(choice[3:].strip() for choice in choices),
        answer=match[1],
    )


def _written(
    response: WriterResponse, draft: SourceQuestion, chains: Sequence[str]
) -> WrittenQuestion:
    right = draft.options[_LETTERS.index(draft.answer)]
    _, number, side = max(_overlaps(chains, right), key=lambda found: found[0])
    return WrittenQuestion(
        question_id=question_id(replace(draft, image_id=response.image_id)),
        image_id=response.image_id,
        kind=response.kind,
        text=draft.text,
        options=draft.options,
        answer=draft.answer,
        chain=number,
        side=side,
        tries=response.tries,
        writer=response.writer,
    )


def _overlaps(chains: Sequence[str], right: str) -> list[tuple[float, int, str]]:
    """Share of the right option's words in each side of each chain."""
    parts = [(number, read_chain(text)) for number, text in enumerate(chains, 1)]
    sides = [
        (number, side, text)
        for number, chain in parts
        if not isinstance(chain, str)
        for side, text in (("conclusion", chain.conclusion), ("evidence", " ".join(chain.premises)))
    ]
    overlaps = [
        (word_share(right, content_words(text)), number, side) for number, side, text in sides
    ]
    return overlaps or [(0.0, 0, "")]


def shuffled_questions(written: Iterable[WrittenQuestion]) -> list[SourceQuestion]:
    """The written questions with their options in random order."""
    return [shuffle_options(as_source_question(question), _SEED) for question in written]


def key_proposals(
    written: Iterable[WrittenQuestion],
    images: Sequence[StoredImage],
    language_only: Iterable[LanguageOnly],
) -> list[list[Proposal]]:
    """Propose the key that the writer gave each question; it counts as the form's vote."""
    digests, questions = images_by_id(images), shuffled_questions(written)
    doubts: dict[str, list[str]] = {}
    for name, flag in find_flags(questions, language_only):
        doubts.setdefault(name, []).append(flag)
    return [
        [
            Proposal(
                id=question_id(question),
                question_id=question_id(question),
                construction="written question",
                question="\n".join([question.text, *lettered_choices(question.options)]),
                images=(digests[question.image_id].sha256,),
                answer_form="letters",
                key=question.answer,
                form="proven",
                why="the writer's key",
                doubt="; ".join(doubts.get(question_id(question), ())),
            )
        ]
        for question in {question_id(question): question for question in questions}.values()
        if question.image_id in digests
    ]


WRITTEN = GoldStep(
    folder="cogbench/vqa",
    reads={
        "written": SourceTable("cogbench/vqa/written_questions", WrittenQuestion),
        "images": SourceTable("cogbench/images", StoredImage),
        "language_only": SourceTable("cogbench/vqa/language_only", LanguageOnly),
    },
    candidates=key_proposals,
    quorum="form and one",
)
