"""Multi-image VQA as a task."""

from bench_assets.evaluation.task import RULES, ByModel, ByRules, Condition, Task
from bench_assets.suites.journeybench import solution_verification
from bench_assets.suites.journeybench.multi_image_vqa import prompts, scoring

TASK = Task(
    name="journeybench/multi_image_vqa",
    title="JourneyBench Multi-image VQA",
    version=6,
    conditions={
        "main": Condition(
            prompt=prompts.main,
            about="Two images and a question, chain of thought (section 3.5, Table 3).",
        ),
        "language_only": Condition(
            prompt=prompts.language_only,
            about="The images are taken away, as section 4.3 does it for MCOT.",
        ),
    },
    readings={
        "strict": solution_verification.score_strictly,
        "official": solution_verification.score_officially,
    },
    measures={"accuracy": solution_verification.accuracy},
    judges={
        RULES: ByRules(solution_verification.judge_by_rules),
        "paper": ByModel(solution_verification.judge),
    },
    slices=scoring.by_category,
)
