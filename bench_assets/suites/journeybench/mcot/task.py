"""MCOT as a task; the paper's prompts, in an appendix, were not available: the wording is ours."""

from bench_assets.core.metrics.aggregates import accuracy
from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.task import Condition, Task
from bench_assets.suites.journeybench import solution_verification
from bench_assets.suites.journeybench.answer_agreement import answer_form, prompt_text
from bench_assets.suites.journeybench.mcot import scoring


def main(question: Question) -> Prompt:
    """Ask with the image."""
    text = prompt_text(question, "Answer the question about the picture.")
    return Prompt.of(*map(Image, question.images), text)


def language_only(question: Question) -> Prompt:
    """Ask without the image (section 4.3: GPT-4o falls to 16.64 %)."""
    return Prompt.of(prompt_text(question, "Answer the question."))


TASK = Task(
    name="journeybench/mcot",
    rejections="journeybench/mcot/rejections",
    title="JourneyBench MCOT",
    purpose=(
        "Arithmetic over several steps, in which the image supplies numbers that "
        "the text leaves out."
    ),
    version=11,
    conditions={
        "main": Condition(
            prompt=main, about="Image and question, chain of thought (section 3.4, Figure 5)."
        ),
        "language_only": Condition(prompt=language_only, about="No image (section 4.3)."),
    },
    scorers=solution_verification.SCORERS,
    measures={
        "accuracy": accuracy,
        "consistency": scoring.consistency,
        "hallucination_rate": scoring.hallucination_rate,
    },
    lower_is_better=frozenset(["hallucination_rate"]),
    answer_form=answer_form,
    judges=solution_verification.JUDGES,
    slices=scoring.by_label,
    counts={"all": 2599},
)
