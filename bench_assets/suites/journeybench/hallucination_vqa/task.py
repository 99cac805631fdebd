"""HaloQuest as a task."""

from bench_assets.core.metrics.aggregates import accuracy
from bench_assets.evaluation.task import RULES, ByModel, ByRules, Condition, Task
from bench_assets.suites.journeybench.hallucination_vqa import scoring
from bench_assets.suites.journeybench.hallucination_vqa.dataset import TASK_NAME
from bench_assets.suites.journeybench.raw_material import CAPTIONS, IMAGES, TRIGGERS

TASK = Task(
    name=TASK_NAME,
    rejections=f"{TASK_NAME}/rejections",
    title="JourneyBench, VQA with hallucination triggers (HaloQuest)",
    purpose=(
        "Questions with false premises, missing context or challenging details: "
        "does the model make something up?"
    ),
    version=10,
    conditions={
        "main": Condition(prompt=scoring.main, about="The question and its image, nothing else.")
    },
    scorers={"strict": scoring.score, "official": scoring.score_officially},
    measures={"accuracy": accuracy},
    judges={RULES: ByRules(scoring.judge_by_rules), "paper": ByModel(scoring.judge)},
    answer_form=scoring.answer_form,
    slices=scoring.by_trigger_and_image_source,
    counts={
        "all": 608,
        "false premises": 304,
        "visual challenge": 183,
        "insufficient context": 121,
    },
    decided_in=(IMAGES, CAPTIONS, TRIGGERS),
)
