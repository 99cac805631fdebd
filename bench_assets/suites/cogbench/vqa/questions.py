"""Questions of the VQA task: from the source, or written by a model (section 2.3.2, Figure 7).

A writer's response that is not exactly in the format is requested again, with the complaint.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from bench_assets.annotation.answers.values import lettered_choices
from bench_assets.annotation.gold import GoldStep
from bench_assets.annotation.tasks import SourceTable
from bench_assets.core.gold.proposals import Proposal
from bench_assets.core.schema.chat import ChatModel, Request, Response
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
        questions: The selected questions.
        images: By image id.
        edition: Edition of the rows.
        flags: Question id -> open flags, for a label of the question.
    """
    times: Counter[str] = Counter()
    rows = []
    for question in questions:
        name, kind = question_id(question), find_kind(question.category)
        assert kind is not None, "questions of an unknown category are not selected"
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
                category=kind.name,
                group_id=question.image_id,
                labels={"flags": flags[name]} if name in flags else {},
            )
        )
    return rows


_LETTERS = "ABCD"
_SEED = 0  # seed of the option orders; another seed would make another benchmark
_ANSWER_LINE = re.compile(r"Correct Answer: \[([A-D])\]")
_LINES_PER_QUESTION = 6  # lines of a question: its text, four options and the answer
_MAX_TRIES = 3  # requests to the writer per kind of an image


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
    chains: list[str]

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
    pending = [
        (assignment, prompts.writer_prompt(*assignment))
        for assignment in _assignments(stories, chains)
    ]
    rows = []
    for tries in range(1, _MAX_TRIES + 1):
        if not pending:
            break
        requests = [
            Request(prompt=prompt, sample=tries - 1, name=assignment.name)
            for assignment, prompt in pending
        ]
        responses = writer.response(requests)
        retries = []
        for (assignment, prompt), response in zip(pending, responses, strict=True):
            row = _writer_response(assignment, response, tries, writer.name)
            rows.append(row)
            if response.error:
                retries.append((assignment, prompt))
            elif row.complaint:
                retry_prompt = prompts.retry_prompt(prompt, response.text, row.complaint)
                retries.append((assignment, retry_prompt))
        pending = retries
    return rows


def parse_questions(
    responses: Iterable[WriterResponse], chains: Iterable[StoryChain]
) -> list[WrittenQuestion]:
    """Parse the questions in the readable responses, in order."""
    chain_texts = _by_image_and_kind(chains)
    rows = []
    for response in responses:
        drafts = read_response(response.text, n_chains=0)
        if not response.complaint and not isinstance(drafts, str):
            texts = chain_texts[response.image_id, response.kind]
            rows += [_written_question(response, draft, texts) for draft in drafts]
    return rows


def read_response(response: str, n_chains: int) -> list[SourceQuestion] | str:
    """Parse questions as Figure 7 prints them, or return the format error.

    A question has six lines: its text, four options "A. ..." to "D. ...", and "Correct Answer:
    [D]"; blank lines are skipped. Fewer than ``n_chains`` questions are an error, too.
    """
    lines = [line.strip() for line in response.splitlines() if line.strip()]
    if not lines or len(lines) % _LINES_PER_QUESTION:
        return (
            f"{len(lines)} lines; each question has six: itself, A. to D., and Correct Answer: [X]"
        )
    drafts = []
    for start in range(0, len(lines), _LINES_PER_QUESTION):
        draft = _parse_question(lines[start : start + _LINES_PER_QUESTION])
        if isinstance(draft, str):
            return draft
        drafts.append(draft)
    if len(drafts) < n_chains:
        return (
            f"{len(drafts)} questions for {n_chains} reasoning processes; each needs at least one"
        )
    return drafts


def _as_source_question(written: WrittenQuestion) -> SourceQuestion:
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
        _Assignment(story=story, kind=kind, chains=chain_texts[story.image_id, kind.name])
        for story in stories
        for kind in KINDS
        if (story.image_id, kind.name) in chain_texts
    ]


