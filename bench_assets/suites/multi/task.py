"""The MULTI task."""

from bench_assets.evaluation.task import Condition, Task
from bench_assets.suites.multi import prompts, scoring
from bench_assets.suites.multi.readers import answer_form

TASK = Task(
    name="multi",
    rejections="multi/rejections",
    title="MULTI",
    purpose=(
        "Questions of Chinese school and driving exams, with text and images, "
        "from multiple choice to open."
    ),
    version=9,
    conditions={
        "main": Condition(
            prompt=prompts.main,
            about="Chinese, direct answer, all images in one turn (Figures 2 and 3, Tables 3-5).",
        ),
        "elite": Condition(
            prompt=prompts.main,
            about="The 500 questions of MULTI-Elite, asked as in main (section 4.6, Table 7).",
            own_questions=True,
            rejections="multi/elite/rejections",
            needs="it needs the ids of MULTI-Elite: a release with hard_list_*.json",
        ),
        "with_knowledge": Condition(
            prompt=prompts.main,
            about="With the question's piece of MULTI-Extend, if any (section 4.7, Table 8).",
            own_questions=True,
            rejections="multi/with_knowledge/rejections",
            needs=(
                "it needs pieces of knowledge: a release with knowledge_*.json, or answers to the "
                "annotation task multi/knowledge"
            ),
        ),
        "no_image": Condition(
            prompt=prompts.no_image, about="Without the images (section 4.5, Table 6: w/o. image)."
        ),
        "captions_for_images": Condition(
            prompt=prompts.texts_for_images,
            about="Captions in place of the images (section 4.5, Table 6: w. caption).",
            own_questions=True,
            rejections="multi/captions_for_images/rejections",
            needs=(
                "it needs captions of the images: a release with captions_*.csv, or a model "
                "(captioner) in [suites.multi]"
            ),
        ),
        "ocr_for_images": Condition(
            prompt=prompts.texts_for_images,
            about="OCR texts in place of the images (section 4.5, Table 6: w. ocr).",
            own_questions=True,
            rejections="multi/ocr_for_images/rejections",
            needs="it needs questions with images that decode",
        ),
        "turn_by_turn": Condition(
            prompt=prompts.turn_by_turn,
            about="Several images, one per turn; the last answer counts (section 4.2).",
        ),
        "chain_of_thought": Condition(
            prompt=prompts.chain_of_thought,
            about="Reasoning in one turn, the answer in the next (Figure 3, last row).",
        ),
        "english": Condition(
            prompt=prompts.english,
            about="The English prompts of Figure 3 around the Chinese question.",
        ),
        "today": Condition(
            prompt=prompts.today,
            about="As main, with the prompts of the authors' present repository.",
        ),
        "blank_image": Condition(
            prompt=prompts.main,
            about="A black image where there is none, for models that require one (section 4.2).",
            own_questions=True,
        ),
    },
    scorers={
        "careful": scoring.score_carefully,
        "paper": scoring.score_as_printed,
        "current": scoring.score_as_today,
        "current_end": scoring.score_as_today_from_the_end,
    },
    answer_form=answer_form,
    measures={
        "score_ratio": scoring.score_ratio,
        "accuracy": scoring.accuracy,
        "refusals": scoring.refusals,
    },
    lower_is_better=frozenset(["refusals"]),
    slices=scoring.slices,
    counts={"all": 18_430},
)
