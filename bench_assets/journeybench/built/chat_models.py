"""Opens the models that write on the built route."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from bench_assets.core.chat import ChatModel
from resources.models import Models
from resources.progress import AskingProgress
from resources.recorded import RecordedModel, read_replies

_REPLIES = "replies.jsonl"


@contextmanager
def open_writer(
    name: str, models: Models, folder: Path, context: dg.AssetExecutionContext
) -> Generator[ChatModel]:
    """Load a model that writes, or take what was written for this source.

    Args:
        name: A model of bench.toml; "" takes the replies in ``replies.jsonl`` of the source, of
            which there are none without such a file.
        models: All models.
        folder: The source.
        context: Shows how far the model is.
    """
    if not name:
        file = folder / _REPLIES
        yield RecordedModel("recorded", read_replies(file) if file.exists() else [], file)
        return
    title = f"{name}: {context.op_def.name.replace('__', '/')}"
    with (
        AskingProgress(title, context.log.info, bar=models.show_progress) as progress,
        models.open(name, progress=progress) as model,
    ):
        yield model
