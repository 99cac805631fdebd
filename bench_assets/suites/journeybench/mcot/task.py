"""MCOT as a task."""

from bench_assets.suites.journeybench import verification
from bench_assets.suites.journeybench.mcot import prompts, scoring
from bench_assets.task import RULES, ByModel, ByRules, Condition, Task

TASK = Task(
    name="journeybench/mcot",
    title="JourneyBench MCOT",
    version=5,
    conditions={
        "main": Condition(
            prompt=prompts.main,
            about="Picture and question, chain of thought (section 3.4, Figure 5).",
        ),
        "language_only": Condition(
            prompt=prompts.language_only,
            about="The picture is taken away (section 4.3).",
        ),
    },
    readings={
        "strict": verification.score_strictly,
        "official": verification.score_officially,
    },
    measures={
        "accuracy": verification.accuracy,
        "consistency": scoring.consistency,
        "hallucination_rate": scoring.hallucination_rate,
    },
    judges={RULES: ByRules(verification.judge_by_rules), "paper": ByModel(verification.judge)},
    slices=scoring.by_label,
    counts={"all": 2599},
)
