"""Chooses the engine of a checkpoint: for a path given to a command, and for ``kind = "auto"``.

An entry that only one engine has selects that engine. Otherwise it is vLLM if that is installed,
finds a CUDA device and lists the architecture; else transformers. A checkpoint that was given to an
earlier command keeps its engine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.files import read_object
from bench_resources.config.sections.local_models import AutoSpec, TransformersSpec, VllmSpec

_REGISTRY = Path("model_executor", "models", "registry.py")  # of vLLM; names every architecture
_PROJECTOR = "mmproj*.gguf"  # image projector of a vision-language model, for llama.cpp


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The chosen kind of model, with the reason."""

    kind: str
    why: str
    section: Mapping[str, Any]  # including ``kind``

    @property
    def message(self) -> str:
        """Message on the choice, and how to override it."""
        return f"run by {self.kind}: {self.why} (another engine: kind=...)"

    @property
    def spec(self) -> TransformersSpec | VllmSpec:
        """The parsed section.

        Raises:
            ValidationError: If an entry is invalid for the engine.
        """
        kind = VllmSpec if self.kind == "vllm" else TransformersSpec
        return kind.model_validate(self.section)


def choose_engine(section: Mapping[str, Any], folder: Path) -> EngineChoice:
    """Choose the engine of a section without a kind.

    Args:
        section: The entries; ``path`` is a folder, a GGUF file or a hub id.
        folder: ``path``, resolved; does not exist for a hub id.

    Raises:
        ModelError: If no engine can run it; names a server that can, if there is one.
    """
    if file := _gguf(section, folder):
        refuse_multimodal_gguf(file)
        found = {"text_only": True, **section, "path": str(file.parent), "gguf_file": file.name}
        return _choice("transformers", "it reads GGUF", found)
    for kind, own in AutoSpec.own_fields().items():
        if own_entries := sorted(own & section.keys()):
            return _choice(kind, f"only this kind has the entry {own_entries[0]}", section)
    return _choice(*_engine_of(folder), section)


def gguf_of(folder: Path) -> Path | None:
    """GGUF file of a folder whose only weights are a language model in GGUF; else None.

    Raises:
        ModelError: If there are several.
    """
    if (folder / "config.json").exists():
        return None
    files = sorted(set(folder.glob("*.gguf")) - set(folder.glob(_PROJECTOR)))
    if len(files) > 1:
        raise ModelError(f"{folder}: {len(files)} GGUF files; name one of them: {files[0]}")
    return files[0] if files else None


def refuse_multimodal_gguf(file: Path) -> None:
    """Refuse a GGUF model with an image projector in another file, which transformers cannot read.

    Raises:
        ModelError: If there is a projector; gives the command of llama.cpp.
    """
    for projector in sorted(file.parent.glob(_PROJECTOR)):
        raise ModelError(
            f"{file}: images need {projector.name}, which only llama.cpp reads. Serve it: "
            f"llama-server -m {file} --mmproj {projector} --port 8000 --jinja; then --model "
            f"http://127.0.0.1:8000/v1#{file.stem}"
        )


def _choice(kind: str, why: str, section: Mapping[str, Any]) -> EngineChoice:
    return EngineChoice(kind, why, {**section, "kind": kind})


def _gguf(section: Mapping[str, Any], path: Path) -> Path | None:
    if named := section.get("gguf_file"):
        return path / str(named)
    if path.is_dir():
        return gguf_of(path)
    return path if path.suffix == ".gguf" and path.exists() else None


def _engine_of(folder: Path) -> tuple[str, str]:
    """Kind and reason, for a folder or for a model on the hub."""
    package = find_spec("vllm")
    if package is None or not package.submodule_search_locations:
        return "transformers", "vLLM is not installed"
    import torch

    if not torch.cuda.is_available():
        return "transformers", "vLLM finds no CUDA device"
    if not folder.is_dir():
        return "transformers", "its architecture is on the hub"
    listed = _text(Path(package.submodule_search_locations[0], _REGISTRY))
    config = folder / "config.json"  # an adapter has none
    named = (read_object(config) if config.exists() else {}).get("architectures") or [""]
    if f'"{named[0]}"' in listed:
        return "vllm", f"vLLM lists {named[0]}"
    return "transformers", f"vLLM does not list {named[0] or 'its architecture'}"


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""
