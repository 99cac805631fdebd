"""Splits a response into reasoning and answer.

Reasoning is recognised only at the beginning of a response. ``reasoning.toml`` lists the tags of
model families, from their chat templates and the parsers of vLLM and SGLang.

Some chat templates open the reasoning themselves, so that a response begins inside it. Local
engines restore the opening tag. For other responses, the first closing tag ends the reasoning,
unless an opening tag of its form precedes it or it is quoted.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class ReasoningFormat:
    """Tags around a thought or an answer, and the model families that use them.

    ``opened_by`` says who writes the opening tag: ``template``, the chat template may; ``model``,
    the model always does; ``words``, it is plain words of ordinary text too, so that it counts only
    if it is closed, and never nests.
    """

    opening: str
    closing: str
    families: str
    opened_by: Literal["template", "model", "words"] = "template"


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
THOUGHTS = tuple(ReasoningFormat(**row) for row in _TABLES["thoughts"])
"""Tags of thoughts; those of other models are set by ``thinking_tags``."""
ANSWERS = tuple(ReasoningFormat(**row) for row in _TABLES["answers"])
"""Tags around the final answer; each pair is removed at most once."""

Tags: TypeAlias = tuple[str, str]  # opening and closing tag of a thought
Span: TypeAlias = tuple[int, int]  # start and end (exclusive) of a tag


@dataclass(frozen=True, slots=True)
class ReasoningSplit:
    """A response split into thought and answer.

    An answer without a thought or a tag before it is kept verbatim. ``finished`` is False if the
    thought never ends; then ``answer`` is empty.
    """

    thought: str
    answer: str
    finished: bool = True


_BOX = re.compile(r"<\|(?:begin|end)_of_box\|>")  # GLM writes them around single words, too
_LAST_BOX = re.compile(r"(?<=\n)<\|begin_of_box\|>([^\n{}]{1,200})<\|end_of_box\|>\s*\Z")
_TAG_SEPARATOR = re.compile(r"(?:\s|<\|start\|>assistant)*+")  # what may precede an opening tag
_QUOTES = frozenset(['""', "''", "``", "“”", "‘’", "«»", "()", "[]"])


@lru_cache(256)  # each response is split several times: when received, stored and scored
def split_reasoning(text: str, tags: Tags | None = None) -> ReasoningSplit:
    """Split a response into thought and answer, in linear time.

    Consecutive thoughts are joined. A thought may contain others of its format; if their tags do
    not match, the last closing tag ends it. A thought that is never closed counts as finished if a
    tagged answer ends the response.

    If the rest begins with a tagged answer, its tags and the text after it are removed, unless the
    same tags open a second answer. A truncated answer is kept. After a thought, GLM's box tags are
    removed everywhere; a box that is the last line becomes a LaTeX box.

    Args:
        text: The response as received.
        tags: Opening and closing tag of this model's thoughts, instead of the known formats.

    >>> split_reasoning("<think>A or B?</think> <answer>B</answer>")
    ReasoningSplit(thought='A or B?', answer='B', finished=True)
    >>> split_reasoning("[THINK]A or")
    ReasoningSplit(thought='A or', answer='', finished=False)
    """
    forms = THOUGHTS if tags is None else (ReasoningFormat(*tags, families="this model"),)
    thoughts, start = _thoughts(text, forms)
    thought = "\n\n".join(filter(None, thoughts))
    if start is None:
        return ReasoningSplit(thought, "", finished=False)
    answer = _tagged_answer(text, start)
    if not start:
        return ReasoningSplit("", text if answer is None else answer.strip())
    answer = text[start:] if answer is None else answer
    answer = _BOX.sub("", _LAST_BOX.sub(r"\\boxed{\1}", answer))
    return ReasoningSplit(thought, answer.strip())


def strip_reasoning(text: str, tags: Tags | None = None) -> str:
    """Remove a reasoning model's thought from its response; see ``split_reasoning``.

    >>> strip_reasoning("<think>A or B?</think> B"), strip_reasoning("hm</think>B")
    ('B', 'B')
    >>> strip_reasoning("<think>A or")
    ''
    """
    return split_reasoning(text, tags).answer


def find_opening_tag(prompt: str, tags: Tags | None = None) -> str:
    r"""Find the opening tag that a prompt ends with: the chat template began the thought.

    >>> find_opening_tag("<|im_start|>assistant\n<think>\n"), find_opening_tag("ASSISTANT:")
    ('<think>', '')
    """
    openings = [tags[0]] if tags else [form.opening for form in THOUGHTS]
    return next((tag for tag in openings if tag and prompt.rstrip().endswith(tag)), "")


def _thoughts(text: str, forms: Sequence[ReasoningFormat]) -> tuple[list[str], int | None]:
    """Find the thoughts that open a text, and where the rest starts; None if the last is open."""
    thoughts: list[str] = []
    start = 0
    span = None if _match_opening(text, 0, forms) else _find_unopened_closing(text, forms)
    if span:
        content_end, start = span
        thoughts.append(text[:content_end].strip())
    while opening := _match_opening(text, start, forms):
        form, content_start = opening
        span = _find_closing(text, content_start, form)
        if span is None:
            return [*thoughts, text[content_start:].strip()], None
        content_end, start = span
        thoughts.append(text[content_start:content_end].strip())
    return thoughts, start


def _match_opening(
    text: str, start: int, forms: Sequence[ReasoningFormat]
) -> tuple[ReasoningFormat, int] | None:
    """Format that opens a text at a position, and the start of its content."""
    start = next(_TAG_SEPARATOR.finditer(text, start)).end()
    for form in forms:
        content_start = start + len(form.opening)
        if form.opening and form.closing and text.startswith(form.opening, start):
            opens = form.opened_by != "words" or text.find(form.closing, content_start) != -1
            return (form, content_start) if opens else None
    return None


def _find_closing(text: str, start: int, form: ReasoningFormat) -> Span | None:
    """Find the tag that closes a thought; None if it never ends."""
    if form.opened_by == "words":
        end = text.index(form.closing, start)  # it does not open where it never closes
        return end, end + len(form.closing)
    depth, last = 1, None
    for tag in _any_of(form.closing, form.opening).finditer(text, start):
        is_closing = tag[0] == form.closing
        depth += -1 if is_closing else 1
        last = tag.span() if is_closing else last
        if not depth:
            break
    return last or _find_final_answer(text, start)


def _find_final_answer(text: str, start: int) -> Span | None:
    """Find the place of a tagged answer that ends the text, where an unclosed thought ends."""
    end = len(text.rstrip())
    for form in ANSWERS:
        if text.endswith(form.closing, start, end):
            position = text.rfind(form.opening, start, end)
            return (position, position) if position >= start else None
    return None


def _find_unopened_closing(text: str, forms: Sequence[ReasoningFormat]) -> Span | None:
    """Find the closing tag of a thought that the chat template opened; see the module."""
    first_openings = {
        form.closing: text.find(form.opening) if form.opening else -1
        for form in forms
        if form.opened_by == "template" and form.closing
    }
    if not any(closing in text for closing in first_openings):
        return None
    for tag in _any_of(*first_openings).finditer(text):
        start, end = tag.span()
        if not (_is_quoted(text, start, end) or 0 <= first_openings[tag[0]] < start):
            return start, end
    return None


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether a tag is in quotation marks, and not between two quotations."""
    left, right = text[start - 1 : start], text[end : end + 1]
    is_opening = left != right or not text[max(0, start - 2) : start - 1].strip("([ \t\n")
    return left + right in _QUOTES and is_opening


def _tagged_answer(text: str, start: int) -> str | None:
    """Content of a tagged answer at a position; None without tags."""
    end, unused = len(text), ANSWERS
    while opening := _match_opening(text, start, unused):
        form, content_start = opening
        closings = [other.closing for other in unused if other.opening == form.opening]
        closing = _any_of(*closings).search(text, content_start, end)
        content_end, after = closing.span() if closing else (end, end)
        if text.find(form.opening, after, end) != -1:
            break
        unused = tuple(other for other in unused if other.opening != form.opening)
        has_content = bool(text[content_start:content_end].strip())
        start, end = (content_start, content_end) if has_content else (after, end)
    return None if len(unused) == len(ANSWERS) else text[start:end]


@lru_cache(maxsize=64)
def _any_of(*tags: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, tags)))
