"""MCOT as a task."""

from bench_assets.evaluation.task import RULES, ByModel, ByRules, Condition, Task
from bench_assets.suites.journeybench import solution_verification
from bench_assets.suites.journeybench.mcot import prompts, scoring

TASK = Task(
    name="journeybench/mcot",
    title="JourneyBench MCOT",
    version=6,
    conditions={
        "main": Condition(
            prompt=prompts.main,
            about="Image and question, chain of thought (section 3.4, Figure 5).",
        ),
        "language_only": Condition(
            prompt=prompts.language_only,
            about="The image is taken away (section 4.3).",
        ),
    },
    readings={
        "strict": solution_verification.score_strictly,
        "official": solution_verification.score_officially,
    },
    measures={
        "accuracy": solution_verification.accuracy,
        "consistency": scoring.consistency,
        "hallucination_rate": scoring.hallucination_rate,
    },
    judges={
        RULES: ByRules(solution_verification.judge_by_rules),
        "paper": ByModel(solution_verification.judge),
    },
    slices=scoring.by_label,
    counts={"all": 2599},
)
