"""A tiny checkpoint of any architecture that transformers knows, from its own classes.

The configuration's defaults are shrunk by what their names say, the tokenizer gets every control
token that the processor names, and the processor's files are what its own classes default to. What
an architecture needs beside that is a row of ``architectures.ROWS``.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
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
    tokenizer,
    write_json,
)

_EOS, _BOS, _PAD, _UNK = "</s>", "<s>", "<pad>", "<unk>"
_FRAME = (_PAD, _BOS, _EOS, _UNK, "<|im_start|>", "<|im_end|>")
_LITERAL = re.compile(r"""["'](<[^"'\s<>]{1,40}>|\[[A-Z_]+\])["']""")
_ATTRIBUTE = re.compile(r"tokenizer\.(\w+_token)(?:_id)?\b")
_ID = re.compile(r"(\w+_token)_(?:id|index)")
_READ_ALL_THE_SAME = ("vision_start_token_id", "vision_end_token_id")  # by some that have no field
_ORDINARY = {"bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token"}

_SIZES: tuple[tuple[str, Any], ...] = (
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
    """Write a checkpoint of an architecture; ``seed`` draws other weights.

    Raises:
        NotBuiltError: If transformers has no processor for it, or the sizes do not fit.
        ImportError: If a package is missing.
    """
    import transformers
    from huggingface_hub.errors import StrictDataclassError
    from transformers import CONFIG_MAPPING
    from transformers.models.auto import modeling_auto

    kinds = {
        **modeling_auto.MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES,
        **modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    }
    row, kind = ROWS.get(model_type, Row()), CONFIG_MAPPING[model_type]
    words, names = _words(row, kind, _processor_class(model_type, row))
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", {"model_type": model_type})
    _save_processor(model_type, folder, row, words)
    try:
        processor = _loaded(folder)
    except (ValueError, OSError) as error:
        raise NotBuiltError(f"no tiny processor: {str(error).partition(' in /')[0]}") from error
    place = row.place or str(getattr(processor, "image_token", ""))
    if row.template == "own":
        template = _TURNS.replace("IMAGE", place)
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    own = row.config(words) if callable(row.config) else row.config
    shrunk = _merged(_shrunk(kind(), words), own)
    try:
        config = kind(**_with_ids(shrunk, kind(), processor, words, names))
    except (ValueError, StrictDataclassError) as error:
        raise NotBuiltError(
            f"no tiny configuration: {str(error).splitlines()[-1].strip()}"
        ) from error
    save_model(folder, getattr(transformers, kinds[model_type]), config, words, seed=seed)


_TURNS = (
    "{%- for message in messages %}{{- '<|im_start|>' + message['role'] + '\\n' }}"
    "{%- if message['content'] is string %}{{- message['content'] }}{%- else %}"
    "{%- for part in message['content'] %}{%- if part['type'] == 'image' %}{{- 'IMAGE' }}"
    "{%- else %}{{- part['text'] }}{%- endif %}{%- endfor %}{%- endif %}{{- '<|im_end|>\\n' }}"
    "{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
)


def _processor_class(model_type: str, row: Row) -> Any:
    from transformers.models.auto.processing_auto import (
        PROCESSOR_MAPPING_NAMES,
        processor_class_from_name,
    )

    name = row.kind or PROCESSOR_MAPPING_NAMES.get(model_type)
    if name is None:
        raise NotBuiltError("transformers maps no processor to it")
    found = processor_class_from_name(name)
    if found.__name__ == "Placeholder":
        raise NotBuiltError("its processor needs torchvision")
    if "image_processor" not in found.get_attributes():
        raise NotBuiltError("its processor takes no images")
    return found


def _words(row: Row, config: Any, processor: Any) -> tuple[Any, dict[str, str]]:
    """Make a tokenizer with the control tokens that processor and configuration name."""
    source = inspect.getsource(processor)
    defaults = {
        name: given.default
        for name, given in inspect.signature(processor.__init__).parameters.items()
        if name.endswith("_token") and isinstance(given.default, str)
    }
    wanted = [*_ATTRIBUTE.findall(source), *(match[1] for match in _ids(config()))]
    names = {name: f"<|{name}|>" for name in wanted if name not in _ORDINARY} | defaults
    names |= row.names
    literals = [token for token in _LITERAL.findall(source) if "{" not in token]
    special = dict.fromkeys((*_FRAME, *names.values(), *row.special, *literals))
    words = tokenizer(tuple(special), bos=_BOS, eos=_EOS, pad=_PAD, names=names)
    words.unk_token = _UNK
    return words, names


def _ids(config: Any) -> Iterator[tuple[str, str]]:
    """Fields of a configuration that hold the id of a control token, and the token's name."""
    for name in (*vars(config), *_READ_ALL_THE_SAME):
        if (found := _ID.fullmatch(name)) and found[1] not in _ORDINARY:
            yield name, found[1]