def _by_image_and_kind(chains: Iterable[StoryChain]) -> dict[tuple[str, str], list[str]]:
    chain_texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for chain in chains:
        chain_texts[chain.image_id, chain.kind].append(chain.text)
    return dict(chain_texts)


def _writer_response(
    assignment: _Assignment, response: Response, tries: int, writer: str
) -> WriterResponse:
    drafts = read_response(response.text, n_chains=len(assignment.chains))
    format_error = drafts if isinstance(drafts, str) else ""
    return WriterResponse(
        image_id=assignment.story.image_id,
        kind=assignment.kind.name,
        tries=tries,
        writer=writer,
        text=response.text,
        complaint=response.error or format_error,
    )


def _parse_question(lines: Sequence[str]) -> SourceQuestion | str:
    """Parse the lines of one question, or return the format error."""
    text, *choices, answer_line = lines
    for letter, choice in zip(_LETTERS, choices, strict=True):
        if not re.match(rf"{letter}\. \S", choice):
            return f"expected an option that starts with '{letter}. ', found {choice!r:.80}"
    match = _ANSWER_LINE.fullmatch(answer_line)
    if match is None:
        return f"expected 'Correct Answer: [X]' with X from A to D, found {answer_line!r:.80}"
    return SourceQuestion(
        where="",
        image_id="",
        category="",
        text=text,
        options=tuple(choice[3:].strip() for choice in choices),
        answer=match[1],
    )


def _written_question(
    response: WriterResponse, draft: SourceQuestion, chains: Sequence[str]
) -> WrittenQuestion:
    right_option = draft.options[_LETTERS.index(draft.answer)]
    origin = _find_origin(right_option, chains)
    return WrittenQuestion(
        question_id=question_id(replace(draft, image_id=response.image_id)),
        image_id=response.image_id,
        kind=response.kind,
        text=draft.text,
        options=draft.options,
        answer=draft.answer,
        chain=origin.chain,
        side=origin.side,
        tries=response.tries,
        writer=response.writer,
    )


class _Origin(NamedTuple):
    """A side of a chain that a question may be about."""

    word_share: float  # of the right option's words, in this side
    chain: int  # from 1; 0 if no chain can be parsed
    side: str  # "conclusion" or "evidence"; "" without a chain


def _find_origin(option: str, chains: Sequence[str]) -> _Origin:
    """Find the side of a chain that has the largest share of the option's words."""
    origins = []
    for number, text in enumerate(chains, 1):
        chain = read_chain(text)
        if not isinstance(chain, str):
            sides = {"conclusion": chain.conclusion, "evidence": " ".join(chain.premises)}
            for side, side_text in sides.items():
                share = word_share(option, content_words(side_text))
                origins.append(_Origin(word_share=share, chain=number, side=side))
    unknown = _Origin(word_share=0.0, chain=0, side="")
    return max(origins, key=lambda origin: origin.word_share, default=unknown)


def shuffled_questions(written: Iterable[WrittenQuestion]) -> list[SourceQuestion]:
    """The written questions with their options in random order."""
    return [shuffle_options(_as_source_question(question), _SEED) for question in written]


def key_proposals(
    written: Iterable[WrittenQuestion],
    images: Sequence[StoredImage],
    language_only: Iterable[LanguageOnly],
) -> list[list[Proposal]]:
    """Propose the writer's key of each question with a stored image, as the form's vote."""
    stored = images_by_id(images)
    questions = shuffled_questions(written)
    doubts: dict[str, list[str]] = defaultdict(list)
    for name, flag in find_flags(questions, language_only):
        doubts[name].append(flag)
    by_id = {question_id(question): question for question in questions}
    return [
        [
            Proposal(
                id=name,
                question_id=name,
                construction="written question",
                question="\n".join([question.text, *lettered_choices(question.options)]),
                images=(stored[question.image_id].sha256,),
                answer_form="letters",
                key=question.answer,
                form="proven",
                why="the writer's key",
                doubt="; ".join(doubts[name]),
            )
        ]
        for name, question in by_id.items()
        if question.image_id in stored
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
