"""Kinds of checkpoints that are not vision-language models, by class in transformers."""

from collections.abc import Iterator, Mapping
from typing import Any

_SEEING_PARTS = ("vision_config", "thinker_config")  # of models of text, images and audio
_TEXT_ONLY_ADVICE = "text_only = true (--model PATH,text_only=true) evaluates it without images"


def describe_wrong_kind(config: Mapping[str, Any], *, text_only: bool) -> str:
    """Describe a checkpoint of the wrong kind and what to do; "" if the kind may be right."""
    if not config or "auto_map" in config:
        return ""  # its own code decides
    if reason := _unreadable_reason(config):
        return reason
    name = architecture_of(config)
    tasks = list(_tasks_of_class(name))
    may_see = any(part in config for part in _SEEING_PARTS)
    if "IMAGE_TEXT_TO_TEXT" in tasks or ("MULTIMODAL_LM" in tasks and may_see):
        return ""
    if "CAUSAL_LM" in tasks:
        message = f"{name} is a language model and takes no images; {_TEXT_ONLY_ADVICE}"
        return "" if text_only else message
    if "ZERO_SHOT_IMAGE_CLASSIFICATION" in tasks:
        return (
            f"{name} embeds images and texts and generates none. To evaluate it on retrieval, name"
            " it in [suites.journeybench.encoders]"
        )
    return f"{name} answers no questions about images: no benchmark here applies" if tasks else ""


def architecture_of(config: Mapping[str, Any]) -> str:
    """The first class that a configuration names; "" if it names none.

    >>> architecture_of({"architectures": ["LlavaForConditionalGeneration"]})
    'LlavaForConditionalGeneration'
    """
    match config:
        case {"architectures": [str(name), *_]}:
            return name
    return ""


def _unreadable_reason(config: Mapping[str, Any]) -> str:
    """Reason why transformers cannot read a configuration; "" if it can."""
    from transformers import CONFIG_MAPPING, __version__

    if "quantization" in config and "quantization_config" not in config:
        return (
            "weights quantised by MLX, which transformers does not read. Serve it:"
            ' kind = "server", serve = "mlx_vlm.server --model {path} --port {port}"'
        )
    if not (model_type := config.get("model_type")):
        return "config.json has no model_type: not a checkpoint of transformers"
    if model_type not in CONFIG_MAPPING:
        return (
            f"transformers {__version__} does not support model_type {model_type}. Upgrade it,"
            ' or serve the checkpoint (kind = "server")'
        )
    return ""


def _tasks_of_class(class_name: str) -> Iterator[str]:
    """The tasks for which transformers lists a model class, such as "CAUSAL_LM"."""
    from transformers.models.auto import modeling_auto

    for variable, mapping in vars(modeling_auto).items():
        is_mapping = variable.startswith("MODEL_") and variable.endswith("MAPPING_NAMES")
        if is_mapping and any(class_name in _as_tuple(classes) for classes in mapping.values()):
            yield variable.removesuffix("_MAPPING_NAMES").removeprefix("MODEL_FOR_")


def _as_tuple(classes: str | tuple[str, ...]) -> tuple[str, ...]:
    return (classes,) if isinstance(classes, str) else tuple(classes)
