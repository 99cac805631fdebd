"""The description task of CogBench."""

from bench_assets.evaluation.task import RULES, ByModel, ByRules, Condition, Task
from bench_assets.suites.cogbench.description import prompts, scoring

TASK = Task(
    name="cogbench/description",
    rejections="cogbench/rejections",
    title="CogBench description",
    purpose="Descriptions of one image that tells a story: does the model notice what it implies?",
    version=8,
    conditions={
        "main": Condition(
            prompt=prompts.main,
            about="The paper's one instruction (section 3.3), as in Tables 2 and 3.",
        )
    },
    scorers={"careful": scoring.score_by_number, "official": scoring.score_officially},
    measures={"cognition": scoring.cognition, **scoring.cognition_by_kind()},
    one_verdict=False,
    judges={RULES: ByRules(scoring.judge_by_rules), "paper": ByModel(scoring.judge)},
    counts={"all": 251},
)
