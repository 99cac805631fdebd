"""The prompts of MCOT, multi-image VQA and the built route, word for word."""

from bench_assets.suites.journeybench import verification_prompts
from bench_assets.suites.journeybench.built import dialogue_prompts, distractors, triggers
from bench_assets.suites.journeybench.built.dialogue_prompts import Exchange
from bench_assets.suites.journeybench.mcot import prompts as mcot
from bench_assets.suites.journeybench.mcot import quantities
from bench_assets.suites.journeybench.mcot.problems import Problem
from bench_assets.suites.journeybench.multi_image_vqa import causes
from bench_assets.suites.journeybench.multi_image_vqa import prompts as multi_image_vqa
from bench_assets.suites.journeybench.multi_image_vqa.causes import CauseAndEffect
from bench_assets.suites.journeybench.writing import readable
from tests.rows import question

ASKED = question(text="How many cups?", answer=("no cups", "0"), images=("a" * 64,))
PAIR = question(text="Which?", images=("a" * 64, "b" * 64), options=("image1", "image2"))
PROBLEM = Problem(problem_id="p", question="Ann has 3 cups.", solution="", answer="3")
EVENT = CauseAndEffect(event_id="copa-1", cause="It rained.", effect="The street was wet.")
CAPTIONS = {"cat.png": ["A cat drives.", "A cat at the wheel."]}
EXCHANGES = [Exchange("What drives?", "A dog.")]


def test_every_prompt_is_as_it_was(golden):
    digests = {"cat.png": "c" * 64}
    prompts = {
        "mcot": mcot.main(ASKED),
        "mcot, language only": mcot.language_only(ASKED),
        "multi-image": multi_image_vqa.main(PAIR),
        "multi-image, language only": multi_image_vqa.language_only(PAIR),
        "extract": verification_prompts.extract(ASKED, "There are 2 cups."),
        "verify": verification_prompts.verify(ASKED, "2"),
        "verify solution": verification_prompts.verify_solution(ASKED, "1 + 1 = 2", "0"),
        "first questions": dialogue_prompts.first_questions("A cat drives."),
        "more questions": dialogue_prompts.more_questions("A cat drives.", EXCHANGES, "Unclear."),
        "answer": dialogue_prompts.answer("c" * 64, "What drives?"),
        "reason": dialogue_prompts.reason("A cat drives.", EXCHANGES, last=False),
        "reason in the last round": dialogue_prompts.reason("A cat drives.", EXCHANGES, last=True),
        **distractors.prompts(CAPTIONS, digests),
        **triggers.prompts(CAPTIONS, digests),
        **quantities.prompts([PROBLEM]),
        **causes.prompts([EVENT]),
    }
    text = "\n\n".join(f"=== {name}\n{readable(prompt)}" for name, prompt in prompts.items())
    golden("journeybench_prompts.txt", f"{text}\n")
