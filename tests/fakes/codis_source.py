"""CODIS source folders, with their entries, votes and images."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.suites.codis.dataset import ContextPair, SubmissionVote


def entry(**fields: Any) -> dict[str, Any]:
    """An entry of the authors' data.json."""
    return {
        "id": "000",
        "image_id": "a.png",
        "question": "Opening or closing?",
        "context": {"context_1": "I go left.", "context_2": "I go right."},
        "answer": {"answer_1": "Opening.", "answer_2": "Closing."},
        "category": "Attributes",
    } | fields


def pair(**fields: Any) -> ContextPair:
    """The pair that is read from ``entry()``."""
    defaults: dict[str, Any] = {
        "pair_id": "000",
        "image": "a.png",
        "question": "Opening or closing?",
        "contexts": ("I go left.", "I go right."),
        "answers": ("Opening.", "Closing."),
        "category": "Attributes",
    }
    return ContextPair(**(defaults | fields))


def vote(submission: str, annotator: str, **fields: Any) -> SubmissionVote:
    """A vote that approves, with other fields if given."""
    defaults = {"correct": True, "different": True, "within_rules": True}
    return SubmissionVote(submission=submission, annotator=annotator, **(defaults | fields))


def png() -> bytes:
    """An image of 8 x 6 px."""
    return Scene(8, 6).png()


def write_release(folder: Path, entries: object, images: Sequence[str] = ("a.png",)) -> Path:
    """Write a published edition; ``entries`` may be text that is no JSON."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    text = entries if isinstance(entries, str) else json.dumps(entries)
    (folder / "data.json").write_text(text)
    for name in images:
        (folder / "images" / name).write_bytes(png())
    return folder


def write_raw(
    folder: Path, submissions: object, votes: object, images: Sequence[str] = ("a.png",)
) -> Path:
    """Write submissions and votes, from which an edition is built."""
    write_release(folder, submissions, images)
    (folder / "data.json").rename(folder / "submissions.json")
    (folder / "votes.json").write_text(json.dumps(votes))
    return folder
