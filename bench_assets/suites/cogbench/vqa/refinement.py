"""Refinement of written questions (section 2.3.2): flags, blind runs and manual decisions.

``refinements.json`` holds ``{question_id, action, note}`` with the action "keep", "drop" or
"replace"; "replace" comes with ``question``, ``options`` and ``answer``.

In a blind run a model without images answers each question several times, its options in another
order each time; a question that is right every time is solvable by language alone. The paper has
ChatGPT; the built-in model takes an option that is far longer than the others.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random
from string import ascii_uppercase
from typing import Literal, TypeAlias

from bench_assets.core.schema.chat import ChatModel, Request, Response
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, make_rows, read_entries, require_field
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.cogbench.construction.selection import normalize_text, question_id
from bench_assets.suites.cogbench.dataset.source import REFINEMENTS, SourceQuestion
from bench_assets.suites.cogbench.vqa import prompts
from bench_assets.suites.cogbench.vqa.scoring import score_carefully

LENGTH_RATIO = 1.5  # length of an option that stands out, in lengths of the longest other one
SOLVABLE = "solvable without the image"


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageOnly:
    """Accuracy of a blind model on one question."""

    question_id: str
    model: str
    n_tries: int  # that were answered
    n_right: int
    solvable: bool


def ask_without_image(
    questions: Sequence[Question], model: ChatModel, tries: int, seed: int
) -> list[LanguageOnly]:
    """Ask each question several times without its image, and count the right answers.

    Args:
        questions: With four options each.
        model: The blind model.
        tries: Requests per question, each with the options in another order.
        seed: Seed of the orders.
    """
    shuffled = [
        [
            _shuffle_options(question, Random(f"{seed}\n{attempt}\n{question.question_id}"))
            for attempt in range(tries)
        ]
        for question in questions
    ]
    requests = [
        Request(prompt=prompts.blind(version), sample=attempt, question=version)
        for versions in shuffled
        for attempt, version in enumerate(versions)
    ]
    responses = iter(model.response(requests))
    return [
        _count_right(versions, list(islice(responses, tries)), model.name) for versions in shuffled
    ]


def longest_option(request: Request) -> str:
    """The letter of an option far longer than the others; "" without one."""
    options = request.question.options if request.question else ()
    lengths = [len(option) for option in options]
    if len(lengths) < 2:
        return ""
    *_, second, longest = sorted(lengths)
    stands_out = longest >= LENGTH_RATIO * second > 0
    return "ABCD"[lengths.index(longest)] if stands_out else ""


def _shuffle_options(question: Question, rng: Random) -> Question:
    order = rng.sample(range(len(question.options)), len(question.options))
    (gold,) = question.answer
    position = order.index("ABCD".index(gold))
    options = tuple(question.options[index] for index in order)
    return replace(question, options=options, answer=("ABCD"[position],), images=())


def _count_right(
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


Action: TypeAlias = Literal["keep", "drop", "replace"]

_SHARE_OF_LETTER = 0.25  # expected share of a letter among right answers, with four letters
_MAX_IMBALANCE = 0.1  # largest deviation of a letter's share among right answers
_MIN_QUESTIONS = 20  # questions; fewer are too few to tell an imbalance from chance

TOO_LONG, REPEATED = "an option is much longer than the rest", "the question was asked before"
NEEDS_NO_IMAGE = (
    "solved without the image; to ask it anyway, keep it in refinements.json or set keep_solvable"
)
EQUAL_OPTIONS = "two options say the same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """A flag of a question, and its decision."""

    question_id: str
    flag: str
    decision: str  # a person's action; "" if not reviewed yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """A reviewer's decision on a question."""

    question_id: str
    action: Action
    note: str
    replacement: SourceQuestion | None = None


def read_refinements(folder: Path) -> Table[Refinement]:
    """Read ``refinements.json`` of a source; without the file, there are no refinements.

    Raises:
        SourceError: If the file is not a JSON list.
    """
    file = folder / REFINEMENTS
    return make_rows(read_entries(file) if file.is_file() else (), _refinement)


