"""Layouts of training frameworks, and the commands that convert them.

A layout is recognized by its signs: patterns of file names in a folder or, with ``/``, in its
subfolders. No file is opened.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLayout:
    """A layout that has to be converted to a checkpoint."""

    name: str
    signs: tuple[str, ...]  # patterns, one of which has to match
    to_do: str  # format string of {folder}, {sign} (the matching file) and {at} (its folder)
    parts: str = ""  # pattern of subfolders without models
    unless: str = "(?!)"  # pattern of converted weights, with which the layout does not apply


@dataclass(frozen=True, slots=True, kw_only=True)
class UnconvertedFolder:
    """A folder to be converted to a checkpoint."""

    says: str  # layout and command
    parts: str  # pattern of subfolders without models


_ZERO = r"(bf16_|fp16_)?(zero_pp_rank_\d+_)?mp_rank_\d+(_model|_optim)_states\.pt"
_DCP = r"(\.metadata|__\d+_\d+\.distcp)"
_RANK = r"mp_rank_\d+(_\d+)*/(model_optim_rng|model_rng|distrib_optim)\.pt"

LAYOUTS: tuple[TrainingLayout, ...] = (
    TrainingLayout(
        name="an incomplete download",
        signs=(r"[^/]*\.(safetensors|bin|gguf|pth?)\W?[\w-]*\.?(incomplete|part|partial|aria2)",),
        to_do="wait for {sign}, or restart the download",
    ),
    TrainingLayout(
        name="verl FSDP shards",
        signs=(r"model_world_size_\d+_rank_\d+\.pt",),
        unless=r"huggingface/(pytorch_)?model\b.*\.(safetensors|bin)",
        to_do="merge: python -m verl.model_merger merge --backend fsdp --local_dir {folder}"
        " --target_dir MERGED",
    ),
    TrainingLayout(
        name="DeepSpeed ZeRO, weights not gathered",
        signs=(rf"global_step\d+/{_ZERO}", r"zero_to_fp32\.py"),
        to_do="merge: python zero_to_fp32.py {folder} {folder} --safe_serialization (the script"
        " lies there, or in deepspeed/utils)",
        parts=r"global_step\d+",
    ),
    TrainingLayout(
        name="a DeepSpeed ZeRO step, weights not gathered",
        signs=(_ZERO,),
        to_do="merge: python zero_to_fp32.py {folder.parent} MERGED --safe_serialization"
        " -t {folder.name} (the script lies in deepspeed/utils); add config.json and tokenizer",
    ),
    TrainingLayout(
        name="Megatron shards",
        signs=(
            r"latest_checkpointed_iteration\.txt",
            rf"(iter_\d+|release)/({_RANK}|{_DCP})",
            _RANK,
            r"common\.pt",
        ),
        to_do="convert with the training framework: swift export --mcore_model {folder}"
        " --to_hf true --output_dir MERGED, AutoBridge.export_ckpt of Megatron Bridge, or"
        " Megatron-LM's tools/checkpoint/convert.py --load-dir {folder} --save-dir MERGED",
        parts=r"iter_\d+|release|mp_rank_\d+.*",
    ),
    TrainingLayout(
        name="FSDP shards",
        signs=(rf"pytorch_model_fsdp(_\d+)?/{_DCP}",),
        to_do="merge: accelerate merge-weights {at} {folder}",
        parts=r"pytorch_model_fsdp(_\d+)?|optimizer(_\d+)?",
    ),
    TrainingLayout(
        name="torch.distributed.checkpoint shards (FSDP 2, torchtitan)",
        signs=(_DCP, rf"(model|weights|app)/{_DCP}"),
        to_do="merge: python -m torch.distributed.checkpoint.format_utils dcp_to_torch {at}"
        " model.pt; load it into the model and save_pretrained(FOLDER)",
        parts=r"model|weights|app|optim.*",
    ),
    TrainingLayout(
        name="weights in the format of Meta or Mistral",
        signs=(r"consolidated([.-][\w-]+)?\.(pth|safetensors)",),
        to_do="use the release for transformers, or convert: python -m transformers.models"
        ".FAMILY.convert_FAMILY_weights_to_hf --input_dir {folder} --output_dir CONVERTED",
    ),
    TrainingLayout(
        name="GGUF weights only",
        signs=(r"[^/]*\.gguf",),
        to_do='write an entry of bench.toml: path = "{folder}", gguf_file = "{sign}"',
    ),
    TrainingLayout(
        name="a diffusers pipeline",
        signs=(r"model_index\.json",),
        to_do="it generates images and answers no questions: use a vision-language model",
        parts=r".*",
    ),
    TrainingLayout(
        name="an OpenCLIP model, which embeds images and texts",
        signs=(r"open_clip_config\.json",),
        to_do="convert it to a CLIPModel, and name it in [suites.journeybench.encoders]",
    ),
    TrainingLayout(
        name="an ONNX export",
        signs=(r"(onnx/)?[^/]*\.onnx",),
        to_do="use the checkpoint that it was exported from, with model.safetensors",
        parts=r"onnx",
    ),
    TrainingLayout(
        name="TensorFlow or Flax weights",
        signs=(r"tf_model\.h5|flax_model\.msgpack|saved_model\.pb|[^/]*\.keras",),
        to_do="convert with transformers 4: from_pretrained({folder}, from_tf or from_flax = True)"
        " and save_pretrained(FOLDER)",
    ),
    TrainingLayout(
        name="a NeMo archive",
        signs=(r"[^/]*\.nemo",),
        to_do="convert {sign} to transformers with NeMo's export, or serve it",
    ),
    TrainingLayout(
        name="an Ollama Modelfile",
        signs=(r"Modelfile",),
        to_do='ollama create NAME -f {folder}/{sign}, and an entry of bench.toml: kind = "ollama"',
    ),
    TrainingLayout(
        name="a Lightning checkpoint",
        signs=(r"[^/]*\.ckpt",),
        to_do="load the state_dict of {sign} into the model, without the prefix that the module"
        " gave it, and save_pretrained(FOLDER)",
    ),
    TrainingLayout(
        name="torch tensors without a configuration",
        signs=(
            r"([^/]*[-_.])?(model|state_dict|weights|checkpoint|ckpt|step|epoch|iter|last|best|final)"
            r"[-_=.]?\w*\.pth?",
        ),
        to_do="load {sign} into the model and save_pretrained(FOLDER)",
    ),
)
"""Layouts in the order in which they are tried: the more specific first."""

_DEEPEST = 2  # levels of subfolders that are listed: iter_0000500/mp_rank_00/
_MOST_NAMES = 50_000  # listed at most, upper levels first: a folder may hold a data set


def layout_of(folder: Path) -> UnconvertedFolder | None:
    """Recognize the layout of a folder without a model; None if there is none to convert.

    Raises:
        OSError: If the folder cannot be read.
    """
    listed = islice(_walk_names(folder), _MOST_NAMES)
    names = sorted(listed, key=lambda name: (name.count("/"), name))
    for layout in LAYOUTS:
        signs = re.compile("|".join(layout.signs))
        if sign := next(filter(signs.fullmatch, names), ""):
            if any(map(re.compile(layout.unless).fullmatch, names)):
                return None
            at = (folder / sign).parent
            to_do = layout.to_do.format(folder=folder, sign=sign, at=at)
            return UnconvertedFolder(says=f"{folder}: {layout.name}; {to_do}", parts=layout.parts)
    return None


def _walk_names(folder: Path) -> Iterator[str]:
    """File names relative to the folder, level by level."""
    level = [""]
    for _ in range(_DEEPEST + 1):
        subfolders: list[str] = []
        for prefix in level:
            # scandir needs no stat per file.
            with os.scandir(folder / prefix) as entries:
                for found in entries:
                    if not _is_folder(found):
                        yield f"{prefix}{found.name}"
                    elif found.name[0] != "." and not found.is_symlink():
                        subfolders.append(f"{prefix}{found.name}/")
        level = subfolders


def _is_folder(found: "os.DirEntry[str]") -> bool:
    try:
        return found.is_dir()
    except OSError:  # a link that leads back to itself
        return False
