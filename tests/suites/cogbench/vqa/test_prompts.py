from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.dataset.source import Story
from bench_assets.suites.cogbench.description import prompts as description
from bench_assets.suites.cogbench.description.task import TASK as DESCRIPTION
from bench_assets.suites.cogbench.vqa import prompts as vqa
from bench_assets.suites.cogbench.vqa.task import TASK as VQA
from tests.fakes.rows import question
from tests.fakes.stories import story_question

STORY = Story(image_id="kite", image="kite.jpg", entities=(), description="A girl flies a kite.")
NEXT_EVENT = next(kind for kind in KINDS if kind.code == "next_event")
CHAIN = "The wind is strong. -> The kite will fly away."


def test_prompts_are_those_of_the_golden_file(golden):
    example = question(
        kind="choice",
        text="What will happen next?",
        options=("The kite will fly away.", "It will rain.", "The girl will sleep.", "Nothing."),
        images=("d1ge57",),
    )
    prompts = {
        **{
            f"cogbench/vqa {name}": condition.prompt(example)
            for name, condition in VQA.conditions.items()
        },
        **{
            f"cogbench/description {name}": condition.prompt(story_question({}))
            for name, condition in DESCRIPTION.conditions.items()
        },
        "judge of key points": description.judge_key_points(
            STORY.description, ["It is windy."] * 2
        ),
        "judge of relationships": description.judge_event_relationships(STORY.description, [CHAIN]),
        "writer": vqa.writer_prompt(STORY, NEXT_EVENT, [CHAIN]),
        "writer, again": vqa.retry_prompt(vqa.main(example), "Sure!", "1 lines"),
    }
    sections = [f"=== {name}\n{format_turns(prompt)}" for name, prompt in prompts.items()]
    golden("cogbench_prompts.txt", "".join(sections))


def format_turns(prompt):
    """The turns of a prompt, each below a line with its role."""
    turns = []
    for turn in prompt.turns:
        parts = [part if isinstance(part, str) else f"[image {part.sha256}]" for part in turn.parts]
        turns.append("\n".join([f"--- {turn.role}", *parts, ""]))
    return "".join(turns)
