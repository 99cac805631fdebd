from bench_assets.suites.journeybench import solution_verification
from bench_assets.suites.journeybench.construction import dialogue, distractors, triggers
from bench_assets.suites.journeybench.construction.dialogue import Exchange
from bench_assets.suites.journeybench.mcot import quantities
from bench_assets.suites.journeybench.mcot import task as mcot
from bench_assets.suites.journeybench.mcot.problems import Problem
from bench_assets.suites.journeybench.multi_image_vqa import image_pairs
from bench_assets.suites.journeybench.multi_image_vqa import task as multi_image_vqa
from bench_assets.suites.journeybench.multi_image_vqa.image_pairs import CauseAndEffect
from bench_assets.suites.journeybench.text_generation import format_prompt
from tests.fakes.rows import question

QUESTION = question(text="How many cups?", answer=("no cups", "0"), images=("a" * 64,))
PAIR = question(text="Which?", images=("a" * 64, "b" * 64), options=("image1", "image2"))
PROBLEM = Problem(problem_id="p", question="Ann has 3 cups.", solution="", answer="3")
EVENT = CauseAndEffect(event_id="copa-1", cause="It rained.", effect="The street was wet.")
CAPTIONS = {"cat.png": ["A cat drives.", "A cat at the wheel."]}
EXCHANGES = [Exchange("What drives?", "A dog.")]


def test_prompts_are_those_of_the_golden_file(golden):
    digests = {"cat.png": "c" * 64}
    prompts = {
        "mcot": mcot.main(QUESTION),
        "mcot, language only": mcot.language_only(QUESTION),
        "multi-image": multi_image_vqa.main(PAIR),
        "multi-image, language only": multi_image_vqa.language_only(PAIR),
        "extract": solution_verification.extraction_prompt(QUESTION, "There are 2 cups."),
        "verify": solution_verification.verification_prompt(QUESTION, "2"),
        "verify solution": solution_verification.solution_prompt(QUESTION, "1 + 1 = 2", "0"),
        "first questions": dialogue.first_questions_prompt("A cat drives."),
        "more questions": dialogue.more_questions_prompt("A cat drives.", EXCHANGES, "Unclear."),
        "answer": dialogue.answer_prompt("c" * 64, "What drives?"),
        "reason": dialogue.reasoning_prompt("A cat drives.", EXCHANGES, last=False),
        "reason in the last round": dialogue.reasoning_prompt(
            "A cat drives.", EXCHANGES, last=True
        ),
        **distractors.statement_prompts(CAPTIONS, digests),
        **triggers.trigger_prompts(CAPTIONS, digests),
        **quantities.quantity_prompts([PROBLEM]),
        **image_pairs.cause_prompts([EVENT]),
    }
    text = "\n\n".join(f"=== {name}\n{format_prompt(prompt)}" for name, prompt in prompts.items())
    golden("journeybench_prompts.txt", f"{text}\n")
