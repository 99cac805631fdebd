"""Readers of responses: the authors' script of the paper, their script of today, and ours.

``tests/suites/multi/test_responses.py`` has what each reads, response by response.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal
from unicodedata import normalize

from bench_assets.core.parsing.answer_forms import RequestedKind
from bench_assets.core.parsing.choices import read_choices
from bench_assets.core.parsing.option_names import Options
from bench_assets.core.schema.rows import Question
from bench_assets.suites.multi.construction.item_checks import MASK, MAX_OPTIONS
from bench_assets.suites.multi.dataset.questions import split_options
from bench_assets.suites.multi.parsing.blanks import matches_gold, read_blanks

Position = Literal["start", "end"]

_THOUGHT = re.compile(r"Thought，持续 [0-9]+ 秒")
_BOX_OPENS = re.compile(r"\\boxed\\?\{\\text\\?\{")
_BOX_CLOSES = re.compile(r"\\?\}\\?\}")
_ROLE = re.compile(r"\A(?:assistant|answer):", re.IGNORECASE)
_REFUSAL = re.compile(r"缺少图片信息|lack of image information", re.IGNORECASE)
_ASKS_FOR_WRONG = re.compile(
    r"错误的|不正确|不对的|有误的|不恰当|不合理|不成立"
    r"|\b(?:incorrect|wrong|false|not (?:correct|true))\b"
)
_ASKS_FOR_OTHERS = re.compile(r"不|没|无|非|除|\b(?:not|except)\b", re.IGNORECASE)
_MIN_STEM_LENGTH = 3  # least characters of a question that a response repeats as its subject
# Full-width letters, digits and punctuation, and the ideographic blank.
_WIDE = re.compile("[！-～\u3000]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A parser of responses."""

    clean: Callable[[str], str]  # applied first, for every type of question
    letter: Callable[[str], str]  # "" if the response commits to none
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
    found = re.search(r"[a-zA-Z]", response)
    return found[0] if found else ""


def _outer_letter(response: str, position: Position) -> str:
    found = re.findall(r"[a-zA-Z]", response)
    return str(found[0 if position == "start" else -1]).upper() if found else ""


def _first_run(response: str) -> str:
    found = re.search(r"[a-zA-Z ,]+", response)
    return _unique_letters(found[0]) if found else ""


def _outer_run(response: str, position: Position) -> str:
    found = [run for run in re.findall(r"[a-zA-Z ,]+", response) if run.strip(" ,")]
    return _unique_letters(found[0 if position == "start" else -1].upper()) if found else ""


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
    return line == gold or line in [one.strip() for one in gold.split("或")]


def _clean_careful(response: str) -> str:
    response = _THOUGHT.split(response.rpartition("</think>")[2])[-1]
    if "<think>" in response:
        return ""  # cut off in its reasoning
    response = half_width(response).strip()
    return _ROLE.sub("", response).replace("我的分析如下:", "").strip()


_REST_LEFT_OPEN = re.compile(  # "B is right, I am not sure of the rest"
    r"至少|(?:其余|其他|其它|剩下|剩余|另外|余下|别的)[^,。;]{0,6}"
    r"(?:[拿说]不准|不好说|没有?把握|不[太敢能]?(?:确定|肯定)|待定)"
)

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


def careful(question: Question) -> Reader:
    """Make our reader: the answer that a response commits to, in any wrapping, if it does."""
    stem, options = split_options(question.text)
    n_offered = max(len(options), len(question.options))
    offered = Options(n_offered or MAX_OPTIONS, tuple(options) or question.options, n_offered > 0)
    wanted = [line for line in question.answer if line.strip()]
    wanted_are = requested_kind(stem)

    clause_pattern = re.escape(_last_clause(stem))

    def read(response: str) -> str:
        if len(clause_pattern) >= _MIN_STEM_LENGTH:  # "鲸鱼是属于哺乳动物的。"
            response = re.sub(rf"{clause_pattern} ?:", "正确答案:", response)
            response = re.sub(rf"(?<=[是为]){clause_pattern}(?=\W*$)", "正确答案", response)
        return read_choices(response, offered, wanted_are).letters

    return Reader(
        clean=_clean_careful,
        letter=lambda response: letter if len(letter := read(response)) == 1 else "",
        letters=lambda response: "" if _REST_LEFT_OPEN.search(response) else read(response),
        blanks=lambda response, _: _align_lines(
            read_blanks(response, len(wanted), half_width(stem)), question.answer
        ),
        fits=matches_gold,
        reference=half_width,
        refuses=says_image_is_missing,
    )


def _align_lines(lines: Sequence[str], golds: Sequence[str]) -> tuple[str, ...]:
    """Align lines with the gold, with "" for its empty lines; extra lines follow."""
    left = iter(lines)
    aligned = tuple(next(left, "") if gold.strip() else "" for gold in golds)
    return (*aligned, *left)


def requested_kind(stem: str) -> RequestedKind:
    """Return the kind of options that a question asks for, by its last clause.

    >>> requested_kind("下列说法不正确的是[MASK]"), requested_kind("不属于哺乳动物的是[MASK]")
    ('wrong', 'else')
    """
    last_clause = _last_clause(stem)
    if _ASKS_FOR_WRONG.search(last_clause):
        return "wrong"
    return "else" if _ASKS_FOR_OTHERS.search(last_clause) else "right"


def _last_clause(stem: str) -> str:
    return re.split(r"[。？！?!\n]", stem.replace(MASK, "").strip("\n。？！?! "))[-1]