def find_flags(
    questions: Sequence[SourceQuestion], language_only: Iterable[LanguageOnly]
) -> list[tuple[str, str]]:
    """Flag doubtful questions: pairs of question id and flag, each once, sorted."""
    times = Counter((question.image_id, normalize_text(question.text)) for question in questions)
    flags = []
    for question in questions:
        name = question_id(question)
        lengths = sorted(map(len, question.options))
        if len(lengths) > 1 and lengths[-1] > LENGTH_RATIO * lengths[-2]:
            flags.append((name, TOO_LONG))
        if len(set(map(normalize_text, question.options))) < len(question.options):
            flags.append((name, EQUAL_OPTIONS))
        if times[question.image_id, normalize_text(question.text)] > 1:
            flags.append((name, REPEATED))
    flags += [(row.question_id, SOLVABLE) for row in language_only if row.solvable]
    return sorted(set(flags))


def undecided_flags(flags: Iterable[Flag]) -> dict[str, str]:
    """Join the flags of each question that have no decision, by question id."""
    texts: dict[str, list[str]] = defaultdict(list)
    for flag in flags:
        if not flag.decision:
            texts[flag.question_id].append(flag.flag)
    return {name: "; ".join(flag_texts) for name, flag_texts in texts.items()}


def undecided_solvable(flags: Iterable[Flag]) -> list[str]:
    """Ids of the undecided questions that were solved without the image (section 2.3.2)."""
    return [flag.question_id for flag in flags if flag.flag == SOLVABLE and not flag.decision]


def letter_balance(answers: Iterable[str]) -> tuple[bool, dict[str, int]]:
    """Whether each of four letters is right about equally often, and the counts.

    Fewer than 20 answers are balanced.
    """
    counts = Counter(answers)
    by_letter = {letter: counts[letter] for letter in ascii_uppercase[:4]}
    n = counts.total()
    shares = [count / n for count in by_letter.values()] if n else []
    balanced = all(abs(share - _SHARE_OF_LETTER) <= _MAX_IMBALANCE for share in shares)
    return n < _MIN_QUESTIONS or balanced, by_letter


def apply_refinements(
    questions: Iterable[SourceQuestion], refinements: Sequence[Refinement]
) -> Table[SourceQuestion]:
    """Apply refinements; reject dropped and replaced questions, and unknown ids of refinements."""
    decisions = {refinement.question_id: refinement for refinement in refinements}
    refined = Table[SourceQuestion]()
    names = set()
    for question in questions:
        name = question_id(question)
        names.add(name)
        decision = decisions.get(name)
        if decision is None or decision.action == "keep":
            refined.rows.append(question)
        elif decision.replacement is None:
            refined.reject(name, f"dropped by hand: {decision.note}")
        else:
            replacement = replace(
                decision.replacement, image_id=question.image_id, category=question.category
            )
            refined.rows.append(replacement)
            refined.reject(name, f"replaced by {question_id(replacement)}: {decision.note}")
    for refinement in refinements:
        if refinement.question_id not in names:
            refined.reject(f"{REFINEMENTS}, {refinement.question_id}", "unknown question")
    return refined


def _refinement(entry: Entry, where: str) -> Refinement:
    action = require_field(entry, "action", str, where)
    actions: dict[str, Action] = {"keep": "keep", "drop": "drop", "replace": "replace"}
    if action not in actions:
        raise SourceError(f"{where}: action {action!r}; expected keep, drop or replace")
    return Refinement(
        question_id=require_field(entry, "question_id", str, where),
        action=actions[action],
        note=require_field({"note": "", **entry}, "note", str, where),
        replacement=_replacement(entry, where) if action == "replace" else None,
    )


def _replacement(entry: Entry, where: str) -> SourceQuestion:
    options = require_field(entry, "options", list, where)
    return SourceQuestion(
        where=where[where.index(f"{REFINEMENTS}, entry") :],  # without the folder
        image_id="",
        category="",
        text=require_field(entry, "question", str, where),
        options=tuple(
            require_field({"option": option}, "option", str, where) for option in options
        ),
        answer=require_field(entry, "answer", str, where),
    )