def _save_processor(model_type: str, folder: Path, row: Row, words: Any) -> None:
    from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES
    from transformers.models.auto.video_processing_auto import VIDEO_PROCESSOR_MAPPING_NAMES

    own = IMAGE_PROCESSOR_MAPPING_NAMES.get(model_type) or {}
    kind = row.image_kind or own.get("torchvision") or own.get("pil") or ""
    processor = _processor_class(model_type, row)
    given = inspect.signature(processor.__init__).parameters
    usual: dict[str, Any] = {"patch_size": PATCH, "image_size": SIDE, "img_size": SIDE}
    settings = {name: value for name, value in usual.items() if name in given}
    if "num_additional_image_tokens" in given:
        settings |= {"num_additional_image_tokens": 1, "vision_feature_select_strategy": "default"}
    files: dict[str, Settings] = {"processor_config": settings | dict(row.processor)}
    if video := VIDEO_PROCESSOR_MAPPING_NAMES.get(model_type):
        files["video_preprocessor_config"] = {"video_processor_type": video}
    image = {"image_processor_type": kind, **_image_settings(kind), **row.image}
    save_processor(folder, processor.__name__, words, image, None, **files)


def _image_settings(kind: str) -> dict[str, Any]:
    """Shrink what an image processor resizes to."""
    import transformers

    found: Any = None
    for name in (kind, f"{kind}Pil"):
        try:
            found = getattr(transformers, name)
            vars_of = {n: getattr(found, n, None) for n in ("size", "crop_size", "patch_size")}
            break
        except (AttributeError, ImportError):
            continue
    else:
        return {}
    settings: dict[str, Any] = {}
    for name in ("size", "crop_size"):
        sides = vars_of[name]
        if isinstance(sides, int):
            settings[name] = SIDE
        elif isinstance(sides, Mapping):
            settings[name] = _smaller(sides)
    if vars_of["patch_size"]:
        settings["patch_size"] = PATCH
    return settings


def _smaller(sides: Mapping[str, int]) -> dict[str, int]:
    if set(sides) == {"shortest_edge", "longest_edge"} and sides["longest_edge"] > 4096:  # areas
        return {"shortest_edge": 4 * (2 * PATCH) ** 2, "longest_edge": 64 * (2 * PATCH) ** 2}
    return {name: SIDE for name in sides}


def _loaded(folder: Path) -> Any:
    """The processor as the engine loads it."""
    from bench_resources.checkpoints.identity import Checkpoint
    from bench_resources.config.sections.local_models import TransformersSpec
    from bench_resources.models.transformers.processor import load_processor

    spec = TransformersSpec(kind="transformers", path=str(folder), chat_template="plain")
    return load_processor(spec, Checkpoint(location=str(folder), content=""))


def _shrunk(config: Any, words: Any) -> dict[str, Any]:
    """Settings of a configuration and its parts that make it tiny."""
    from transformers import PreTrainedConfig

    settings: dict[str, Any] = {}
    for name, value in vars(config).items():
        if isinstance(value, PreTrainedConfig):
            part = _shrunk(value, words)
            settings[name] = {"model_type": value.model_type, **part} if value.model_type else part
        elif name in ("layer_types", "mlp_layer_types", "layers_block_type", "indexer_types"):
            settings[name] = _two_of(value) if value else value
        elif name in ("bos_token_id", "eos_token_id", "pad_token_id"):
            settings[name] = getattr(words, name)
        elif name == "rope_parameters" and "mrope_section" in (value or {}):
            settings[name] = {**value, "mrope_section": [2, 3, 3], "partial_rotary_factor": 1.0}
        elif value is not None and not isinstance(value, bool):
            settings |= _sized(name, value, len(words))
    return settings


def _two_of(kinds: list[str]) -> list[str]:
    different = list(dict.fromkeys(kinds))
    return (different + different)[:2]


def _sized(name: str, value: Any, vocabulary: int) -> dict[str, Any]:
    for pattern, small in _SIZES:
        if re.fullmatch(pattern, name):
            size = vocabulary if small is None else small
            if isinstance(value, (list, tuple)) and not isinstance(size, list):
                return {name: [size] * len(value)}
            return {name: size}
    return {}


def _merged(settings: Settings, more: Settings) -> dict[str, Any]:
    merged = dict(settings)
    for name, value in more.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(name), Mapping)
        merged[name] = _merged(merged[name], value) if both else value
    return merged


def _with_ids(
    settings: dict[str, Any], config: Any, processor: Any, words: Any, names: Settings
) -> dict[str, Any]:
    """Say which tokens the processor writes for images."""
    found: dict[str, int] = {}
    for name, attribute in _ids(config):
        known = getattr(processor, f"{attribute}_id", None)
        token = getattr(processor, attribute, None) or names.get(attribute)
        found[name] = known if isinstance(known, int) else words.convert_tokens_to_ids(str(token))
    if part := settings.get("thinker_config"):
        arguments = (part, config.thinker_config, processor, words, names)
        settings = {**settings, "thinker_config": _with_ids(*arguments)}
    return {**found, **settings}
