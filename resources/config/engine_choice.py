"""Chooses the engine of a checkpoint that a command is given by its place.

vLLM where it is installed, finds a CUDA device and lists the architecture; else transformers. A
command may say ``kind=`` itself, and a checkpoint that was given before keeps its engine.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.files import read_object

_REGISTRY = Path("model_executor", "models", "registry.py")  # of vLLM; names every architecture
_PROJECTOR = "mmproj*.gguf"  # llama.cpp's half of a model that sees


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """A kind of model, and why it was chosen."""

    kind: str
    why: str

    @property
    def message(self) -> str:
        """The choice, and how to make another."""
        return f"run by {self.kind}: {self.why} (another engine: add ,kind=...)"


def choose_engine(folder: Path | None) -> EngineChoice:
    """Choose vLLM or transformers for a folder, or for a model on the hub (None)."""
    package = find_spec("vllm")
    if package is None or not package.submodule_search_locations:
        return EngineChoice("transformers", "vLLM is not installed")
    import torch

    if not torch.cuda.is_available():
        return EngineChoice("transformers", "vLLM finds no CUDA device")
    if folder is None:
        return EngineChoice("transformers", "its architecture is on the hub")
    listed = _text(Path(package.submodule_search_locations[0], _REGISTRY))
    named = read_object(folder / "config.json").get("architectures") or [""]
    if f'"{named[0]}"' in listed:
        return EngineChoice("vllm", f"vLLM lists {named[0]}")
    return EngineChoice("transformers", f"vLLM does not list {named[0] or 'its architecture'}")


def gguf_of(folder: Path) -> Path | None:
    """The language model of a folder that holds one as GGUF, and no other weights.

    Raises:
        ModelError: If there are several.
    """
    if (folder / "config.json").exists():
        return None
    files = sorted(set(folder.glob("*.gguf")) - set(folder.glob(_PROJECTOR)))
    if len(files) > 1:
        raise ModelError(f"{folder}: {len(files)} GGUF files; name one of them: {files[0]}")
    return files[0] if files else None


def refuse_seeing_gguf(file: Path) -> None:
    """Refuse a GGUF model whose images are read by another file: transformers reads none.

    Raises:
        ModelError: If there is one; says how llama.cpp serves both.
    """
    for projector in sorted(file.parent.glob(_PROJECTOR)):
        raise ModelError(
            f"{file}: images need {projector.name}, which only llama.cpp reads. Serve it: "
            f"llama-server -m {file} --mmproj {projector} --port 8000 --jinja; then --model "
            f"http://127.0.0.1:8000/v1#{file.stem}"
        )


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""
