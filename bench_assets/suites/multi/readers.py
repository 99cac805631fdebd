"""Readers of responses: the authors' script of the paper, their script of today, and ours.

``tests/suites/multi/test_readers.py`` has the points of each, response by response.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from unicodedata import normalize

from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.schema.rows import Question
from bench_assets.suites.multi.dataset.questions import split_options
from bench_assets.suites.multi.notation import matches_gold

_MAX_LETTERS = 13  # letters, A to M, of a question whose options are not known
_THOUGHT = re.compile(r"Thought，持续 [0-9]+ 秒")
_BOX_OPENS = re.compile(r"\\boxed\\?\{\\text\\?\{")
_BOX_CLOSES = re.compile(r"\\?\}\\?\}")
_REFUSAL = re.compile(r"缺少图片信息|lack of image information", re.IGNORECASE)
_WIDE = re.compile("[！-～]")  # full-width letters, digits and punctuation


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A parser of responses."""

    clean: Callable[[str], str]  # applied first, for every type of question
    letter: Callable[[str], str]  # "" if the response gives none
    letters: Callable[[str], str]  # in the order named, each once
    blanks: Callable[[str], tuple[str, ...]]  # in order; as many lines as it gives
    matches: Callable[[str, str], bool]  # whether a line matches the gold line
    reference: Callable[[str], str]  # cleans the reference of an open question
    refuses: Callable[[str], bool]  # whether the response is a refusal, which scores 0


def says_image_is_missing(response: str) -> bool:
    """Whether a response uses the prompt's words for a missing image."""
    return _REFUSAL.search(response) is not None


def half_width(text: str) -> str:
    """Convert full-width letters, digits and punctuation to half width.

    An ideographic blank becomes two blanks.

    >>> half_width("Ａ，Ｂ；０．５")
    'A,B;0.5'
    """
    return _WIDE.sub(lambda match: normalize("NFKC", match[0]), text.replace("\u3000", "  "))


def _first_letter(response: str) -> str:
    """The first Latin letter as written; "" without one."""
    match = re.search(r"[a-zA-Z]", response)
    return match[0] if match else ""


def _letter_at(response: str, index: int) -> str:
    """The Latin letter at an index, such as 0 or -1, in upper case; "" without any."""
    letters: list[str] = re.findall(r"[a-zA-Z]", response)
    return letters[index].upper() if letters else ""


def _first_run(response: str) -> str:
    """Letters of the first run of letters, spaces and commas; "" if it has no letter."""
    match = re.search(r"[a-zA-Z ,]+", response)
    return _unique_letters(match[0]) if match else ""


def _run_at(response: str, index: int) -> str:
    """Letters of the run of letters, spaces and commas at an index, in upper case; "" without any.

    Runs without a letter do not count.
    """
    runs = [run for run in re.findall(r"[a-zA-Z ,]+", response) if run.strip(" ,")]
    return _unique_letters(runs[index].upper()) if runs else ""


def _unique_letters(run: str) -> str:
    return "".join(dict.fromkeys(re.sub(r"[\s,、;和与及]", "", run)))


def _clean_current(response: str) -> str:
    """Cut out the answer as the authors' script of today does."""
    response = response.strip().split("\n\n")[-1]
    response = _THOUGHT.split(response)[-1].strip()
    response = response.split("答案为：")[-1].strip()
    response = response.split("</think>")[-1].strip()
    for word in ("Assistant:", "assistant:", "answer:", "答案：", "user\n", "我的分析如下："):
        response = response.replace(word, "")
    return _boxed_text(response).strip()


def _boxed_text(response: str) -> str:
    r"""Content of the first box; the whole response without one.

    As r"\\boxed\\?\{\\text\\?\{(.+?)\\?\}\\?\}" of the authors, but without trying every opening.
    """
    opening = _BOX_OPENS.search(response)
    closing = _BOX_CLOSES.search(response, opening.end() + 1) if opening else None
    return response[opening.end() : closing.start()] if opening and closing else response


def _current_lines(response: str) -> tuple[str, ...]:
    response = re.sub(r"\n\n+", "\n", response).replace("$", "").replace(" ", "")
    return tuple(line.strip() for line in re.split(r"[\n;；]", response))


def _matches_paper(line: str, gold: str) -> bool:
    return line == gold or line in gold.split("或")


def _matches_current(line: str, gold: str) -> bool:
    gold = gold.replace("$", "").replace(" ", "").strip()
    return line == gold or line in [alternative.strip() for alternative in gold.split("或")]


PAPER = Reader(
    clean=str,
    letter=_first_letter,
    letters=_first_run,
    blanks=lambda response: tuple(response.split("\n")),
    matches=_matches_paper,
    reference=str,
    refuses=lambda _: False,
)
"""The script that made the paper's tables (eval/metrics.py of 2024-02-06)."""

CURRENT = Reader(
    clean=_clean_current,
    letter=partial(_letter_at, index=0),
    letters=partial(_run_at, index=0),
    blanks=_current_lines,
    matches=_matches_current,
    reference=str,
    refuses=lambda response: "缺少图片信息" in response,
)
"""The authors' script of today with its default, the first letter."""

CURRENT_END = replace(
    CURRENT, letter=partial(_letter_at, index=-1), letters=partial(_run_at, index=-1)
)
"""The authors' script of today as they run it on models that think first: the last letter."""


def answer_form(question: Question) -> AnswerForm | None:
    """Form of the answer: a letter, letters, or an entry per blank; None for open answers."""
    if question.category == "FB":
        return AnswerForm("blanks", tuple("" for line in question.answer if line.strip()))
    if question.category not in ("SA", "MA"):
        return None
    _, listed_options = split_options(question.text)
    # The question has more options than its text if a right letter is not listed.
    options = max(listed_options, question.options, key=len) or ("",) * _MAX_LETTERS
    return AnswerForm("choice" if question.category == "SA" else "choices", options)


def careful_reader(question: Question) -> Reader:
    """Make our reader: the answer that a response states, or the one option that it names."""
    form = answer_form(question)

    def letters(response: str) -> str:
        reading = form.read(response) if form else None
        return reading.value.replace(" ", "") if reading else ""

    def blanks(response: str) -> tuple[str, ...]:
        reading = form.read(response) if form else None
        return _align_lines(reading.value.split("\n"), question.answer) if reading else ()

    return Reader(
        clean=half_width,
        letter=letters,
        letters=letters,
        blanks=blanks,
        matches=matches_gold,
        reference=half_width,
        refuses=says_image_is_missing,
    )


def _align_lines(lines: Sequence[str], golds: Sequence[str]) -> tuple[str, ...]:
    """Align lines with the golds: "" for each empty gold; extra lines follow."""
    remaining = iter(lines)
    aligned = [next(remaining, "") if gold.strip() else "" for gold in golds]
    return (*aligned, *remaining)
