"""What a query shows: the encoders that answer it embed either its picture or its text."""

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Question


def query(question: Question) -> Prompt:
    """Show the picture that texts are looked for, or else the text that a picture is looked for."""
    return Prompt.of(*map(Image, question.images)) if question.images else Prompt.of(question.text)
