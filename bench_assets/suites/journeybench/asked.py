"""What becomes of a task's entries: questions, or rejections with their reasons."""

from typing import NamedTuple

from bench_assets.core.rows import Question, Rejection


class Asked(NamedTuple):
    """The entries that became questions, not yet of a named edition, and why others did not."""

    questions: list[Question]
    rejections: list[Rejection]
