"""A tiny checkpoint of any architecture that transformers knows, from its own classes.

The configuration's defaults are shrunk by the names of the settings, the tokenizer gets every
control token that the processor names, and the processor's files hold the defaults of its classes.
What an architecture needs beside that is a row of ``architectures.ROWS``.
"""

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.families.architectures import ROWS, Row, Settings
from tests.families.parts import (
    CONTEXT,
    PATCH,
    SIDE,
    WIDTH,
    save_model,
    save_processor,
    train_tokenizer,
    write_json,
)

_EOS, _BOS, _PAD, _UNK = "</s>", "<s>", "<pad>", "<unk>"
_FRAME = (_PAD, _BOS, _EOS, _UNK, "<|im_start|>", "<|im_end|>")
_LITERAL = re.compile(r"""["'](<[^"'\s<>]{1,40}>|\[[A-Z_]+\])["']""")
_ATTRIBUTE = re.compile(r"tokenizer\.(\w+_token)(?:_id)?\b")
_ID = re.compile(r"(\w+_token)_(?:id|index)")
# Some models read these, though their configuration has no such field.
_UNDECLARED = ("vision_start_token_id", "vision_end_token_id")
_ORDINARY = {"bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token"}

_SIZES: tuple[tuple[str, Any], ...] = (  # pattern of a setting's name, its value
    (
        r"(\w*_)?(hidden_sizes?|d_model|embed_dim|hidden_dim)|word_embed_proj_dim|projection_dim",
        WIDTH,
    ),
    (r"(image_text|text|out|projector|projection|encoder|merged|conv)_(hidden_size|dim)", WIDTH),
    (r"(\w*_)?(intermediate_size|ffn_dim|mlp_dim)", 2 * WIDTH),
    (r"(\w*_)?(hidden_layers|n_layers?|resampler_depth)|num_layers|layers|depth", 2),
    (r"(\w*_)?((num_)?(attention_|key_value_|linear_)?heads|n_heads?)|linear_num_\w+_heads", 2),
    (r"(\w*_)?head_dim", 16),
    (r"num_experts|n_routed_experts|num_local_experts|moe_num_experts", 4),
    (r"num_experts_per_tok|moe_topk|moe_k", 2),
    (r"image_size", SIDE),
    (r"patch_size", PATCH),
    (r"max_position_embeddings", CONTEXT),
    (r"vocab_size_per_layer_input|vocab_size", None),  # as many as there are tokens
    (r"num_position_embeddings", 256),
    (r"deepstack_visual_indexes", [0, 1]),
    (r"fullatt_block_indexes|global_attn_indexes", [1]),
    (r"kv_lora_rank|q_lora_rank", 16),
    (r"output_channels", WIDTH),
)


class NotBuiltError(Exception):
    """No tiny checkpoint of an architecture can be built here."""


def build(model_type: str, folder: Path, seed: int = 0) -> None:
    """Write a checkpoint of an architecture; ``seed`` is that of its weights.

    Raises:
        NotBuiltError: If transformers has no processor for it, or the sizes do not fit.
        ImportError: If a package is missing.
    """
    import transformers
    from huggingface_hub.errors import StrictDataclassError
    from transformers import CONFIG_MAPPING
    from transformers.models.auto import modeling_auto

    model_classes = {
        **modeling_auto.MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES,
        **modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    }
    row = ROWS.get(model_type, Row())
    config_class = CONFIG_MAPPING[model_type]
    tokenizer, names = _make_tokenizer(row, config_class, _processor_class(model_type, row))
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", {"model_type": model_type})
    _save_processor(model_type, folder, row, tokenizer)
    try:
        processor = _load_processor(folder)
    except (ValueError, OSError) as error:
        raise NotBuiltError(f"no tiny processor: {str(error).partition(' in /')[0]}") from error
    if row.template == "own":
        image_place = row.image_place or str(getattr(processor, "image_token", ""))
        template = _TURNS.replace("IMAGE", image_place)
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    row_settings = row.config(tokenizer) if callable(row.config) else row.config
    settings = _merge(_shrink(config_class(), tokenizer), row_settings)
    try:
        config = config_class(
            **_add_token_ids(settings, config_class(), processor, tokenizer, names)
        )
    except (ValueError, StrictDataclassError) as error:
        raise NotBuiltError(
            f"no tiny configuration: {str(error).splitlines()[-1].strip()}"
        ) from error
    model_class = getattr(transformers, model_classes[model_type])
    save_model(folder, model_class, config, tokenizer, seed=seed)


