"""Prompts of MULTI: Figure 3, in Chinese (as the paper asks) and in English.

``prompts.json`` has the wording of the authors' prompts.py at the time of the paper, which agrees
with the figure where that is legible, and the texts that their present repository words differently
("zh_today"). The line for questions of type Other is ours.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bench_assets.core.schema.chat import Image, Prompt, Turn
from bench_assets.core.schema.rows import Question

IMAGE_TOKEN = re.compile(r"\[IMAGE_(\d+)\]")
"""Place of an image in a text, with its number."""

_TEXTS: MappingProxyType[str, dict[str, Any]] = MappingProxyType(
    json.loads(Path(__file__).with_name("prompts.json").read_text("utf-8"))
)


def main(question: Question) -> Prompt:
    """Ask in Chinese for a direct answer, all images in one turn, each after its token."""
    return Prompt.of(*_with_images(_text(question, "zh", _situation(question)), question.images))


def english(question: Question) -> Prompt:
    """``main`` in English; the question stays Chinese."""
    return Prompt.of(*_with_images(_text(question, "en", _situation(question)), question.images))


def turn_by_turn(question: Question) -> Prompt:
    """Send several images, one per turn, then the rest of the text, whose answer counts (4.2)."""
    if len(question.images) < 2:
        return main(question)
    *texts, ending = _split_at_images(_text(question, "zh", "in_turn"), len(question.images))
    image_turns = [
        Turn("user", (text, Image(image)))
        for text, image in zip(texts, question.images, strict=True)
    ]
    return Prompt((*image_turns, Turn("user", (ending.lstrip("\n"),))))


def chain_of_thought(question: Question) -> Prompt:
    """Ask for the reasoning and, in a second turn, for the answer; OP directly."""
    if question.category == "OP":
        return main(question)
    text = _text(question, "zh", _situation(question), reasoning=True)
    reasoning = Turn("user", _with_images(text, question.images))
    return Prompt((reasoning, Turn("user", (_TEXTS["zh"]["conclusion"],))))


def today(question: Question) -> Prompt:
    """Ask with the prompt of the authors' present repository; type Other as OP."""
    if question.category == "Other":
        question = replace(question, category="OP")
    text = _text(question, "zh_today", _situation(question))
    return Prompt.of(*_with_images(text, question.images))


def no_image(question: Question) -> Prompt:
    """Ask without the images; a model may respond that they are missing (section 4.5)."""
    situation = "missing" if question.images else "none"
    return Prompt.of(_text(question, "zh", situation))


def texts_for_images(question: Question) -> Prompt:
    """Ask with captions or OCR texts in place of the images (section 4.5)."""
    return Prompt.of(_text(question, "zh", "described" if question.image_texts else "none"))


def caption(image: str) -> Prompt:
    """Ask for the caption that replaces an image (section 4.5); the wording is ours."""
    return Prompt.of(Image(image), "请用一句话描述这张图片。")


def _situation(question: Question) -> str:
    """Key of the sentence about images: "blank" if no text refers to the images."""
    if not question.images:
        return "none"
    has_tokens = IMAGE_TOKEN.search(question.text + question.context)
    return "shown" if has_tokens else "blank"


def _text(question: Question, language: str, situation: str, *, reasoning: bool = False) -> str:
    """Write the whole text of a prompt, with the tokens of its images."""
    texts = _texts(language)
    role = texts["role"].format(
        knowledge=question.labels.get("knowledge", ""), type=texts["types"][question.category]
    )
    style = texts["thinking" if reasoning else "direct"]
    lines = [
        role,
        texts["instructions"][question.category],
        texts["images"][situation].format(how=style),
        question.text,
        *(f"[IMAGE_{n}]: {text}" for n, text in enumerate(question.image_texts, 1)),
        *([texts["material"], question.context] if question.context else []),
        texts["reasoning" if reasoning else "ending"],
    ]
    return "\n".join(lines)


def _texts(language: str) -> dict[str, Any]:
    """Return the texts of a language; "zh_today" overrides the paper's Chinese texts."""
    if language != "zh_today":
        return _TEXTS[language]
    texts = dict(_TEXTS["zh"])
    texts["instructions"] = {**texts["instructions"], **_TEXTS["zh_today"]["instructions"]}
    return texts


def _with_images(text: str, images: Sequence[str]) -> tuple[str | Image, ...]:
    """Insert each image where it belongs, see ``_split_at_images``."""
    *texts, ending = _split_at_images(text, len(images))
    parts: list[str | Image] = []
    for preceding_text, image in zip(texts, images, strict=True):
        parts += [preceding_text, Image(image)]
    return (*parts, ending)


def _split_at_images(text: str, n_images: int) -> list[str]:
    """Split a text where its images belong: the texts before each image, and the ending.

    An image belongs after its token. Images without one (a blank one, some of a knowledge piece)
    precede the last line.
    """
    ends = [match.end() for match in IMAGE_TOKEN.finditer(text)][:n_images]
    last_line = text.rindex("\n") + 1
    ends += [last_line] * (n_images - len(ends))
    starts = [0, *ends]
    return [text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True)]
