"""The question task of CogBench."""

from bench_assets.core.metrics.aggregates import accuracy
from bench_assets.evaluation.task import Condition, Task
from bench_assets.suites.cogbench.vqa import prompts, scoring

TASK = Task(
    name="cogbench/vqa",
    rejections="cogbench/vqa/rejections",
    title="CogBench VQA",
    purpose=(
        "Multiple-choice questions about time, place, causes and feelings that one image implies."
    ),
    version=7,
    conditions={
        "main": Condition(
            prompt=prompts.main, about="Image, question and four options (section 3.4, Table 5)."
        ),
        "blind": Condition(prompt=prompts.blind, about="The image is taken away; chance is 25 %."),
    },
    scorers={"careful": scoring.score_carefully, "official": scoring.score_officially},
    measures={"accuracy": accuracy},
    answer_form=scoring.answer_form,
    counts={
        "all": 2577,
        "Time": 86,
        "Location": 220,
        "Character": 162,
        "Character Relationship": 317,
        "Event": 658,
        "Event Relationship": 402,
        "Next Moment Event": 135,
        "Mental State": 597,
    },
)