_TURNS = (
    "{%- for message in messages %}{{- '<|im_start|>' + message['role'] + '\\n' }}"
    "{%- if message['content'] is string %}{{- message['content'] }}{%- else %}"
    "{%- for part in message['content'] %}{%- if part['type'] == 'image' %}{{- 'IMAGE' }}"
    "{%- else %}{{- part['text'] }}{%- endif %}{%- endfor %}{%- endif %}{{- '<|im_end|>\\n' }}"
    "{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
)


def _processor_class(model_type: str, row: Row) -> Any:
    """The class of an architecture's processor; raises NotBuiltError if it is of no use here."""
    from transformers.models.auto.processing_auto import (
        PROCESSOR_MAPPING_NAMES,
        processor_class_from_name,
    )

    name = row.processor_class or PROCESSOR_MAPPING_NAMES.get(model_type)
    if name is None:
        raise NotBuiltError("transformers maps no processor to it")
    processor_class = processor_class_from_name(name)
    if processor_class.__name__ == "Placeholder":
        raise NotBuiltError("its processor needs torchvision")
    if "image_processor" not in processor_class.get_attributes():
        raise NotBuiltError("its processor takes no images")
    return processor_class


def _make_tokenizer(
    row: Row, config_class: Any, processor_class: Any
) -> tuple[Any, dict[str, str]]:
    """Train a tokenizer with the control tokens that processor and configuration name.

    Returns:
        The tokenizer, and the control tokens by the name of the tokenizer's attribute.
    """
    source = inspect.getsource(processor_class)
    attributes = [*_ATTRIBUTE.findall(source), *_token_id_fields(config_class()).values()]
    names = {name: f"<|{name}|>" for name in attributes if name not in _ORDINARY}
    for name, parameter in inspect.signature(processor_class.__init__).parameters.items():
        if name.endswith("_token") and isinstance(parameter.default, str):
            names[name] = parameter.default
    names |= row.names
    literals = [token for token in _LITERAL.findall(source) if "{" not in token]
    special = dict.fromkeys((*_FRAME, *names.values(), *row.special, *literals))
    tokenizer = train_tokenizer(tuple(special), bos=_BOS, eos=_EOS, pad=_PAD, names=names)
    tokenizer.unk_token = _UNK
    return tokenizer, names


def _token_id_fields(config: Any) -> dict[str, str]:
    """Fields of a configuration that hold the id of a control token -> name of the token."""
    tokens = {}
    for field in (*vars(config), *_UNDECLARED):
        match = _ID.fullmatch(field)
        if match and match[1] not in _ORDINARY:
            tokens[field] = match[1]
    return tokens


def _save_processor(model_type: str, folder: Path, row: Row, tokenizer: Any) -> None:
    """Write the processor's files with the settings that its constructors take."""
    from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES
    from transformers.models.auto.video_processing_auto import VIDEO_PROCESSOR_MAPPING_NAMES

    mapped = IMAGE_PROCESSOR_MAPPING_NAMES.get(model_type) or {}
    image_class = row.image_processor_class or mapped.get("torchvision") or mapped.get("pil") or ""
    processor_class = _processor_class(model_type, row)
    parameters = inspect.signature(processor_class.__init__).parameters
    sizes: dict[str, Any] = {"patch_size": PATCH, "image_size": SIDE, "img_size": SIDE}
    settings = {name: value for name, value in sizes.items() if name in parameters}
    if "num_additional_image_tokens" in parameters:
        settings |= {"num_additional_image_tokens": 1, "vision_feature_select_strategy": "default"}
    files: dict[str, Settings] = {"processor_config": settings | dict(row.processor)}
    if video := VIDEO_PROCESSOR_MAPPING_NAMES.get(model_type):
        files["video_preprocessor_config"] = {"video_processor_type": video}
    image = {"image_processor_type": image_class, **_image_settings(image_class), **row.image}
    save_processor(folder, processor_class.__name__, tokenizer, image, None, **files)


def _image_settings(image_class: str) -> dict[str, Any]:
    """Small values for the sizes that an image processor has by default."""
    defaults = _image_defaults(image_class)
    settings: dict[str, Any] = {}
    for name in ("size", "crop_size"):
        sides = defaults.get(name)
        if isinstance(sides, int):
            settings[name] = SIDE
        elif isinstance(sides, Mapping):
            settings[name] = _smaller(sides)
    if defaults.get("patch_size"):
        settings["patch_size"] = PATCH
    return settings


