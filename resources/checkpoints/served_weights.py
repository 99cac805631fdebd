"""The weights that a server answers with: a folder, or a GGUF file."""

from pathlib import Path

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.content_checksums import DigestFiles
from resources.checkpoints.files import content_digest
from resources.checkpoints.identity import Checkpoint, pin


def pin_served(path: str, digest: DigestFiles = content_digest) -> Checkpoint:
    """Pin weights to what they hold.

    Args:
        path: Where they lie.
        digest: Tells what files hold.

    Raises:
        ModelError: If there are none, or not all of them.
    """
    there = Path(path)
    if there.is_file():
        return pin(str(there.parent), gguf_file=there.name, digest=digest)
    if not there.is_dir():
        raise ModelError(f"path = {path}: no such folder; servers are started for weights on disk")
    return pin(path, digest=digest)
