"""Every text a model reads in multi-image VQA; the paper's are in an appendix not at hand."""

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Question

_STEPS = 'Think step by step, and end with a line "Answer: " followed by '
_NUMBER = "the answer, as a number where it is one."


def main(question: Question) -> Prompt:
    """Ask with both images, each after its number."""
    shown = [
        part
        for number, image in enumerate(question.images, 1)
        for part in (f"Image {number}:", Image(image))
    ]
    return Prompt.of(*shown, _ask(question, "Answer the question about the two pictures."))


def language_only(question: Question) -> Prompt:
    """Ask without the images."""
    return Prompt.of(_ask(question, "Answer the question."))


def _ask(question: Question, instruction: str) -> str:
    form = f"{' or '.join(question.options)}." if question.options else _NUMBER
    return f"{instruction}\nQuestion: {question.text}\n{_STEPS}{form}"
