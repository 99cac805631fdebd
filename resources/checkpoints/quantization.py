"""Requirements of quantized checkpoints by ``quant_method``, as of transformers 5.23."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.files import read_object

Packages: TypeAlias = tuple[tuple[str, str], ...]
"""Modules, and the requirement for pip that installs them."""
Devices: TypeAlias = Literal["any", "cuda", "mps", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizationRequirement:
    """Packages and device of a quantization method."""

    method: str
    packages: Packages = ()
    runs_on: Devices = "any"

    @property
    def missing(self) -> list[str]:
        """Requirements for pip that are not installed."""
        return [pip for module, pip in self.packages if not _is_installed(module)]


_GPTQ: Packages = (("optimum", "optimum"), ("gptqmodel", "gptqmodel"))
_BITSANDBYTES: Packages = (("bitsandbytes", "bitsandbytes>=0.46.1"),)
_KERNELS: Packages = (("kernels", "kernels"),)
_PACKAGES: dict[str, Packages] = {
    "aqlm": (("aqlm", "aqlm[gpu,cpu]"),),
    "auto-round": (("auto_round", "auto-round>=0.5"),),
    "awq": (("gptqmodel", "gptqmodel"),),
    "bitnet": (),
    "bitsandbytes_4bit": _BITSANDBYTES,
    "bitsandbytes_8bit": _BITSANDBYTES,
    "compressed-tensors": (("compressed_tensors", "compressed-tensors>=0.15.0"),),
    "eetq": _KERNELS,
    "fbgemm_fp8": (("fbgemm_gpu", "fbgemm-gpu-genai"),),
    "fouroversix": (("fouroversix", "fouroversix --no-build-isolation"),),
    "fp8": (),
    "fp_quant": (("fp_quant", "fp_quant>=0.3.2"),),
    "gemma": (),
    "gptq": _GPTQ,
    "higgs": (
        ("flute", "flute-kernel>=0.4.1"),
        ("fast_hadamard_transform", "fast_hadamard_transform"),
    ),
    "hqq": (("hqq", "hqq>=0.2.1"),),
    "metal": _KERNELS,
    "mxfp4": (),
    "mxfp8": (),
    "nvfp4": (),
    "quanto": (("optimum.quanto", "optimum-quanto"),),
    "quark": (("quark", "amd-quark>=0.12"),),
    "sinq": (("sinq", "sinq"),),
    "spqr": (("spqr_quant", "spqr_quant[gpu]"),),
    "torchao": (("torchao", "torchao"),),
    "vptq": (("vptq", "vptq>=0.0.4"),),
}
_CUDA_ONLY = {"eetq", "fbgemm_fp8", "fouroversix", "fp_quant", "higgs", "hqq", "spqr", "vptq"}
_DEVICES: dict[str, Devices] = {
    **dict.fromkeys(_CUDA_ONLY, "cuda"),
    "metal": "mps",
    "nvfp4": "none",  # transformers does not load it; vLLM does
}

REQUIREMENTS = {
    method: QuantizationRequirement(
        method=method, packages=packages, runs_on=_DEVICES.get(method, "any")
    )
    for method, packages in _PACKAGES.items()
}
"""By method; ``gguf`` is recognized by its file."""


def quantization_requirement(config: Mapping[str, Any]) -> QuantizationRequirement | None:
    """Find the quantization of a configuration or its ``text_config``; None without.

    >>> quantization_requirement({"quantization_config": {"quant_method": "awq"}}).missing
    ['gptqmodel']
    >>> quantization_requirement({"model_type": "llava"})

    Raises:
        ModelError: If transformers does not know the method.
    """
    parts = [config, *(config.get(part) or {} for part in ("text_config", "llm_config"))]
    found = [part.get("quantization_config") for part in parts if isinstance(part, Mapping)]
    written = next((quantised for quantised in found if quantised), None)
    if written is None:
        return None
    method = _method(written)
    if method not in REQUIREMENTS:
        known = ", ".join(sorted(REQUIREMENTS))
        raise ModelError(f"quantised by {method or 'no named method'}, expected one of {known}")
    return REQUIREMENTS[method]


def check_quantization(written: Path | Mapping[str, Any], device: str) -> None:
    """Refuse a quantized checkpoint whose requirements are not met.

    Args:
        written: The checkpoint's folder, or its configuration.
        device: Such as "cuda:1", "mps", "cpu".

    Raises:
        ModelError: If the method is unknown, lacks a package, or does not run on the device.
    """
    of = f"{written}: " if isinstance(written, Path) else ""
    config = read_object(written / "config.json") if isinstance(written, Path) else written
    try:
        needed = quantization_requirement(config)
    except ModelError as why:
        raise ModelError(f"{of}{why}") from why
    if needed is None:
        return
    if needed.runs_on == "none":
        raise ModelError(f"{of}quantised by {needed.method}, which only vLLM loads (kind vllm)")
    if needed.runs_on not in {"any", device.partition(":")[0]}:
        raise ModelError(
            f"{of}quantised by {needed.method}, which runs on {needed.runs_on}, not on {device}"
        )
    if missing := needed.missing:
        install = " ".join(f"'{pip}'" for pip in missing)
        raise ModelError(f"{of}quantised by {needed.method}; it needs pip install {install}")


def _method(written: object) -> str:
    """The name that transformers looks up; bitsandbytes has one per width."""
    if not isinstance(written, Mapping):
        return str(written)
    if written.get("load_in_4bit") or written.get("load_in_8bit"):
        return f"bitsandbytes_{4 if written.get('load_in_4bit') else 8}bit"
    method = str(written.get("quant_method") or "")
    return f"{method}_4bit" if method == "bitsandbytes" else method


def _is_installed(module: str) -> bool:
    # Only the outermost package: find_spec imports what is above the module that it looks for.
    package, _, below = module.partition(".")
    found = find_spec(package)
    if found is None or not below:
        return found is not None
    places = found.submodule_search_locations or ()
    return any((Path(place) / below).is_dir() for place in places)
