"""Prompts of the question task.

The paper does not print the prompt of evaluated models: that text is ours. It requests the
letter alone, because the authors read only a response's first character. Question writing is
Figure 7 (``figure_7.txt``), printed for events; other kinds replace only the name of the reasoning
("similar to this one", appendix B).
"""

from collections.abc import Sequence
from pathlib import Path

from bench_assets.annotation.answers.values import lettered_choices
from bench_assets.core.schema.chat import Image, Prompt, Turn
from bench_assets.core.schema.rows import Question
from bench_assets.suites.cogbench.dataset.reasoning import Kind
from bench_assets.suites.cogbench.dataset.source import Story

_FIGURE_7 = Path(__file__).with_name("figure_7.txt").read_text(encoding="utf-8")
_LETTER_ONLY = "Answer with the option's letter from the given choices directly."


def main(question: Question) -> Prompt:
    """Ask about the image."""
    return Prompt.of(*map(Image, question.images), _text(question))


def blind(question: Question) -> Prompt:
    """Ask without the image."""
    return Prompt.of(_text(question))


def writer_prompt(story: Story, kind: Kind, chains: Sequence[str]) -> Prompt:
    """Ask for multiple-choice questions about chains of one kind (Figure 7)."""
    text = _FIGURE_7.format(
        about=kind.field.removesuffix(" Reasoning").lower(),
        field=kind.field,
        description=story.description,
        chains="\n".join(chains),
    )
    return Prompt.of(text)


def retry_prompt(prompt: Prompt, response: str, complaint: str) -> Prompt:
    """Request a response again, with the complaint; the wording is ours."""
    message = f"This cannot be read: {complaint}. Please write all questions again in the format."
    return Prompt((*prompt.turns, Turn("assistant", (response,)), Turn("user", (message,))))


def _text(question: Question) -> str:
    return "\n".join([question.text, *lettered_choices(question.options), _LETTER_ONLY])
