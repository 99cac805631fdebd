"""What a user chooses for CogBench, in ``[suites.cogbench]`` of bench.toml."""

from pathlib import Path

from pydantic import ConfigDict, Field

from bench_assets.evaluation.suite import SuiteSettings
from resources.encoders.sentence_encoder import EMBEDDED_ENCODER

LONGEST_OPTION = "longest-option"  # a rule in the place of a model, see ``vqa.language_only``


class CogbenchSettings(SuiteSettings):
    """The choices of every suite, and those of CogBench's construction and analyses."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text_encoder: str = EMBEDDED_ENCODER
    """Embeds entities, nouns and annotations: a folder or a hub id; the paper's is
    all-mpnet-base-v2."""
    recognition_threshold: float | None = Field(None, ge=-1, le=1)
    """A cosine above it recognises an entity in the careful reading; without it, the one that is
    chosen for the encoder. The official reading has the paper's 0.6 (section 3.2)."""
    same_item: float = Field(0.75, gt=0, le=1)
    """Annotated items at least as close are one item, if nothing speaks against it (section 2.2;
    ours, the paper has people)."""
    near_item: float = Field(0.5, gt=0, le=1)
    """Items at least as close stand beside each other in the review queue."""
    same_story: float = Field(0.6, gt=0, le=1)
    """Descriptions at least as close understand an image alike (as above)."""
    writer: str = "recorded"
    """A model of bench.toml that writes questions from chains; "recorded" takes the responses in
    the source's writer_responses.jsonl."""
    writer_tries: int = Field(3, gt=0)
    """How often the writer is asked for a response that can be read."""
    text_model: str = LONGEST_OPTION
    """A model of bench.toml that answers without images, to find questions that need none."""
    text_tries: int = Field(3, gt=0)
    """How often it answers each question; right every time is solvable."""
    keep_solvable: bool = False
    """Ask what was solved without the image as well; the paper leaves it out (2.3.2)."""
    human_answers: Path | None = None
    """JSON lines with ``question_id``, ``person`` and ``answer``: people's answers (Table 5)."""
    nli_model: str = ""
    """A folder or hub id of a model of natural language inference that is compared (Table 4)."""
    human_labels: Path | None = None
    """JSON lines with ``question_id``, ``criterion`` and ``mentioned``: people's verdicts on a
    model's descriptions (Table 4); with ``model`` where there are several."""
