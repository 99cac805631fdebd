"""BLINK as a task; its fourteen perception tasks are categories."""

from bench_assets.core.metrics.aggregates import accuracy, macro_accuracy
from bench_assets.evaluation.task import RULES, ByModel, ByRules, Condition, Task
from bench_assets.suites.blink import prompts, scoring
from bench_assets.suites.blink.dataset import PERCEPTION_TASKS

SAMPLES = 5
"""Runs of the self-consistency study (appendix C.3)."""

TASK = Task(
    name="blink",
    rejections="blink/rejections",
    title="BLINK",
    purpose=(
        "Perception that people need a blink for: depth, correspondence, "
        "reflectance, jigsaws and ten more."
    ),
    version=9,
    conditions={
        "main": Condition(
            prompt=prompts.main,
            about="The images one by one, then the release's prompt (section 4.1, Table 1).",
        ),
        "concatenated_images": Condition(
            prompt=prompts.main,
            about="The images of a question side by side as one (appendix C.1, Table 4).",
            own_questions=True,
            needs="it needs questions with several images, as eight of the tasks have",
        ),
        "captions_for_images": Condition(
            prompt=prompts.captions_for_images,
            about="Captions in place of the images (section 4.3, Figure 6).",
            own_questions=True,
            needs="it needs captions of the images: name a model (captioner) in [suites.blink]",
        ),
        "self_consistency": Condition(
            prompt=prompts.main,
            about="Five runs at temperature 1.0 (appendix C.3); accuracy is that of single runs.",
            samples=SAMPLES,
            temperature=1.0,
        ),
    },
    scorers={
        "careful": scoring.score_carefully,
        "official": scoring.score_officially,
        "as_released": scoring.score_as_released,
    },
    measures={"accuracy": macro_accuracy, "accuracy_micro": accuracy, "chance": scoring.chance},
    judges={RULES: ByRules(scoring.judge_by_rules), "paper": ByModel(scoring.judge)},
    answer_form=scoring.answer_form,
    counts={
        "all": sum(task.val for task in PERCEPTION_TASKS.values()),
        **{task.name: task.val for task in PERCEPTION_TASKS.values()},
    },
)
