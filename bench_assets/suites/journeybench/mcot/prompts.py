"""Every text a model reads in MCOT; the paper's own prompts are in an appendix not at hand."""

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Question

_STEPS = (
    'Think step by step, and end with a line "Answer: " followed by the answer, as a number where '
    "it is one."
)


def main(question: Question) -> Prompt:
    """Ask with the image."""
    text = f"Answer the question about the picture.\nQuestion: {question.text}\n{_STEPS}"
    return Prompt.of(*map(Image, question.images), text)


def language_only(question: Question) -> Prompt:
    """Ask without the image (section 4.3: GPT-4o falls to 16.64 %)."""
    return Prompt.of(f"Answer the question.\nQuestion: {question.text}\n{_STEPS}")
