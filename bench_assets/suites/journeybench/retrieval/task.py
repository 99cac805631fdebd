"""Fine-grained cross-modal retrieval as a task; encoders answer it, see ``scoring.rank``."""

from bench_assets.evaluation.task import Condition, Task
from bench_assets.suites.journeybench.raw_material import CAPTIONS, IMAGES, LOOK_ALIKES, STATEMENTS
from bench_assets.suites.journeybench.retrieval import scoring
from bench_assets.suites.journeybench.retrieval.dataset import TASK_NAME
from bench_assets.suites.journeybench.retrieval.scoring import AS_RELEASED, WITHOUT_DISTRACTORS

TASK = Task(
    name=TASK_NAME,
    rejections=f"{TASK_NAME}/rejections",
    title="JourneyBench, fine-grained cross-modal retrieval",
    purpose=(
        "Finding the image of a text, and the text of an image, among near "
        "duplicates; evaluates encoders."
    ),
    version=1,
    conditions={
        "main": Condition(
            prompt=scoring.query_prompt,
            about="Each query has its own distractors among the candidates (3.3, Table 1).",
        ),
        WITHOUT_DISTRACTORS: Condition(
            prompt=scoring.query_prompt,
            about="No distractors: the texts or images of the other samples only (Table 1).",
        ),
        AS_RELEASED: Condition(
            prompt=scoring.query_prompt,
            about=(
                "Distractors as they are released: 533 texts of the release are also right, as "
                "they probably were in the paper's pools."
            ),
        ),
    },
    scorers={"ranking": scoring.score},
    measures=scoring.recall_measures(),
    slices=scoring.by_image_category,
    asked_of="encoder",
    decided_in=(IMAGES, CAPTIONS, STATEMENTS, LOOK_ALIKES),
)
