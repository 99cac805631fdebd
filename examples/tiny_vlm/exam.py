"""The exam: held-out questions of the mini editions, asked as the suites ask them.

Their images come of seeds that neither lessons nor the mini editions use, and what JourneyBench's
show is never taught in that combination. Each question is asked once more with another question's
image: what is right then, a model knows without looking.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import cycle, islice
from math import comb
from pathlib import Path
from random import Random

from bench_assets.core.parsing.choices import read_choice
from bench_assets.core.schema.chat import Image, Prompt, Request, Turn
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.task import Task
from bench_assets.suites.blink.task import TASK as BLINK
from bench_assets.suites.journeybench.captioning.task import TASK as CAPTIONING
from bench_assets.suites.journeybench.hallucination_vqa.answer_matching import says_the_same
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK as HALOQUEST
from bench_assets.suites.journeybench.synthetic.images import WORLD, Member, members
from examples.tiny_vlm.lessons import TASKS, blink_questions
from examples.tiny_vlm.strange_views import UNUSUAL
from resources.config.sections.local_models import TransformersSpec
from resources.models.transformers.engine import TransformersEngine

FIRST_SEED = 2_000_000  # of the exam; those of lessons are smaller
_A_SEED = 20  # questions that one seed gives
_APART = 13  # JourneyBench's images that lie so far apart have next to nothing in common
_MAX_TOKENS = 40


@dataclass(frozen=True, slots=True)
class Case:
    """One question of the exam, and how to tell whether a response is right."""

    prompt: Prompt
    right: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Subject:
    """One category of the mini editions."""

    chance: float  # share right by guessing among the possible answers
    cases: Sequence[Case]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a checkpoint got right in one category."""

    n: int
    right: int
    right_without_looking: int  # shown the image of another question
    chance: float

    @property
    def accuracy(self) -> float:
        """Share right."""
        return self.right / self.n

    @property
    def p(self) -> float:
        """How likely as many are right by guessing, or without looking where that gets more right.

        >>> Mark(n=10, right=10, right_without_looking=5, chance=0.25).p == 1 / 1024
        True
        """
        guessed = max(self.chance, self.right_without_looking / self.n)
        rights = range(self.right, self.n + 1)
        return sum(comb(self.n, k) * guessed**k * (1 - guessed) ** (self.n - k) for k in rights)


class Album(dict[str, bytes]):
    """Images by their SHA-256."""

    def put(self, data: bytes) -> str:
        """Keep an image."""
        name = sha256(data).hexdigest()
        self[name] = data
        return name


def subjects(n: int, album: Album) -> dict[str, Subject]:
    """Draw about ``n`` questions of each category; images go into the album."""
    drawn = {f"blink/{task}": _of_blink(task, n, album) for task in TASKS}
    images = _of_journeybench(n, album)
    halo = "journeybench/hallucination_vqa"
    counted, absent = WORLD["triggers"][1], WORLD["triggers"][0]
    return drawn | {
        f"{halo}/visual challenge": Subject(1 / 5, [_halo(counted, *one) for one in images]),
        f"{halo}/false premises": Subject(0.5, [_halo(absent, *one) for one in images]),
        "journeybench/captioning/animal": Subject(
            1 / 10, [_told("{subject}", *one) for one in images]
        ),
        "journeybench/captioning/sky colour": Subject(
            1 / 6, [_told("{sky} sky", *one) for one in images]
        ),
        "journeybench/captioning/accessory": Subject(
            1 / 6, [_told("{accessory}", *one) for one in images]
        ),
        "journeybench/captioning/thing below": Subject(
            1 / 12, [_told("{mount}", *one) for one in images]
        ),
    }


def sit(folder: Path, exam: Mapping[str, Subject], album: Album) -> dict[str, Mark]:
    """Ask a checkpoint everything, loaded as the project loads any checkpoint."""
    spec = TransformersSpec(
        kind="transformers", path=str(folder), batch_size=40, max_tokens=_MAX_TOKENS
    )
    engine = TransformersEngine(spec, str(folder), album.__getitem__)
    asked = {name: _asked(subject) for name, subject in exam.items()}
    unique = list(dict.fromkeys(p for prompts in asked.values() for both in prompts for p in both))
    responses = {
        unique[place]: response.text
        for place, response in engine.stream([Request(prompt=prompt) for prompt in unique])
    }
    engine.close()
    return {name: _mark(exam[name], asked[name], responses) for name in exam}


def _asked(subject: Subject) -> list[tuple[Prompt, Prompt]]:
    """The prompt of each case, and the same with another image."""
    prompts = [case.prompt for case in subject.cases]
    others = [*prompts[_APART:], *prompts[:_APART]]
    return [(one, _with_images(one, other)) for one, other in zip(prompts, others, strict=True)]


def _mark(
    subject: Subject, asked: Sequence[tuple[Prompt, Prompt]], responses: Mapping[Prompt, str]
) -> Mark:
    both = list(zip(subject.cases, asked, strict=True))
    right = sum(case.right(responses[prompt]) for case, (prompt, _) in both)
    unseen = sum(case.right(responses[prompt]) for case, (_, prompt) in both)
    return Mark(n=len(both), right=right, right_without_looking=unseen, chance=subject.chance)


def _with_images(prompt: Prompt, other: Prompt) -> Prompt:
    images = iter(other.images)
    turns = (
        Turn(turn.role, tuple(next(images) if isinstance(p, Image) else p for p in turn.parts))
        for turn in prompt.turns
    )
    return Prompt(tuple(turns))


def _of_blink(task: str, n: int, album: Album) -> Subject:
    built = (
        q
        for seed in range(FIRST_SEED, FIRST_SEED + n)
        for q in blink_questions(task, seed, _A_SEED)
    )
    cases: list[Case] = []
    for one in built:
        question = replace(one.question, images=(album.put(one.data),))
        cases.append(Case(_prompt(BLINK, question), partial(_chosen, question)))
        if len(cases) == n:
            break
    return Subject(1 / len(question.options), cases)


def _of_journeybench(n: int, album: Album) -> list[tuple[Member, str]]:
    """The mini edition's images, drawn anew until there are enough of them."""
    shown = islice(cycle(members()), n)
    return [
        (member, album.put(member.draw(Random(f"{FIRST_SEED + number}"))))
        for number, member in enumerate(shown)
    ]


def _halo(trigger: Mapping[str, str], member: Member, image: str) -> Case:
    answers = tuple(member.say(answer) for answer in trigger["answers"])
    question = _question(HALOQUEST, member.say(trigger["question"]), image, answers)
    return Case(_prompt(HALOQUEST, question), partial(_answered, question))


def _told(words: str, member: Member, image: str) -> Case:
    question = _question(CAPTIONING, UNUSUAL, image, (words.format_map(member.words),))
    return Case(_prompt(CAPTIONING, question), partial(_names, question))


def _question(task: Task, text: str, image: str, answers: tuple[str, ...]) -> Question:
    return Question(
        question_id=f"{task.name}/exam", task=task.name, edition="mini", kind="text",
        text=text, answer=answers, images=(image,),
    )  # fmt: skip


def _prompt(task: Task, question: Question) -> Prompt:
    return task.condition("main").prompt(question)


def _chosen(question: Question, response: str) -> bool:
    return read_choice(response, question.options).letter == question.answer[0]


def _answered(question: Question, response: str) -> bool:
    return any(says_the_same(response, answer, question.text) for answer in question.answer)


def _names(question: Question, response: str) -> bool:
    return question.answer[0] in response.lower()
