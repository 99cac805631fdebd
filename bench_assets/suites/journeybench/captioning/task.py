"""Imaginary image captioning as a task; the authors' wording of the prompt is not published."""

from collections.abc import Iterable

from bench_assets.core.metrics import caption_measures
from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.task import Condition, Task
from bench_assets.suites.journeybench.captioning import scoring
from bench_assets.suites.journeybench.captioning.dataset import TASK_NAME, TEXT
from bench_assets.suites.journeybench.raw_material import CAPTIONS, IMAGES


def main(question: Question) -> Prompt:
    """Ask for one sentence on what makes the image imaginary (section 3.2)."""
    return caption_prompt(question.images, question.text)


def caption_prompt(images: Iterable[str], text: str = TEXT) -> Prompt:
    """Prompt for a caption of images, given by their SHA-256."""
    return Prompt.of(*map(Image, images), f"{text} Reply with the sentence and nothing else.")


TASK = Task(
    name=TASK_NAME,
    rejections=f"{TASK_NAME}/rejections",
    title="JourneyBench, imaginary image captioning",
    purpose="Captions of generated images, whose combinations of things no photograph shows.",
    version=5,
    conditions={
        "main": Condition(
            prompt=main,
            about="One sentence on what makes the image imaginary (section 3.2, Table 2).",
        )
    },
    scorers={"coco": scoring.score, caption_measures.OFFICIAL: scoring.score_officially},
    measures={
        "cider": caption_measures.cider,
        "rouge_l": caption_measures.rouge_l,
        "bleu": caption_measures.mean_bleu,  # as in the authors' script; Table 2 calls it "BLEU-4"
        **{f"bleu_{n}": caption_measures.bleu_n(n) for n in range(1, 5)},
    },
    adds={"cider": scoring.per_caption_cider},
    slices=scoring.no_slices,
    counts={"all": 1042},
    decided_in=(IMAGES, CAPTIONS),
)
