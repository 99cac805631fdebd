"""Conversion of items to questions, ablations, knowledge pieces (MULTI-Extend, section 3.4)."""

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from string import ascii_uppercase

from bench_assets.core.schema.rows import AnswerKind, Edition, Question, StoredImage
from bench_assets.core.tables.build import Table
from bench_assets.suites.multi.dataset.source import Knowledge, MultiItem
from bench_assets.suites.multi.prompts import IMAGE_TOKEN

ATTACHED, NAMED, UNCOVERED = "attached", "named in the text", "uncovered"
WRITTEN = "written by a person"
"""How a knowledge piece was linked to its question."""

_MIN_NAME_LENGTH = 2  # characters; shorter names match too often


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeLink:
    """The knowledge piece of one item, if it has one."""

    item_id: str
    knowledge: str  # name of the piece; "" without one
    how: str  # ATTACHED, NAMED, UNCOVERED or WRITTEN


def select_usable(pieces: Iterable[Knowledge], images: Container[str]) -> Table[Knowledge]:
    """Select the pieces that have a text, and every image that they list or refer to."""
    usable = Table[Knowledge]()
    for piece in pieces:
        fault = _piece_fault(piece, images)
        if fault:
            usable.reject(f"knowledge {piece.name}", fault)
        else:
            usable.rows.append(piece)
    return usable


def _piece_fault(piece: Knowledge, images: Container[str]) -> str:
    """Name the first fault of a piece; "" without one."""
    missing = [image for image in piece.images if image not in images]
    if missing:
        return f"images are missing: {', '.join(missing)}"
    if not piece.content.strip():
        return "the text is empty"
    for number in image_numbers(piece.content):
        if not 0 < number <= len(piece.images):
            return f"it refers to image {number} of {len(piece.images)}"
    return ""


def link_knowledge(
    items: Iterable[MultiItem], names: Collection[str], *, search: bool
) -> list[KnowledgeLink]:
    """Link items to the first piece attached to them, or to one that they name, or to none.

    In the paper, people search with language models; here the longest name in text or analysis
    wins. ``names`` are those of all pieces; they are only searched for with ``search``.
    """
    searched_names = [name for name in names if len(name) >= _MIN_NAME_LENGTH] if search else []
    searched_names.sort(key=lambda name: (-len(name), name))
    links = []
    for item in items:
        if item.knowledge and item.knowledge[0] in names:
            knowledge, how = item.knowledge[0], ATTACHED
        else:
            text = f"{item.text}\n{item.analysis}"
            knowledge = next((name for name in searched_names if name in text), "")
            how = NAMED if knowledge else UNCOVERED
        links.append(KnowledgeLink(item_id=item.item_id, knowledge=knowledge, how=how))
    return links


KINDS: Mapping[str, AnswerKind] = {
    "SA": "choice",
    "MA": "choices",
    "FB": "blanks",
    "OP": "text",
    "Other": "text",
}
"""Kind of answer by type of question."""

# Columns of Table 5 by education level, and by subject: driving and administrative aptitude test.
LEVELS = {"初中": "JuH", "高中": "SeH", "大学": "Uni"}
SUBJECTS = {"驾考": "Driv", "行测": "AAT"}

NOT_PUBLISHED = "（未公布）"
"""Answer of questions without a published one: withheld by a release, drawings and the like."""

_N_QUESTIONS, _N_PROBLEMS = 18_430, 17_251  # of the paper (Table 9)
_OPTION = re.compile(r"(?:^|(?<=\s))([A-Z])[.．、:：]\s*", re.MULTILINE)


def to_questions(
    items: Sequence[MultiItem], images: Mapping[str, StoredImage], edition: Edition
) -> Table[Question]:
    """Convert every item that can be asked and scored to a question; reject the others.

    A published edition with a rejection becomes ``"own"``. A missing answer is ``NOT_PUBLISHED``;
    for SA, MA and FB it is a reason to reject, unless all answers are missing, as in a release that
    withholds them.
    """
    withheld = not any(item.answer for item in items)
    table = Table[Question]()
    for item in items:
        faults = _faults(item, images, withheld=withheld)
        if faults:
            table.reject(f"question {item.item_id}", "; ".join(faults))
        else:
            table.rows.append(_question(item, images, edition))
    if table.rejections:
        return Table(_mark_as_own(table.rows), table.rejections)
    return table


