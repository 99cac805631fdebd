"""Settings of CogBench: ``[suites.cogbench]`` of bench.toml."""

from pydantic import Field

from bench_assets.evaluation.suite import SolverSettings
from bench_resources.encoders.sentence_encoder import EMBEDDED_ENCODER

LONGEST_OPTION = "longest-option"  # name of the rule ``vqa.refinement.longest_option``


class CogbenchSettings(SolverSettings):
    """Settings of every suite, and of CogBench's dataset build and studies."""

    text_encoder: str = EMBEDDED_ENCODER
    """Sentence encoder: folder or hub id. The paper uses all-mpnet-base-v2."""
    recognition_threshold: float | None = Field(None, ge=-1, le=1)
    """Cosine similarity above which an entity counts as recognised; default: chosen for the
    encoder. The official scorer uses 0.6 (section 3.2 of the paper)."""
    same_item: float = Field(0.75, gt=0, le=1)
    """Cosine similarity from which annotated items are merged. The paper merges by hand."""
    near_item: float = Field(0.5, gt=0, le=1)
    """Cosine similarity from which items are shown together in the review queue."""
    same_story: float = Field(0.6, gt=0, le=1)
    """Cosine similarity from which two descriptions count as the same story."""
    writer: str = "recorded"
    """Model that writes questions from chains; ``"recorded"``: responses of the source's
    ``writer_responses.jsonl``."""
    text_model: str = LONGEST_OPTION
    """Model that answers without images, to find questions that need none; ``"longest-option"``: a
    rule that chooses far longer options."""
    text_tries: int = Field(3, gt=0)
    """Attempts per question. A question answered correctly in all of them counts as solvable
    without the image."""
    keep_solvable: bool = False
    """Keep questions that were solved without the image. The paper drops them (section 2.3.2)."""
