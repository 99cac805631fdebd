"""Layouts of training frameworks, and one sentence on each.

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
    """A layout that is no checkpoint yet."""

    name: str
    signs: tuple[str, ...]  # patterns, one of which has to match
    about: str  # one sentence; format string of {folder} and {sign}, the matching file
    parts: str = ""  # pattern of subfolders without models
    unless: str = "(?!)"  # pattern of converted weights, with which the layout does not apply


@dataclass(frozen=True, slots=True, kw_only=True)
class UnconvertedFolder:
    """A folder that is no checkpoint yet."""

    says: str  # layout, and the sentence on it
    parts: str  # pattern of subfolders without models


_ZERO = r"(bf16_|fp16_)?(zero_pp_rank_\d+_)?mp_rank_\d+(_model|_optim)_states\.pt"
_DCP = r"(\.metadata|__\d+_\d+\.distcp)"
_RANK = r"mp_rank_\d+(_\d+)*/(model_optim_rng|model_rng|distrib_optim)\.pt"

LAYOUTS: tuple[TrainingLayout, ...] = (
    TrainingLayout(
        name="an incomplete download",
        signs=(r"[^/]*\.(safetensors|bin|gguf|pth?)\W?[\w-]*\.?(incomplete|part|partial|aria2)",),
        about="wait for {sign}, or restart the download",
    ),
    TrainingLayout(
        name="verl FSDP shards",
        signs=(r"model_world_size_\d+_rank_\d+\.pt",),
        unless=r"huggingface/(pytorch_)?model\b.*\.(safetensors|bin)",
        about="each file has one rank's part of the weights, and verl's model merger joins them",
    ),
    TrainingLayout(
        name="DeepSpeed ZeRO, weights not gathered",
        signs=(rf"global_step\d+/{_ZERO}", r"zero_to_fp32\.py"),
        about="DeepSpeed's zero_to_fp32.py joins the parts of the ranks",
        parts=r"global_step\d+",
    ),
    TrainingLayout(
        name="a DeepSpeed ZeRO step, weights not gathered",
        signs=(_ZERO,),
        about="DeepSpeed's zero_to_fp32.py joins the parts of the ranks, and configuration and"
        " tokenizer have to be added",
    ),
    TrainingLayout(
        name="Megatron shards",
        signs=(
            r"latest_checkpointed_iteration\.txt",
            rf"(iter_\d+|release)/({_RANK}|{_DCP})",
            _RANK,
            r"common\.pt",
        ),
        about="the trainer's own export makes a checkpoint for transformers of them",
        parts=r"iter_\d+|release|mp_rank_\d+.*",
    ),
    TrainingLayout(
        name="FSDP shards",
        signs=(rf"pytorch_model_fsdp(_\d+)?/{_DCP}",),
        about="each file has one rank's part of the weights, and Accelerate's merge-weights joins"
        " them",
        parts=r"pytorch_model_fsdp(_\d+)?|optimizer(_\d+)?",
    ),
    TrainingLayout(
        name="an FSDP full state",
        signs=(r"pytorch_model_fsdp(_\d+)?\.bin",),
        about="load {sign} into the model and save_pretrained(FOLDER)",
    ),
    TrainingLayout(
        name="a Composer checkpoint",
        signs=(r"(ep\d+-ba\d+|latest|best)-rank\d+\.pt(\.\w+)?",),
        about="LLM Foundry's convert_composer_to_hf makes a checkpoint for transformers of {sign}",
    ),
    TrainingLayout(
        name="an Orbax checkpoint of JAX",
        signs=(r"((default|params|items|state)/)?(_CHECKPOINT_METADATA|manifest\.ocdbt)",),
        about="the trainer's own export makes a checkpoint for transformers of it",
        parts=r"d|default|params|items|state|ocdbt\.process_\d+|array_metadatas",
    ),
    TrainingLayout(
        name="an EXL2 quantization",
        signs=(r"output(-\d{5}-of-\d{5})?\.safetensors",),
        about="only ExLlamaV2 reads it: serve it, or use the checkpoint that it was made of",
    ),
    TrainingLayout(
        name="an OpenVINO export",
        signs=(r"openvino_\w*model\.(xml|bin)",),
        about="use the checkpoint that it was exported from, with model.safetensors",
    ),
    TrainingLayout(
        name="torch.distributed.checkpoint shards (FSDP 2, torchtitan)",
        signs=(_DCP, rf"(model|weights|app)/{_DCP}"),
        about="each file has one rank's part of the weights, and torch.distributed.checkpoint joins"
        " them",
        parts=r"model|weights|app|optim.*",
    ),
    TrainingLayout(
        name="weights in the format of Meta or Mistral",
        signs=(r"consolidated([.-][\w-]+)?\.(pth|safetensors)",),
        about="expected the release for transformers, with model.safetensors",
    ),
    TrainingLayout(
        name="GGUF weights only",
        signs=(r"(?![^/]*mmproj)[^/]*\.gguf",),
        about='write an entry of bench.toml: path = "{folder}", gguf_file = "{sign}"',
    ),
    TrainingLayout(
        name="an image projector in GGUF without its model",
        signs=(r"[^/]*mmproj[^/]*\.gguf",),
        about="add the GGUF file of the text model to {sign}",
    ),
    TrainingLayout(
        name="a diffusers pipeline",
        signs=(r"model_index\.json",),
        about="it generates images and answers no questions: use a vision-language model",
        parts=r".*",
    ),
    TrainingLayout(
        name="an OpenCLIP model, which embeds images and texts",
        signs=(r"open_clip_config\.json",),
        about="expected a CLIPModel of transformers, named in [suites.journeybench.encoders]",
    ),
    TrainingLayout(
        name="an ONNX export",
        signs=(r"(onnx/)?[^/]*\.onnx",),
        about="use the checkpoint that it was exported from, with model.safetensors",
        parts=r"onnx",
    ),
    TrainingLayout(
        name="TensorFlow or Flax weights",
        signs=(r"tf_model\.h5|flax_model\.msgpack|saved_model\.pb|[^/]*\.keras",),
        about="transformers reads them up to version 4, and this package needs version 5",
    ),
    TrainingLayout(
        name="a NeMo archive",
        signs=(r"[^/]*\.nemo",),
        about="NeMo's export makes a checkpoint for transformers of {sign}, or serve it",
    ),
    TrainingLayout(
        name="an Ollama Modelfile",
        signs=(r"Modelfile",),
        about='create a model of Ollama from it, and write an entry of bench.toml: kind = "ollama"',
    ),
    TrainingLayout(
        name="a Lightning checkpoint",
        signs=(r"[^/]*\.ckpt",),
        about="{sign} has the weights under the names of the training module, not of transformers",
    ),
    TrainingLayout(
        name="torch tensors without a configuration",
        signs=(
            r"([^/]*[-_.])?(model|state_dict|weights|checkpoint|ckpt|step|epoch|iter|last|best|final)"
            r"[-_=.]?\w*\.pth?",
        ),
        about="load {sign} into the model and save_pretrained(FOLDER)",
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
            about = layout.about.format(folder=folder, sign=sign)
            return UnconvertedFolder(says=f"{folder}: {layout.name}; {about}", parts=layout.parts)
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
