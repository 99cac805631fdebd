"""Reads answers out of replies: as the authors' script did and does, and as a careful person would.

What a reader makes of a reply is tested row by row in ``tests/multi/test_replies.py``.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

Position = Literal["start", "end"]

_THOUGHT = re.compile(r"Thought，持续 [0-9]+ 秒")
_BOXED = re.compile(r"\\boxed\{(?:\\text\{([^{}]*)\}|([^{}]*))\}")
_REFUSAL = re.compile(r"缺少图片信息|lack of image information", re.IGNORECASE)
_RUN = r"[A-Z](?:[\s,、和与及或]*[A-Z])*(?![A-Za-z])"
_STATED = re.compile(
    r"(?:答案|正确的?选项|正确的|选择?|[Aa]nswer(?:\s+is)?)(?:应该|应)?[是为有]?(?:选项?)?"
    rf"[:\s*(\[\"“'$]*({_RUN})"
)
_BARE = re.compile(r"[\s*(\[\"“'$]*([A-Za-z](?:[\s,、和与及;]*[A-Za-z])*)[\s*)\]\"”'$.。!]*")
_LISTED = re.compile(r"^[\s*(]*([A-Z])[*)]*[.、:)]", re.MULTILINE)
_ALONE = re.compile(rf"(?<![A-Za-z\\]){_RUN}")
_PRONOUN = re.compile(r"\bI(?=[ '][a-z])")
_DENIED = re.compile(r"错误|不正确|不对|不是|不选|不符|排除|除了|\bnot\b|n't")
_ANNOUNCED = re.compile(r"\A.*答案(?:[是为]\s*:?|\s*:)", re.DOTALL)
_NUMBERED = re.compile(r"\(?([0-9]{1,2})(?:\)|[.、:](?![0-9]))(.*)")

# Full-width letters, digits and punctuation, and the ideographic blank.
_HALF_WIDTH = {n + 0xFEE0: n for n in range(0x21, 0x7F)} | {0x3000: 0x20}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One way of reading answers out of replies."""

    clean: Callable[[str], str]  # first of all, for every type of question
    letter: Callable[[str], str]  # "" if the reply commits to none
    letters: Callable[[str], str]  # in the order named, each once
    blanks: Callable[[str, int], tuple[str, ...]]  # one line a blank, and perhaps more
    fits: Callable[[str, str], bool]  # whether a line says what the gold line wants
    refuses: Callable[[str], bool]  # whether the reply is worth nothing, whatever else it says


def says_image_is_missing(reply: str) -> bool:
    """Whether a reply says the words it was offered for the case that pictures are missing."""
    return _REFUSAL.search(reply) is not None


def half_width(text: str) -> str:
    """Write full-width letters, digits and punctuation in their common form.

    >>> half_width("Ａ，Ｂ；０．５")
    'A,B;0.5'
    """
    return text.translate(_HALF_WIDTH)


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
    found = re.findall(r"[a-zA-Z ,]*[a-zA-Z]+[a-zA-Z ,]*", reply)
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
    boxed = re.search(r"\\boxed\\?\{\\text\\?\{(.+?)\\?\}\\?\}", reply, flags=re.DOTALL)
    return boxed[1].strip() if boxed else reply.strip()


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
    reply = half_width(_THOUGHT.split(reply)[-1]).strip()
    reply = re.sub(r"\A(?:assistant|answer):", "", reply, flags=re.IGNORECASE)
    return reply.replace("我的分析如下:", "").strip()


def _committed(reply: str) -> str:
    """The letters a reply commits to, in order; "" if it leaves that open."""
    if boxed := _BOXED.findall(reply):
        return _bare("".join(boxed[-1]))
    if bare := _bare(reply):
        return bare
    if stated := _STATED.findall(reply):
        return "" if "或" in stated[-1] else _distinct(stated[-1])
    if listed := _LISTED.findall(reply):
        return "".join(dict.fromkeys(listed))
    lines = reply.split("\n")
    if outer := _bare(lines[-1]) or _bare(lines[0]):
        return outer
    alone = _ALONE.findall(_PRONOUN.sub("", reply))
    return "" if _DENIED.search(reply) else _distinct("".join(alone))


def _bare(reply: str) -> str:
    found = _BARE.fullmatch(reply)
    words = found is None or re.search(r"[a-z]{2}", found[1])
    return "" if found is None or words else _distinct(found[1].upper())


def _only_letter(reply: str) -> str:
    found = _committed(reply)
    return found if len(found) == 1 else ""


def _lines_carefully(reply: str, n: int) -> tuple[str, ...]:
    boxed = ["".join(one) for one in _BOXED.findall(reply)]
    if len(boxed) == n:
        return tuple(boxed)
    reply = _ANNOUNCED.sub("", reply).replace("$", "")
    lines = [line.strip() for line in reply.split("\n") if line.strip()]
    for mark in (";", "、", ","):
        if len(lines) == 1 < n and len(parts := lines[0].split(mark)) == n:
            lines = [part.strip() for part in parts]
    numbered = [_NUMBERED.fullmatch(line) for line in lines]
    if n > 1 and [found and int(found[1]) for found in numbered] == [*range(1, n + 1)]:
        lines = [found[2].strip() for found in numbered if found]
    return tuple(lines)


def _fits_carefully(line: str, gold: str) -> bool:
    plain = _plain(gold)
    return _plain(line) in (plain, *plain.split("或"))


def _plain(text: str) -> str:
    return re.sub(r"[\s$]", "", half_width(text)).removesuffix("。").removesuffix(".")


PAPER = Reader(
    clean=str,
    letter=_first_letter,
    letters=_first_run,
    blanks=_lines_as_printed,
    fits=_fits_as_printed,
    refuses=lambda _: False,
)
"""The script that made the paper's tables (eval/metrics.py of 2024-02-06)."""

CURRENT = Reader(
    clean=_cut_as_today,
    letter=partial(_outer_letter, position="start"),
    letters=partial(_outer_run, position="start"),
    blanks=_lines_as_today,
    fits=_fits_as_today,
    refuses=lambda reply: "缺少图片信息" in reply,
)
"""The authors' script of today with its default, the first letter."""

CURRENT_END = Reader(
    clean=_cut_as_today,
    letter=partial(_outer_letter, position="end"),
    letters=partial(_outer_run, position="end"),
    blanks=_lines_as_today,
    fits=_fits_as_today,
    refuses=CURRENT.refuses,
)
"""The authors' script of today as they run it on models that think first: the last letter."""

CAREFUL = Reader(
    clean=_cut_carefully,
    letter=_only_letter,
    letters=_committed,
    blanks=_lines_carefully,
    fits=_fits_carefully,
    refuses=says_image_is_missing,
)
"""Ours: what a reply commits to, however it is wrapped; nothing where it leaves that open."""
