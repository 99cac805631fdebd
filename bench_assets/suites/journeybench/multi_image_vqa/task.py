"""Multi-image VQA as a task (Table 3); the paper's prompts were not available, these are ours."""

from collections.abc import Sequence

from bench_assets.core.metrics.aggregates import accuracy
from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.task import Condition, Task
from bench_assets.suites.journeybench import solution_verification
from bench_assets.suites.journeybench.answer_agreement import answer_form, prompt_text
from bench_assets.suites.journeybench.multi_image_vqa.dataset import CAUSE


def main(question: Question) -> Prompt:
    """Ask with both images, each after its number."""
    parts = [
        part
        for number, image in enumerate(question.images, 1)
        for part in (f"Image {number}:", Image(image))
    ]
    return Prompt.of(*parts, prompt_text(question, "Answer the question about the two pictures."))


def language_only(question: Question) -> Prompt:
    """Ask without the images."""
    return Prompt.of(prompt_text(question, "Answer the question."))


MMCOT = "MMCOT"  # arithmetic and external knowledge together: the second "All" of Table 3


def by_category(question: Question) -> Sequence[str]:
    """Slice by category; all but cause and effect are also in ``MMCOT``."""
    if not question.category:
        return ()
    if question.category == CAUSE:
        return (CAUSE,)
    return question.category, MMCOT


TASK = Task(
    name="journeybench/multi_image_vqa",
    rejections="journeybench/multi_image_vqa/rejections",
    title="JourneyBench Multi-image VQA",
    purpose=(
        "Questions that only several images together answer, with causes and "
        "arithmetic across them."
    ),
    version=11,
    conditions={
        "main": Condition(
            prompt=main, about="Two images and a question, chain of thought (section 3.5, Table 3)."
        ),
        "language_only": Condition(
            prompt=language_only, about="No images, as in section 4.3 for MCOT."
        ),
    },
    scorers=solution_verification.SCORERS,
    measures={"accuracy": accuracy},
    answer_form=answer_form,
    judges=solution_verification.JUDGES,
    slices=by_category,
)
