"""Reads answers out of replies: as the authors' script did and does, and as a careful person would.

What a reader makes of a reply is tested row by row in ``tests/suites/multi/test_replies.py``.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from string import ascii_uppercase
from typing import Literal
from unicodedata import normalize

from bench_assets.core.schema.rows import Question
from bench_assets.suites.multi.construction.defects import MASK, MOST_OPTIONS
from bench_assets.suites.multi.dataset.questions import split_options
from bench_assets.suites.multi.parsing.blanks import fits, lines_of
from bench_assets.suites.multi.parsing.letters import Wanted, committed

Position = Literal["start", "end"]

_THOUGHT = re.compile(r"Thought，持续 [0-9]+ 秒")
_BOX_OPENS = re.compile(r"\\boxed\\?\{\\text\\?\{")
_BOX_CLOSES = re.compile(r"\\?\}\\?\}")
_ROLE = re.compile(r"\A(?:assistant|answer):", re.IGNORECASE)
_REFUSAL = re.compile(r"缺少图片信息|lack of image information", re.IGNORECASE)
_FOR_WRONG = re.compile(
    r"错误的|不正确|不对的|有误的|不恰当|不合理|不成立"
    r"|\b(?:incorrect|wrong|false|not (?:correct|true))\b"
)
_FOR_ELSE = re.compile(r"不|没|无|非|除|\b(?:not|except)\b", re.IGNORECASE)
# Full-width letters, digits and punctuation, and the ideographic blank.
_WIDE = re.compile("[！-～\u3000]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One way of reading answers out of replies."""

    clean: Callable[[str], str]  # first of all, for every type of question
    letter: Callable[[str], str]  # "" if the reply commits to none
    letters: Callable[[str], str]  # in the order named, each once
    blanks: Callable[[str, int], tuple[str, ...]]  # one line a blank, and perhaps more
    fits: Callable[[str, str], bool]  # whether a line says what the gold line wants
    reference: Callable[[str], str]  # an open question's reference, as a cleaned reply is written
    refuses: Callable[[str], bool]  # whether the reply is worth nothing, whatever else it says


def says_image_is_missing(reply: str) -> bool:
    """Whether a reply says the words it was offered for the case that pictures are missing."""
    return _REFUSAL.search(reply) is not None


def half_width(text: str) -> str:
    """Write full-width letters, digits and punctuation in their common form.

    >>> half_width("Ａ，Ｂ；０．５")
    'A,B;0.5'
    """
    return _WIDE.sub(lambda found: normalize("NFKC", found[0]), text)


def _first_letter(reply: str) -> str:
    found = re.search(r"[a-zA-Z]", reply)
    return found[0] if found else ""


def _outer_letter(reply: str, position: Position) -> str:
    found = re.findall(r"[a-zA-Z]", reply)
    return str(found[0 if position == "start" else -1]).upper() if found else ""


def _first_run(reply: str) -> str:
    found = re.search(r"[a-zA-Z ,]+", reply)
    return _distinct(found[0]) if found else ""


def _outer_run(reply: str, position: Position) -> str:
    found = [run for run in re.findall(r"[a-zA-Z ,]+", reply) if run.strip(" ,")]
    return _distinct(found[0 if position == "start" else -1].upper()) if found else ""


def _distinct(run: str) -> str:
    return "".join(dict.fromkeys(re.sub(r"[\s,、;和与及]", "", run)))


def _cut_as_today(reply: str) -> str:
    reply = reply.strip().split("\n\n")[-1]
    reply = _THOUGHT.split(reply)[-1].strip()
    reply = reply.split("答案为：")[-1].strip()
    reply = reply.split("</think>")[-1].strip()
    for word in ("Assistant:", "assistant:", "answer:", "答案：", "user\n", "我的分析如下："):
        reply = reply.replace(word, "")
    # As their r"\\boxed\\?\{\\text\\?\{(.+?)\\?\}\\?\}" finds it, without trying every opening.
    opened = _BOX_OPENS.search(reply)
    closed = _BOX_CLOSES.search(reply, opened.end() + 1) if opened else None
    boxed = reply[opened.end() : closed.start()] if opened and closed else reply
    return boxed.strip()


def _lines_as_printed(reply: str, _: int) -> tuple[str, ...]:
    return tuple(reply.split("\n"))


def _lines_as_today(reply: str, _: int) -> tuple[str, ...]:
    reply = re.sub(r"\n\n+", "\n", reply).replace("$", "").replace(" ", "")
    return tuple(line.strip() for line in re.split(r"[\n;；]", reply))


def _fits_as_printed(line: str, gold: str) -> bool:
    return line == gold or line in gold.split("或")


def _fits_as_today(line: str, gold: str) -> bool:
    gold = gold.replace("$", "").replace(" ", "").strip()
    return line == gold or line in [one.strip() for one in gold.split("或")]


def _cut_carefully(reply: str) -> str:
    reply = _THOUGHT.split(reply.rpartition("</think>")[2])[-1]
    if "<think>" in reply:
        return ""  # cut off before the reply began
    reply = half_width(reply).strip()
    return _ROLE.sub("", reply).replace("我的分析如下:", "").strip()


PAPER = Reader(
    clean=str,
    letter=_first_letter,
    letters=_first_run,
    blanks=_lines_as_printed,
    fits=_fits_as_printed,
    reference=str,
    refuses=lambda _: False,
)
"""The script that made the paper's tables (eval/metrics.py of 2024-02-06)."""

CURRENT = Reader(
    clean=_cut_as_today,
    letter=partial(_outer_letter, position="start"),
    letters=partial(_outer_run, position="start"),
    blanks=_lines_as_today,
    fits=_fits_as_today,
    reference=str,
    refuses=lambda reply: "缺少图片信息" in reply,
)
"""The authors' script of today with its default, the first letter."""

CURRENT_END = replace(
    CURRENT,
    letter=partial(_outer_letter, position="end"),
    letters=partial(_outer_run, position="end"),
)
"""The authors' script of today as they run it on models that think first: the last letter."""


def careful(question: Question) -> Reader:
    """Ours: what a reply commits to, however it is wrapped; nothing where it leaves that open."""
    stem, options = split_options(question.text)
    n_offered = max(len(options), len(question.options)) or MOST_OPTIONS
    wanted = [line for line in question.answer if line.strip()]
    read = partial(committed, offered=ascii_uppercase[:n_offered], wanted=wanted_of(stem))
    return Reader(
        clean=_cut_carefully,
        letter=lambda reply: letter if len(letter := read(reply)) == 1 else "",
        letters=read,
        blanks=lambda reply, _: _aligned(lines_of(reply, len(wanted)), question.answer),
        fits=fits,
        reference=half_width,
        refuses=says_image_is_missing,
    )


def _aligned(lines: Sequence[str], golds: Sequence[str]) -> tuple[str, ...]:
    """Leave out the lines of the gold that are blank: nobody is asked for them."""
    left = iter(lines)
    aligned = tuple(next(left, "") if gold.strip() else "" for gold in golds)
    return (*aligned, *left)


def wanted_of(stem: str) -> Wanted:
    """Tell by its last sentence what a question asks for: "错误的是" and the like.

    >>> wanted_of("下列说法不正确的是[MASK]"), wanted_of("不属于哺乳动物的是[MASK]")
    ('wrong', 'else')
    """
    asked = re.split(r"[。？！?!\n]", stem.replace(MASK, "").strip("\n。？！?! "))[-1]
    if _FOR_WRONG.search(asked):
        return "wrong"
    return "else" if _FOR_ELSE.search(asked) else "right"