def _image_defaults(image_class: str) -> dict[str, Any]:
    """Default sizes of an image processor, or of its variant without torchvision; {} if neither."""
    import transformers

    for name in (image_class, f"{image_class}Pil"):
        try:
            processor = getattr(transformers, name)
            return {
                name: getattr(processor, name, None) for name in ("size", "crop_size", "patch_size")
            }
        except (AttributeError, ImportError):
            continue
    return {}


def _smaller(sides: Mapping[str, int]) -> dict[str, int]:
    # Beyond 4096 the two edges are areas in px: here 4 to 64 squares of two patches a side.
    if set(sides) == {"shortest_edge", "longest_edge"} and sides["longest_edge"] > 4096:
        return {"shortest_edge": 4 * (2 * PATCH) ** 2, "longest_edge": 64 * (2 * PATCH) ** 2}
    return {name: SIDE for name in sides}


def _load_processor(folder: Path) -> Any:
    """Load the processor as the engine does."""
    from bench_resources.checkpoints.identity import Checkpoint
    from bench_resources.config.sections.local_models import TransformersSpec
    from bench_resources.models.transformers.processor import load_processor

    spec = TransformersSpec(kind="transformers", path=str(folder), chat_template="plain")
    return load_processor(spec, Checkpoint(location=str(folder), content=""))


def _shrink(config: Any, tokenizer: Any) -> dict[str, Any]:
    """Settings that make a configuration and those nested in it tiny."""
    from transformers import PreTrainedConfig

    settings: dict[str, Any] = {}
    for name, value in vars(config).items():
        if isinstance(value, PreTrainedConfig):
            settings[name] = _shrink(value, tokenizer)
            if value.model_type:
                settings[name]["model_type"] = value.model_type
        elif name in ("layer_types", "mlp_layer_types", "layers_block_type", "indexer_types"):
            settings[name] = _two_layers(value) if value else value
        elif name in ("bos_token_id", "eos_token_id", "pad_token_id"):
            settings[name] = getattr(tokenizer, name)
        elif name == "rope_parameters" and "mrope_section" in (value or {}):
            settings[name] = {**value, "mrope_section": [2, 3, 3], "partial_rotary_factor": 1.0}
        elif value is not None and not isinstance(value, bool):
            settings |= _shrink_size(name, value, len(tokenizer))
    return settings


def _two_layers(layer_types: list[str]) -> list[str]:
    """The first two different types of layers, or the only one twice."""
    distinct = list(dict.fromkeys(layer_types))
    return distinct[:2] if len(distinct) > 1 else distinct * 2


def _shrink_size(name: str, value: Any, vocabulary: int) -> dict[str, Any]:
    """A small value for a setting that is a size; {} for any other."""
    for pattern, small in _SIZES:
        if re.fullmatch(pattern, name):
            size = vocabulary if small is None else small
            if isinstance(value, (list, tuple)) and not isinstance(size, list):
                return {name: [size] * len(value)}
            return {name: size}
    return {}


def _merge(settings: Settings, overrides: Settings) -> dict[str, Any]:
    """Replace settings, also those of nested configurations."""
    merged = dict(settings)
    for name, value in overrides.items():
        is_nested = isinstance(value, Mapping) and isinstance(merged.get(name), Mapping)
        merged[name] = _merge(merged[name], value) if is_nested else value
    return merged


def _add_token_ids(
    settings: dict[str, Any], config: Any, processor: Any, tokenizer: Any, names: Settings
) -> dict[str, Any]:
    """Add the ids of the control tokens that the processor writes."""
    token_ids: dict[str, int] = {}
    for field, attribute in _token_id_fields(config).items():
        token_id = getattr(processor, f"{attribute}_id", None)
        if not isinstance(token_id, int):
            token = getattr(processor, attribute, None) or names.get(attribute)
            token_id = tokenizer.convert_tokens_to_ids(str(token))
        token_ids[field] = token_id
    if thinker := settings.get("thinker_config"):
        arguments = (thinker, config.thinker_config, processor, tokenizer, names)
        settings = {**settings, "thinker_config": _add_token_ids(*arguments)}
    return {**token_ids, **settings}
