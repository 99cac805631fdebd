"""What a query shows: the encoders that answer it embed either its image or its text."""

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Question


def query(question: Question) -> Prompt:
    """Show the image that texts are looked for, or else the text that an image is looked for."""
    return Prompt.of(*map(Image, question.images)) if question.images else Prompt.of(question.text)