def _mark_as_own(questions: Iterable[Question]) -> list[Question]:
    """Change the edition "published" to "own", because the questions are not all of it."""
    return [
        replace(question, edition="own") if question.edition == "published" else question
        for question in questions
    ]


def is_release(items: Sequence[MultiItem]) -> bool:
    """Whether there are as many questions and problems as in the paper (Table 9)."""
    n_problems = len({item.problem_id for item in items})
    return len(items) == _N_QUESTIONS and n_problems == _N_PROBLEMS


def split_options(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Split a text into stem and options: A, B, C, ... from the last A.

    Options begin lines or follow whitespace; without any, the whole text is the stem. A letter out
    of order, such as an initial, is a part of its option.

    >>> split_options("A、B两地相距[MASK]\nA. 1 km\nB. 2 km")
    ('A、B两地相距[MASK]', ('1 km', '2 km'))
    """
    marks = list(_OPTION.finditer(text))
    first_options = [index for index, mark in enumerate(marks) if mark[1] == "A"]
    if not first_options:
        return text, ()
    run: list[re.Match[str]] = []
    for mark in marks[first_options[-1] :]:
        if ascii_uppercase.index(mark[1]) == len(run):
            run.append(mark)
    ends = [*(mark.start() for mark in run[1:]), len(text)]
    options = [text[mark.end() : end].strip() for mark, end in zip(run, ends, strict=True)]
    return text[: run[0].start()].rstrip(), tuple(options)


def stem_and_options(item: MultiItem) -> tuple[str, tuple[str, ...]]:
    """Split the text of a choice question; any other text is all stem."""
    return split_options(item.text) if item.type in ("SA", "MA") else (item.text, ())


def gold_blanks(answer: str) -> tuple[str, ...]:
    """Split the gold of a question with blanks, one line per blank; empty lines are dropped."""
    return tuple(line.strip() for line in answer.split("\n") if line.strip())


def with_knowledge(
    questions: Iterable[Question],
    links: Iterable[KnowledgeLink],
    knowledge: Mapping[str, Knowledge],
    images: Mapping[str, StoredImage],
) -> list[Question]:
    """Add the knowledge piece of each question (MULTI-Extend, section 4.7).

    Questions without one stay: Table 8 is over the whole set. The images of a piece, which must be
    in ``images``, are appended to the question's and numbered after them.
    """
    pieces = {f"multi/{link.item_id}": knowledge.get(link.knowledge) for link in links}
    return [
        _add_piece(question, pieces.get(question.question_id), images) for question in questions
    ]


def add_blank_image(questions: Iterable[Question], blank: str) -> list[Question]:
    """Add a black image to questions without one (section 4.2)."""
    return [
        question if question.images else replace(question, images=(blank,))
        for question in questions
    ]


def select_elite(questions: Iterable[Question], item_ids: Collection[str]) -> list[Question]:
    """Select the questions of MULTI-Elite, in the order of the whole set (section 3.3).

    A published edition becomes ``"own"`` if a question of the list is missing.

    Args:
        questions: The whole set.
        item_ids: Entries of the source's hard list.
    """
    elite_ids = {f"multi/{item_id}" for item_id in item_ids}
    elite = [question for question in questions if question.question_id in elite_ids]
    return elite if len(elite) == len(elite_ids) else _mark_as_own(elite)


def _faults(item: MultiItem, images: Mapping[str, StoredImage], *, withheld: bool) -> list[str]:
    """List the reasons why an item cannot be asked or scored."""
    numbers = image_numbers(item.text)
    referenced = [item.images[n - 1] for n in numbers if 0 < n <= len(item.images)]
    missing = sorted(set(referenced) - images.keys())
    faults = {
        f"id {item.item_id!r} is empty or contains blanks or slashes": (
            re.fullmatch(r"[^\s/]+", item.item_id) is None
        ),
        "the text is empty": not item.text.strip(),
        f"an [IMAGE_n] has no image: {len(numbers)} places, {len(item.images)} images": (
            len(referenced) < len(numbers)
        ),
        f"images are missing or do not decode: {', '.join(missing)}": bool(missing),
    }
    if not withheld:
        faults |= _answer_faults(item)
    return [fault for fault, is_present in faults.items() if is_present]


def _answer_faults(item: MultiItem) -> dict[str, bool]:
    """Possible faults of an answer, and whether each is present."""
    pattern = {"SA": "[A-Z]", "MA": "[A-Z]+"}.get(item.type)
    is_malformed = bool(pattern and item.answer and not re.fullmatch(pattern, item.answer))
    return {
        "it has no answer": item.type in ("SA", "MA", "FB") and not item.answer,
        f"the answer to a {item.type} question is {item.answer!r}": is_malformed,
        f"the answer {item.answer!r} names an option twice": (
            item.type == "MA" and len(set(item.answer)) < len(item.answer)
        ),
    }


def _question(item: MultiItem, images: Mapping[str, StoredImage], edition: Edition) -> Question:
    numbers = image_numbers(item.text)
    return Question(
        question_id=f"multi/{item.item_id}",
        task="multi",
        edition=edition,
        kind=KINDS[item.type] if item.answer else "text",
        text=_renumber_images(item.text, 1),
        answer=_answer(item),
        images=tuple(images[item.images[n - 1]].sha256 for n in numbers),
        options=_options(item),
        category=item.type,
        group_id=item.problem_id,
        labels={
            "images": ("NI", "SI", "MI")[min(len(numbers), 2)],  # no, a single, multiple images
            "level": SUBJECTS.get(item.subject) or LEVELS.get(item.education, ""),
            "subject": item.subject,
            "difficulty": item.difficulty,
            "quality": item.quality,
            "knowledge": item.knowledge[0] if item.knowledge else "",
        },
    )


def _answer(item: MultiItem) -> tuple[str, ...]:
    """Return the key, if it is published, byte for byte, as the authors' script compares it."""
    if not item.answer:
        return (NOT_PUBLISHED,)
    if item.type in ("SA", "MA"):
        return tuple(item.answer)
    return tuple(item.answer.split("\n")) if item.type == "FB" else (item.answer,)


def _options(item: MultiItem) -> tuple[str, ...]:
    """Return the listed options, or letters if some are equal or missing; () without a choice."""
    if item.type not in ("SA", "MA") or not item.answer:
        return ()
    _, listed = split_options(item.text)
    n_options = max(len(listed), ascii_uppercase.index(max(item.answer)) + 1)
    if len(set(listed)) == n_options:
        return listed
    return tuple(ascii_uppercase[:n_options])


def image_numbers(text: str) -> list[int]:
    """Numbers of the images that a text refers to, in order."""
    return [int(match[1]) for match in IMAGE_TOKEN.finditer(text)]


def _renumber_images(text: str, first: int) -> str:
    """Number images in reading order from ``first``, as the authors' prepare.py does."""
    numbers = count(first)
    return IMAGE_TOKEN.sub(lambda _: f"[IMAGE_{next(numbers)}]", text)


def _add_piece(
    question: Question, piece: Knowledge | None, images: Mapping[str, StoredImage]
) -> Question:
    """Add a knowledge piece to its question, and the piece's images to those of the question."""
    if piece is None:
        return question
    if not piece.images:  # [IMAGE_1] in a written piece is the question's
        return replace(question, context=piece.content)
    image_names = [piece.images[n - 1] for n in image_numbers(piece.content)]
    return replace(
        question,
        context=_renumber_images(piece.content, len(question.images) + 1),
        images=(*question.images, *(images[name].sha256 for name in image_names)),
    )
