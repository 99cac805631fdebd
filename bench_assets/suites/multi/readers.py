"""Readers of responses: the authors' script of the paper, their script of today, and ours.

``tests/suites/multi/test_readers.py`` has what each reads, response by response.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal
from unicodedata import normalize

from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.schema.rows import Question
from bench_assets.suites.multi.dataset.questions import split_options
from bench_assets.suites.multi.notation import matches_gold

Position = Literal["start", "end"]

_MAX_LETTERS = 13  # A to M, of a question whose options are not known
_THOUGHT = re.compile(r"Thought，持续 [0-9]+ 秒")
_BOX_OPENS = re.compile(r"\\boxed\\?\{\\text\\?\{")
_BOX_CLOSES = re.compile(r"\\?\}\\?\}")
_REFUSAL = re.compile(r"缺少图片信息|lack of image information", re.IGNORECASE)
# Full-width letters, digits and punctuation, and the ideographic blank.
_WIDE = re.compile("[！-～\u3000]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A parser of responses."""

    clean: Callable[[str], str]  # applied first, for every type of question
    letter: Callable[[str], str]  # "" if the response gives none
    letters: Callable[[str], str]  # in the order named, each once
    blanks: Callable[[str, int], tuple[str, ...]]  # one line per blank, or more
    fits: Callable[[str, str], bool]  # whether a line matches the gold line
    reference: Callable[[str], str]  # cleans the reference of an open question
    refuses: Callable[[str], bool]  # whether the response scores 0, whatever else it says


def says_image_is_missing(response: str) -> bool:
    """Whether a response uses the prompt's words for a missing image."""
    return _REFUSAL.search(response) is not None


def half_width(text: str) -> str:
    """Convert full-width letters, digits and punctuation to half width.

    >>> half_width("Ａ，Ｂ；０．５")
    'A,B;0.5'
    """
    return _WIDE.sub(
        lambda found: normalize("NFKC", found[0]) if found[0] != "\u3000" else "  ", text
    )


def _first_letter(response: str) -> str:
    match = re.search(r"[a-zA-Z]", response)
    return match[0] if match else ""


def _outer_letter(response: str, position: Position) -> str:
    letters = re.findall(r"[a-zA-Z]", response)
    return str(letters[0 if position == "start" else -1]).upper() if letters else ""


def _first_run(response: str) -> str:
    match = re.search(r"[a-zA-Z ,]+", response)
    return _unique_letters(match[0]) if match else ""


def _outer_run(response: str, position: Position) -> str:
    runs = [run for run in re.findall(r"[a-zA-Z ,]+", response) if run.strip(" ,")]
    return _unique_letters(runs[0 if position == "start" else -1].upper()) if runs else ""


def _unique_letters(run: str) -> str:
    return "".join(dict.fromkeys(re.sub(r"[\s,、;和与及]", "", run)))


def _clean_current(response: str) -> str:
    response = response.strip().split("\n\n")[-1]
    response = _THOUGHT.split(response)[-1].strip()
    response = response.split("答案为：")[-1].strip()
    response = response.split("</think>")[-1].strip()
    for word in ("Assistant:", "assistant:", "answer:", "答案：", "user\n", "我的分析如下："):
        response = response.replace(word, "")
    # As their r"\\boxed\\?\{\\text\\?\{(.+?)\\?\}\\?\}" finds it, without trying every opening.
    opened = _BOX_OPENS.search(response)
    closed = _BOX_CLOSES.search(response, opened.end() + 1) if opened else None
    boxed = response[opened.end() : closed.start()] if opened and closed else response
    return boxed.strip()


def _paper_lines(response: str, _: int) -> tuple[str, ...]:
    return tuple(response.split("\n"))


def _current_lines(response: str, _: int) -> tuple[str, ...]:
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
    blanks=_paper_lines,
    fits=_matches_paper,
    reference=str,
    refuses=lambda _: False,
)
"""The script that made the paper's tables (eval/metrics.py of 2024-02-06)."""

CURRENT = Reader(
    clean=_clean_current,
    letter=partial(_outer_letter, position="start"),
    letters=partial(_outer_run, position="start"),
    blanks=_current_lines,
    fits=_matches_current,
    reference=str,
    refuses=lambda response: "缺少图片信息" in response,
)
"""The authors' script of today with its default, the first letter."""

CURRENT_END = replace(
    CURRENT,
    letter=partial(_outer_letter, position="end"),
    letters=partial(_outer_run, position="end"),
)
"""The authors' script of today as they run it on models that think first: the last letter."""


def answer_form(question: Question) -> AnswerForm | None:
    """A letter, several letters, or an entry a blank; open answers have no form."""
    if question.category == "FB":
        return AnswerForm("blanks", tuple("" for line in question.answer if line.strip()))
    if question.category not in ("SA", "MA"):
        return None
    _, in_text = split_options(question.text)
    options = in_text or question.options or ("",) * _MAX_LETTERS
    return AnswerForm("choice" if question.category == "SA" else "choices", options)


def careful(question: Question) -> Reader:
    """Make our reader: the answer that a response states, or the one option that it names."""
    form = answer_form(question)

    def letters(response: str) -> str:
        reading = form.read(response) if form else None
        return reading.value.replace(" ", "") if reading else ""

    def blanks(response: str, _: int) -> tuple[str, ...]:
        entries = form.read(response) if form else None
        return _align_lines(entries.value.split("\n"), question.answer) if entries else ()

    return Reader(
        clean=half_width,
        letter=letters,
        letters=letters,
        blanks=blanks,
        fits=matches_gold,
        reference=half_width,
        refuses=says_image_is_missing,
    )


def _align_lines(lines: Sequence[str], golds: Sequence[str]) -> tuple[str, ...]:
    """Align lines with the gold, with "" for its empty lines; extra lines follow."""
    left = iter(lines)
    aligned = tuple(next(left, "") if gold.strip() else "" for gold in golds)
    return (*aligned, *left)
