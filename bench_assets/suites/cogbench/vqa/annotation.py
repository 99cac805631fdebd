"""Annotation task: human answers (3.4)."""

from pathlib import Path

from bench_assets.annotation.responses.person_answers import person_answers_task
from bench_assets.annotation.task_files import read_tasks

_PEOPLE = 5  # people who answered every question (section 3.4)
_TASKS = read_tasks(Path(__file__).parents[1] / "annotation.toml")

HUMAN = person_answers_task(_TASKS["human"], "cogbench/vqa/questions", _PEOPLE)
