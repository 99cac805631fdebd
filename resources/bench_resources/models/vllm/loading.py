"""Arguments of vLLM, refusal of features that it would ignore, NaN checks on weight files."""

import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.files import (
    ADAPTER_CONFIG,
    ADAPTER_WEIGHTS,
    TensorSpan,
    processor_files,
    read_object,
    tensor_spans,
)
from bench_resources.checkpoints.hub_access import hub_access
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import PLAIN_TEMPLATE, VllmSpec

_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # LoRA ranks that vLLM has kernels for
_UNSUPPORTED_FIELDS = (
    "use_dora",
    "modules_to_save",
    "rank_pattern",
    "alpha_pattern",
    "target_parameters",
)
_VISION_MODULES = re.compile(r"visual|vision|image|projector|connector|merger|aligner")
_TOWER_OPTION = "enable_tower_connector_lora"
_SUPPORTED_FIELDS = {"top_k", "min_p", "repetition_penalty"}
_ALTERNATIVES = 'merge it into its base (merge_and_unload of PEFT), or use kind = "transformers"'


def arguments(spec: VllmSpec, checkpoint: Checkpoint, model: str) -> dict[str, Any]:
    """Arguments of vLLM's ``LLM``; ``model`` is the folder or hub id of weights and processor.

    Raises:
        ModelError: If vLLM cannot run the adapter, or a setting needs prompts = "checkpoint".
    """
    if spec.prompts == "vllm":
        _refuse_processor_settings(spec)
    llm_arguments: dict[str, Any] = {
        "model": model,
        "dtype": spec.dtype,
        "seed": spec.seed or 0,
        "gpu_memory_utilization": spec.gpu_memory_utilization,
        "tensor_parallel_size": spec.tensor_parallel_size,
        "trust_remote_code": spec.trust_remote_code,
        "generation_config": "vllm",  # only the end tokens of the checkpoint's own are used
    }
    if not Path(model).is_dir():
        llm_arguments["revision"] = checkpoint.revision
    if spec.max_model_len:
        llm_arguments["max_model_len"] = spec.max_model_len
    if spec.processor_kwargs:
        llm_arguments["mm_processor_kwargs"] = spec.processor_kwargs
    if spec.prompts == "vllm" and not spec.text_only:
        llm_arguments["interleave_mm_strings"] = True  # images stay where the prompt has them
    if spec.images_per_prompt:
        llm_arguments["limit_mm_per_prompt"] = {"image": spec.images_per_prompt}
    if checkpoint.adapter:
        llm_arguments["enable_lora"] = True
        llm_arguments["max_lora_rank"] = _rank(
            Path(checkpoint.adapter), towers=_TOWER_OPTION in spec.extra
        )
    return llm_arguments


def refuse_unsupported(card: Iterable[str], location: str) -> None:
    """Refuse fields of a model card that vLLM has no equivalent for.

    Raises:
        ModelError: If there is any; names them.
    """
    if unknown := sorted(set(card) - _SUPPORTED_FIELDS):
        raise ModelError(
            f"{location}, generation_config.json: vLLM does not support {', '.join(unknown)}; use "
            'kind = "transformers", or set temperature and top_p'
        )


def link_into_folder(checkpoint: Checkpoint) -> "TemporaryDirectory[str] | None":
    """Link weights and processor into one folder, as vLLM expects; None if they are in one."""
    if not checkpoint.processor:
        return None
    weights = _folder(checkpoint.location, checkpoint.revision)
    processor = _folder(checkpoint.processor, checkpoint.processor_revision)
    own = _top_level_names(
        (file for file in processor_files(weights) if file.suffix != ".py"), weights
    )
    entries = {entry.name: entry for entry in weights.iterdir() if entry.name not in own}
    entries |= {
        name: processor / name for name in _top_level_names(processor_files(processor), processor)
    }
    folder = TemporaryDirectory(prefix="bench-vllm-")
    for name, entry in entries.items():
        Path(folder.name, name).symlink_to(entry.resolve())
    return folder


def _top_level_names(files: Iterable[Path], folder: Path) -> set[str]:
    """Top-level names of files in a folder."""
    return {file.relative_to(folder).parts[0] for file in files}


def _folder(place: str, revision: str) -> Path:
    if Path(place).is_dir():
        return Path(place)
    from huggingface_hub import snapshot_download

    with hub_access():
        return Path(snapshot_download(place, revision=revision))


