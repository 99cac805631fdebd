"""HaloQuest: the question table."""

from functools import partial

from bench_assets.suites.journeybench.assets.question_tables import image_questions, question_assets
from bench_assets.suites.journeybench.hallucination_vqa.dataset import (
    RELEASES,
    TriggerQuestion,
    read_trigger_questions,
    to_question,
)
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK

hallucination_questions = question_assets(
    task=TASK,
    row=TriggerQuestion,
    read=read_trigger_questions,
    to_questions=partial(image_questions, to_question),
    releases=RELEASES,
)
