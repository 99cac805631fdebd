"""HaloQuest: the question table."""

from bench_assets.suites.journeybench.assets.question_tables import question_assets
from bench_assets.suites.journeybench.hallucination_vqa.dataset import (
    RELEASES,
    TriggerQuestion,
    read_trigger_questions,
    to_questions,
)
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK

hallucination_questions = question_assets(
    task=TASK,
    row=TriggerQuestion,
    read=read_trigger_questions,
    to_questions=to_questions,
    releases=RELEASES,
)