def _refuse_processor_settings(spec: VllmSpec) -> None:
    settings = {
        "max_image_tokens": spec.max_image_tokens,
        f'chat_template = "{PLAIN_TEMPLATE}"': spec.chat_template == PLAIN_TEMPLATE,
    }
    for name, is_set in settings.items():
        if is_set:
            raise ModelError(f'{spec.path}: {name} needs prompts = "checkpoint"')


def _rank(adapter: Path, *, towers: bool) -> int:
    """Check that vLLM applies an adapter completely; returns the rank to reserve."""
    config = read_object(adapter / ADAPTER_CONFIG)
    if config.get("peft_type") != "LORA":
        raise ModelError(
            f"{adapter}: vLLM runs LORA, not {config.get('peft_type')}; {_ALTERNATIVES}"
        )
    if left_out := [name for name in _UNSUPPORTED_FIELDS if config.get(name)]:
        raise ModelError(f"{adapter}: vLLM does not support {', '.join(left_out)}; {_ALTERNATIVES}")
    seeing = [] if towers else [name for name in _tensors(adapter) if _VISION_MODULES.search(name)]
    if seeing:
        raise ModelError(
            f"{adapter}: vLLM ignores the adapter's vision weights ({len(seeing)} "
            f"tensors such as {min(seeing)}); {_ALTERNATIVES}, or try"
            f" extra = {{{_TOWER_OPTION} = true}}"
        )
    rank = int(config.get("r") or 0)
    if rank > _RANKS[-1]:
        raise ModelError(
            f"{adapter}: rank {rank} is more than vLLM's {_RANKS[-1]}; {_ALTERNATIVES}"
        )
    return next(least for least in _RANKS if least >= rank)


def _tensors(adapter: Path) -> list[str]:
    """Names of an adapter's tensors."""
    file = next(
        adapter / name
        for name in sorted(ADAPTER_WEIGHTS, reverse=True)
        if (adapter / name).exists()
    )
    if file.suffix == ".safetensors":
        from safetensors import safe_open

        with safe_open(file, framework="pt") as opened:
            return list(opened.keys())
    import torch

    return list(torch.load(file, map_location="meta", weights_only=True))


_CHUNK_BYTES = 2**24  # bytes
_EXPONENTS: Mapping[str, tuple[str, int]] = {
    "F64": ("<u8", 0x7FF0_0000_0000_0000),
    "F32": ("<u4", 0x7F80_0000),
    "F16": ("<u2", 0x7C00),
    "BF16": ("<u2", 0x7F80),
    "F8_E5M2": ("<u1", 0x7C),
    "F8_E4M3": ("<u1", 0x7F),  # it has no infinity, and NaN where all bits are set
}
"""By type: how its numbers are read, and which bits are all set in NaN and infinity (IEEE 754)."""


def refuse_infinite_files(checkpoint: Checkpoint) -> None:
    """Refuse local safetensors files with NaN or infinity.

    vLLM runs in other processes, and would turn NaN into endless repeats of the first token.

    Raises:
        ModelError: If there is any; names the file and the tensor.
    """
    checksummed = {file for one in checkpoint.checksums for file in one.states}
    files = sorted(file for file in checksummed if file.suffix == ".safetensors")
    with ThreadPoolExecutor() as threads:
        for file in files:
            spans = [span for span in tensor_spans(file) if span.dtype in _EXPONENTS]
            finite = threads.map(partial(_is_finite, file), spans)
            if bad := _names(spans, finite):
                raise ModelError(
                    f"{file}: NaN or infinity in its tensor {bad[0]!r}: the training diverged"
                )


def _names(spans: Iterable[TensorSpan], finite: Iterable[bool]) -> list[str]:
    return [span.name for span, is_finite in zip(spans, finite, strict=True) if not is_finite]


def _is_finite(file: Path, span: TensorSpan) -> bool:
    numbers, exponent = _EXPONENTS[span.dtype]
    with file.open("rb") as opened:
        opened.seek(span.start)
        for at in range(span.start, span.end, _CHUNK_BYTES):
            read = np.frombuffer(opened.read(min(_CHUNK_BYTES, span.end - at)), numbers)
            if np.any((read & read.dtype.type(exponent)) == exponent):
                return False
    return True
