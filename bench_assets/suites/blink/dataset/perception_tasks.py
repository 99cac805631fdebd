"""The fourteen perception tasks: what section 3.2 and Table 1 say of each, and the release's forms.

``tasks.json`` has them in the order of Table 1. Its question and options are the release's where
these are the same for every question of a task, and stand in for them where only the answer key is
at hand.
"""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class PerceptionTask:
    """One of the fourteen."""

    name: str  # as in the ids of the release: "Multi-view_Reasoning"
    val: int  # questions of the validation split (Table 1 counts an earlier version in its head)
    test: int
    images: int  # images a question
    options: tuple[str, ...]
    visual_prompt: bool  # circles, boxes or masks are drawn into the images (appendix A.1)
    image_choices: bool  # the options are images or regions of one (Table 3)
    question: str


PERCEPTION_TASKS: dict[str, PerceptionTask] = {
    entry["name"]: PerceptionTask(**{**entry, "options": tuple(entry["options"])})
    for entry in json.loads(Path(__file__).with_name("tasks.json").read_text(encoding="utf-8"))
}
