"""What models read, as a golden file that a person can look through."""

from bench_assets.suites.cogbench.dataset.reasoning import NEXT_EVENT
from bench_assets.suites.cogbench.dataset.source import Story
from bench_assets.suites.cogbench.description import prompts as description
from bench_assets.suites.cogbench.description.task import TASK as DESCRIPTION
from bench_assets.suites.cogbench.vqa import prompts as vqa
from bench_assets.suites.cogbench.vqa.task import TASK as VQA
from tests.fakes.rows import question
from tests.fakes.stories import story_question

STORY = Story(image_id="kite", image="kite.jpg", entities=(), description="A girl flies a kite.")
CHAIN = "The wind is strong. -> The kite will fly away."


def test_prompts_are_the_agreed_ones(golden):
    example = question(
        kind="choice",
        text="What will happen next?",
        options=("The kite will fly away.", "It will rain.", "The girl will sleep.", "Nothing."),
        images=("d1ge57",),
    )
    shown = {
        **{f"cogbench/vqa {name}": c.prompt(example) for name, c in VQA.conditions.items()},
        **{
            f"cogbench/description {name}": c.prompt(story_question({}))
            for name, c in DESCRIPTION.conditions.items()
        },
        "judge of key points": description.judge_key_points(
            STORY.description, ["It is windy."] * 2
        ),
        "judge of relationships": description.judge_event_relationships(STORY.description, [CHAIN]),
        "writer": vqa.writer_prompt(STORY, NEXT_EVENT, [CHAIN]),
        "writer, again": vqa.retry_prompt(vqa.main(example), "Sure!", "1 lines"),
    }
    lines = []
    for name, prompt in shown.items():
        lines.append(f"=== {name}\n")
        for turn in prompt.turns:
            parts = [p if isinstance(p, str) else f"[image {p.sha256}]" for p in turn.parts]
            lines.append(f"--- {turn.role}\n" + "\n".join(parts) + "\n")
    golden("cogbench_prompts.txt", "".join(lines))
