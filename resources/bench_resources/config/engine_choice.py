"""Chooses the engine of a checkpoint: for a path given to a command, and for ``kind = "auto"``.

An entry that only one engine has selects that engine. Otherwise it is vLLM if its command is
there, torch (if installed) finds a CUDA device, and vLLM lists the architecture; else transformers.
A checkpoint that was given to an earlier command keeps its engine.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.files import has_tokenizer, read_object
from bench_resources.checkpoints.model_kinds import architecture_of
from bench_resources.config.environment import find_program
from bench_resources.config.sections.local_models import (
    VLLM,
    AutoSpec,
    CheckpointSpec,
    TransformersSpec,
    VllmSpec,
)

TRANSFORMERS = "transformers"
_REGISTRY = "lib/python3*/site-packages/vllm/model_executor/models/registry.py"
_PROJECTOR = "*mmproj*.gguf"  # image projector of a vision-language model, for llama.cpp


class EngineChoice(NamedTuple):
    """A section with the chosen kind, and a message on the choice and how to override it."""

    section: dict[str, Any]
    message: str

    @property
    def spec(self) -> CheckpointSpec:
        """The parsed section.

        Raises:
            ValidationError: If an entry is invalid for the engine.
        """
        spec_type = VllmSpec if self.section["kind"] == VLLM else TransformersSpec
        return spec_type.model_validate(self.section)


def choose_engine(section: Mapping[str, Any], folder: Path) -> EngineChoice:
    """Choose the engine of a section, whose ``kind`` is ignored.

    Args:
        section: The entries; ``path`` is a folder, a GGUF file or a hub id.
        folder: ``path``, resolved; does not exist for a hub id.

    Raises:
        ModelError: If it has several GGUF files, or needs llama.cpp; or config.json is not JSON.
    """
    if file := _gguf_file(section, folder):
        _refuse_multimodal_gguf(file)
        gguf_section = {"text_only": True, **section}
        if folder.exists():
            gguf_section |= {"path": str(file.parent), "gguf_file": file.name}
        return _make_choice(TRANSFORMERS, "it reads GGUF", gguf_section)
    for kind, field in AutoSpec.own_fields().items():
        if own_entries := sorted(field & section.keys()):
            return _make_choice(kind, f"only this kind has the entry {own_entries[0]}", section)
    kind, reason = _engine_of(folder, str(section.get("program", VLLM)))
    return _make_choice(kind, reason, section)


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


def _refuse_multimodal_gguf(file: Path) -> None:
    """Refuse a GGUF model with an image projector beside it, which transformers cannot read."""
    if projectors := sorted(file.parent.glob(_PROJECTOR)):
        raise ModelError(
            f"{file}: images need {projectors[0].name}, which only llama.cpp reads. Serve it: "
            f"llama-server -m {file} --mmproj {projectors[0]} --port 8000 --jinja; then --model "
            f"http://127.0.0.1:8000/v1#{file.stem}"
        )


def _make_choice(kind: str, reason: str, section: Mapping[str, Any]) -> EngineChoice:
    entries = {**section, "kind": kind}
    if kind != VLLM:
        entries.pop("program", None)
    return EngineChoice(entries, f"run by {kind}: {reason} (another engine: kind=...)")


def _gguf_file(section: Mapping[str, Any], path: Path) -> Path | None:
    """GGUF file that a section or its path names, or the only one of a folder; None without one.

    Raises:
        ModelError: If no file is named, and the folder has several.
    """
    if file_name := section.get("gguf_file"):
        return path / str(file_name)
    if path.is_dir():
        return gguf_of(path)
    return path if path.suffix == ".gguf" and path.exists() else None


def _engine_of(folder: Path, program: str) -> tuple[str, str]:
    """Kind of engine and the reason for it, for a folder or for a model on the hub."""
    command = find_program(program)
    if command is None:
        return TRANSFORMERS, f"there is no command {program}"
    if _lacks_gpu():
        return TRANSFORMERS, "vLLM finds no CUDA device"
    if not folder.is_dir():
        return TRANSFORMERS, "vllm serve needs a folder"
    config = folder / "config.json"  # an adapter has none
    if not (config.exists() and has_tokenizer(folder)):
        return TRANSFORMERS, "vllm serve needs whole weights with their tokenizer"
    architecture = architecture_of(read_object(config))
    registry = _registry_text(command)
    if not architecture or (registry and f'"{architecture}"' not in registry):
        return TRANSFORMERS, f"vLLM does not list {architecture or 'its architecture'}"
    return VLLM, f"there is the command {command}"


def _lacks_gpu() -> bool:
    """Whether torch finds no CUDA device; False without torch, which transformers needs."""
    if find_spec("torch") is None:
        return False
    import torch

    return not torch.cuda.is_available()


def _registry_text(command: str) -> str:
    """The file in which vLLM names its architectures; "" if it is not beside its command."""
    files = sorted(Path(command).resolve().parent.parent.glob(_REGISTRY))
    return files[0].read_text(encoding="utf-8") if files else ""
