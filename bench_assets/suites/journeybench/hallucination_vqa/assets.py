"""HaloQuest: the images and the question table."""

from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.suites.journeybench.assets.question_tables import TaskTable, question_assets
from bench_assets.suites.journeybench.assets.source import image_assets
from bench_assets.suites.journeybench.hallucination_vqa.dataset import (
    RELEASES,
    TriggerQuestion,
    read_trigger_questions,
    to_questions,
)
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK

hallucination_images = image_assets(AssetFolder(TASK.name), "hallucination_vqa")

hallucination_questions = question_assets(
    TaskTable(
        task=TASK,
        row=TriggerQuestion,
        read=read_trigger_questions,
        to_questions=to_questions,
        releases=RELEASES,
        entries="Take the entries of the published file, or those built here.\n\n"
        "One row: a question about an image that invites a hallucination, with people's answers. "
        "608\nin the published evaluation split.",
        rejection="One row: an entry that is not asked, because its image is not there or does not "
        "decode.",
        question="One row: one question about one image. 608 when all images are there, by trigger "
        "304 (false premises), 183 (visual challenge) and 121 (insufficient context).",
    )
)
