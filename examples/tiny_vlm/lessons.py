"""Questions as the suites ask them, and the responses to learn."""

from dataclasses import dataclass

from PIL import Image

from bench_assets.core.images.decoding import decode
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import Question


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as a model reads it, and the response that is right."""

    prompt: str
    response: str


def plain_question(text: str, *options: str, category: str = "", context: str = "") -> Question:
    """Make a question of which only the texts matter."""
    return Question(
        question_id="lesson",
        task="lesson",
        edition="mini",
        kind="text",
        text=text,
        context=context,
        answer=(),
        options=options,
        category=category,
        images=("lesson",),
    )


def text_of(prompt: Prompt) -> str:
    """Read the text of a prompt, without its images."""
    return "".join(part for part in prompt.turns[-1].parts if isinstance(part, str))


def decoded(data: bytes) -> Image.Image:
    """Open the image in a file."""
    return decode(data).image
