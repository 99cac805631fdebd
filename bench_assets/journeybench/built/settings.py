"""Who writes, answers, paints and verifies on the built route: in ``[suites.journeybench]``."""

import json
from pathlib import Path

from pydantic import Field

from resources.embedders import EMBEDDED_ENCODER
from resources.painters import DrawerSpec, PainterSpec
from resources.settings import SuiteSettings

_WORDS = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))


class BuiltSettings(SuiteSettings):
    """The choices of every suite, and those of JourneyBench's built route."""

    writer: str = ""
    """The language model that asks in dialogues, finds quantities and puts events into pictures;
    "" takes the replies that came with the source, ``replies.jsonl``."""
    answerer: str = ""
    """The vision-language model that answers in dialogues, and writes statements and questions
    about pictures that it sees; "" as for ``writer``."""
    topics: tuple[str, ...] = tuple(_WORDS["topics"])
    """Topic words of the queries; the paper has 17 and does not print them."""
    attributes: tuple[str, ...] = tuple(_WORDS["attributes"])
    """Attribute words of the queries; the paper has 15 and does not print them."""
    rounds: int = Field(4, gt=0)
    """Longest dialogue; IdealGPT's default, and the authors'."""
    tries: int = Field(3, gt=0)
    """How often a reply that cannot be read is asked for."""
    text_encoder: str = EMBEDDED_ENCODER
    """Folder or hub id of the sentence encoder that compares captions and statements."""
    painter: PainterSpec = DrawerSpec()
    """Who makes pictures of prompts."""
    gallery: str = ""
    """Address of a gallery to acquire pictures from; see ``resources/gallery.py``."""
    solution_judge: str = "rules"
    """The second, larger judge, which verifies solutions: a model of bench.toml, or "rules"."""
