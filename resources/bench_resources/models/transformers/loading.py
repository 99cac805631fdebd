"""Loads the weights of a checkpoint of any family, precision or adapter."""

import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bench_assets.core.extras import require_extra
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.files import LAYERS
from bench_resources.checkpoints.hub_access import find_file, first_line, hub_access
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.checkpoints.torchvision_operators import enable_torchvision, require_local
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.nan_checks import refuse_infinite_weights

if TYPE_CHECKING:
    from torch.nn import Module
    from transformers import PretrainedConfig, PreTrainedModel

_log = logging.getLogger("bench_assets.checkpoints")

_SHOWN = 3  # names of tensors in an error
_SCALE = re.compile(
    r"_scale_inv$|\.((weight|input)_scale(_2)?|qweight|q?scales|qzeros|absmax|SCB)$"
)
_TERMINAL_STYLE = re.compile(r"\x1b\[\d+m")
_reported: set[str] = set()


@contextmanager
def hold_load_report(location: str) -> Iterator[None]:
    """Hold back transformers' load report: a ``ModelError`` gets it.

    Without an error, it is logged once per location.
    """
    reports: list[str] = []

    def hold(record: logging.LogRecord) -> bool:
        text = record.getMessage()
        if " LOAD REPORT" not in text:
            return True
        reports.append(_TERMINAL_STYLE.sub("", text).strip())
        return False

    logger = logging.getLogger("transformers.modeling_utils")
    logger.addFilter(hold)
    try:
        yield
    except ModelError as error:
        error.args = ("\n".join([str(error), *reports[:1]]),)
        raise
    finally:
        logger.removeFilter(hold)
    if reports and location not in _reported:
        _reported.add(location)
        _log.warning("%s loads, and transformers reports:\n%s", location, reports[0])


@hub_access()
def load_weights(spec: TransformersSpec, checkpoint: Checkpoint) -> "PreTrainedModel":
    """Load weights onto their device.

    Raises:
        ModelError: If the family is unknown, a package is missing or broken, the hub fails, the
            adapter does not fit, or tensors are missing, unscaled, misshapen, NaN or infinite.
        Exception: Errors of transformers for invalid files.
    """
    enable_torchvision()
    import torch
    from transformers import AutoConfig

    device = device_of(spec.device)
    arguments: dict[str, Any] = {
        "revision": checkpoint.revision,
        "trust_remote_code": spec.trust_remote_code,
    }
    if spec.gguf_file:
        arguments["gguf_file"] = spec.gguf_file
    config = AutoConfig.from_pretrained(checkpoint.location, **arguments)
    if thinker := getattr(config, "thinker_config", None):  # Qwen-Omni; the rest generates speech
        config = arguments["config"] = thinker
    model, loading = _class_for(spec, checkpoint, config).from_pretrained(
        checkpoint.location,
        dtype=getattr(torch, dtype_of(spec)),
        device_map=device,
        attn_implementation=None if spec.attention == "auto" else spec.attention,
        ignore_mismatched_sizes=True,  # else the error of transformers names no tensor
        output_loading_info=True,
        **arguments,
    )
    refuse_unscaled(checkpoint.location, config, loading["unexpected_keys"])
    refuse_incomplete(checkpoint.location, loading)
    refuse_infinite_weights(model, checkpoint.location)
    if checkpoint.adapter:
        model = _apply_adapter(spec, checkpoint, model)
    if hasattr(config, "quantization_config") and not getattr(model, "is_quantized", False):
        model = model.to(getattr(torch, dtype_of(spec)))  # dequantised, but still in its own dtype
    return model.eval()


def refuse_incomplete(location: str, loading: Mapping[str, Any]) -> None:
    """Refuse a model with randomly initialized tensors.

    Raises:
        ModelError: If tensors are missing or of the wrong shape; names some.
    """
    if missing := sorted(loading["missing_keys"]):
        raise ModelError(
            f"{location}: {len(missing)} tensors are missing, such as {', '.join(missing[:_SHOWN])}"
        )
    if misfits := sorted(loading["mismatched_keys"]):
        shapes = [
            f"{name}: {tuple(actual)}, not {tuple(expected)}"
            for name, actual, expected in misfits[:_SHOWN]
        ]
        raise ModelError(
            f"{location}: {len(misfits)} tensors have the wrong shape, such as {'; '.join(shapes)}"
        )


def refuse_unscaled(location: str, config: "PretrainedConfig", unused: Iterable[str]) -> None:
    """Refuse quantised weights that transformers has read without their scales.

    ``unused`` are the names of tensors that belong to no module.

    Raises:
        ModelError: If transformers does not support the method, or ``unused`` has scales and
            ``config`` names no method.
    """
    from transformers.quantizers import AutoHfQuantizer

    problem = ""
    quantization = getattr(config, "quantization_config", None)
    if isinstance(quantization, dict) and not AutoHfQuantizer.supports_quant_method(quantization):
        method = quantization.get("quant_method")
        problem = f"weights quantised by {method}, which transformers does not read"
    elif not quantization:
        scales = sorted(filter(_SCALE.search, unused))
        if scales:
            problem = f"quantised ({scales[0]}), and config.json has no quantization_config"
    if problem:
        raise ModelError(f'{location}: {problem}. Serve it: kind = "vllm"')


