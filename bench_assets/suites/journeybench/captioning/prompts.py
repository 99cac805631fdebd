"""Every text a model reads in captioning; the authors' wording is not published."""

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Question


def main(question: Question) -> Prompt:
    """Ask for one sentence on what makes the image imaginary (section 3.2)."""
    text = f"{question.text} Reply with the sentence and nothing else."
    return Prompt.of(*map(Image, question.images), text)