def refuse_incomplete_parts(model: "Module", location: str, revision: str | None) -> None:
    """Refuse a model of another library with an incomplete transformers part.

    Such libraries do not pass the loading information on, so the part is loaded again without
    tensors. A pooler may be missing: releases without one do not use it. Raises as
    ``refuse_incomplete``.
    """
    from transformers import PreTrainedModel

    modules = (module for module in model.modules() if isinstance(module, PreTrainedModel))
    part = next(modules, None)  # the others are parts of it
    if part is None:
        return
    _, loading = type(part).from_pretrained(
        part.name_or_path,
        revision=revision or "main",
        subfolder=_subfolder(part.name_or_path, revision),
        device_map="meta",
        ignore_mismatched_sizes=True,
        output_loading_info=True,
    )
    needed = [name for name in loading["missing_keys"] if not name.startswith("pooler.")]
    refuse_incomplete(location, {**loading, "missing_keys": needed})


def _subfolder(location: str, revision: str | None) -> str:
    """Where the transformer of a sentence-transformers model lies; "" at the top."""
    file = find_file(location, LAYERS, revision)
    if not file:
        return ""
    try:
        return str(json.loads(file.read_bytes())[0]["path"])
    except (ValueError, RecursionError, LookupError, TypeError) as error:
        raise ModelError(f"{file}: expected a list of layers: {first_line(error)}") from error


@contextmanager
def loading_errors(location: str) -> Iterator[None]:
    """Raise any error of this block as a ModelError of one sentence."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:  # any exception: formats, families and third-party code
        reason = first_line(error)
        if "trust_remote_code" in str(error):
            reason = (
                "its code comes with the checkpoint; if you trust that code, set"
                " trust_remote_code = true"
            )
        raise ModelError(f"{location}: does not load: {reason}") from error


def device_of(configured: str) -> str:
    """The configured device, or for "auto" the first available one.

    Raises:
        MissingExtraError: If torch, which knows them, is not installed.
    """
    if configured != "auto":
        return configured
    require_local()
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def dtype_of(spec: TransformersSpec) -> str:
    """The configured precision, or bfloat16 on CUDA, else float32.

    Raises:
        MissingExtraError: If torch, which knows the devices, is not installed.
    """
    if spec.dtype != "auto":
        return spec.dtype
    return "bfloat16" if device_of(spec.device).startswith("cuda") else "float32"


def _class_for(spec: TransformersSpec, checkpoint: Checkpoint, config: "PretrainedConfig") -> Any:  # noqa: ANN401 - an Auto class of transformers
    """The Auto class that generates: by family, or the checkpoint's own if trusted."""
    from transformers import (
        MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
        MODEL_FOR_MULTIMODAL_LM_MAPPING,
        AutoModel,
        AutoModelForCausalLM,
        AutoModelForImageTextToText,
        AutoModelForMultimodalLM,
    )

    if spec.text_only:
        return AutoModelForCausalLM
    if type(config) in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING:
        return AutoModelForImageTextToText
    if type(config) in MODEL_FOR_MULTIMODAL_LM_MAPPING:
        return AutoModelForMultimodalLM
    classes = getattr(config, "auto_map", None) or {}
    generating = (AutoModelForImageTextToText, AutoModelForMultimodalLM, AutoModelForCausalLM)
    for auto_class in (*generating, AutoModel):
        if auto_class.__name__ in classes:
            return auto_class
    raise ModelError(
        f"{checkpoint.location}: model_type {config.model_type} is not a vision-language model."
        " For a language model, set text_only = true"
    )


def _apply_adapter(
    spec: TransformersSpec, checkpoint: Checkpoint, model: "PreTrainedModel"
) -> "PreTrainedModel":
    """Apply a PEFT adapter to its base, and merge it if the settings say so.

    Raises:
        ModelError: If it lacks tensors, has others, or has infinite ones; or PEFT is missing.
    """
    require_extra(f"the adapter {checkpoint.adapter}", "peft")
    from peft import PeftModel

    adapted = PeftModel.from_pretrained(model, checkpoint.adapter)
    # Loaded again, because only ``load_adapter`` returns which tensors fit.
    loading = adapted.load_adapter(checkpoint.adapter, adapter_name="default")
    missing = {key for key in loading.missing_keys if "lora_" in key}
    misfits = sorted(missing.union(loading.unexpected_keys))
    if misfits:
        raise ModelError(
            f"{checkpoint.adapter}: does not fit {checkpoint.location}: "
            f"{len(misfits)} tensors such as {', '.join(misfits[:_SHOWN])}"
        )
    refuse_infinite_weights(adapted, checkpoint.adapter)
    return adapted.merge_and_unload() if spec.merge_adapter else adapted
