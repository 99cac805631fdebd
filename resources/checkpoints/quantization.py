"""Requirements of quantized checkpoints, by ``quant_method``.

As transformers 5.23 has it (``transformers/quantizers``). Nothing is imported to find out whether
something is installed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.files import read_object

Packages: TypeAlias = tuple[tuple[str, str], ...]
"""Modules that are imported, and how pip calls what has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizationRequirement:
    """What a method needs."""

    method: str
    packages: Packages = ()
    runs_on: Literal["any", "cuda", "mps", "none"] = "any"  # kinds of devices
    note: str = ""

    @property
    def missing(self) -> list[str]:
        """What is not installed of it, as pip calls it."""
        return [pip for module, pip in self.packages if not _is_installed(module)]


_GPTQ: Packages = (("optimum", "optimum"), ("gptqmodel", "gptqmodel"))
_BITSANDBYTES: Packages = (("bitsandbytes", "bitsandbytes>=0.46.1"),)
_KERNELS: Packages = (("kernels", "kernels"),)

REQUIREMENTS: dict[str, QuantizationRequirement] = {
    needed.method: needed
    for needed in (
        QuantizationRequirement(method="aqlm", packages=(("aqlm", "aqlm[gpu,cpu]"),)),
        QuantizationRequirement(method="auto-round", packages=(("auto_round", "auto-round>=0.5"),)),
        QuantizationRequirement(method="awq", packages=(("gptqmodel", "gptqmodel"),)),
        QuantizationRequirement(method="bitnet"),
        QuantizationRequirement(method="bitsandbytes_4bit", packages=_BITSANDBYTES),
        QuantizationRequirement(method="bitsandbytes_8bit", packages=_BITSANDBYTES),
        QuantizationRequirement(
            method="compressed-tensors",
            packages=(("compressed_tensors", "compressed-tensors>=0.15.0"),),
        ),
        QuantizationRequirement(method="eetq", packages=_KERNELS, runs_on="cuda"),
        QuantizationRequirement(
            method="fbgemm_fp8", packages=(("fbgemm_gpu", "fbgemm-gpu-genai"),), runs_on="cuda"
        ),
        QuantizationRequirement(
            method="fouroversix",
            packages=(("fouroversix", "fouroversix --no-build-isolation"),),
            runs_on="cuda",
        ),
        QuantizationRequirement(
            method="fp8", note="without a GPU of 8.9 or newer it is made bfloat16 again"
        ),
        QuantizationRequirement(
            method="fp_quant", packages=(("fp_quant", "fp_quant>=0.3.2"),), runs_on="cuda"
        ),
        QuantizationRequirement(method="gemma"),
        QuantizationRequirement(method="gptq", packages=_GPTQ),
        QuantizationRequirement(
            method="higgs",
            packages=(
                ("flute", "flute-kernel>=0.4.1"),
                ("fast_hadamard_transform", "fast_hadamard_transform"),
            ),
            runs_on="cuda",
        ),
        QuantizationRequirement(method="hqq", packages=(("hqq", "hqq>=0.2.1"),), runs_on="cuda"),
        QuantizationRequirement(method="metal", packages=_KERNELS, runs_on="mps"),
        QuantizationRequirement(
            method="mxfp4", note="without kernels and triton it is made bfloat16 again"
        ),
        QuantizationRequirement(
            method="mxfp8", note="without a GPU of 8.9 or newer it is made bfloat16 again"
        ),
        QuantizationRequirement(
            method="nvfp4",
            runs_on="none",
            note="transformers does not load checkpoints of it; vLLM does (kind vllm)",
        ),
        QuantizationRequirement(method="quanto", packages=(("optimum.quanto", "optimum-quanto"),)),
        QuantizationRequirement(method="quark", packages=(("quark", "amd-quark>=0.12"),)),
        QuantizationRequirement(method="sinq", packages=(("sinq", "sinq"),)),
        QuantizationRequirement(
            method="spqr", packages=(("spqr_quant", "spqr_quant[gpu]"),), runs_on="cuda"
        ),
        QuantizationRequirement(method="torchao", packages=(("torchao", "torchao"),)),
        QuantizationRequirement(method="vptq", packages=(("vptq", "vptq>=0.0.4"),), runs_on="cuda"),
    )
}
"""By method; ``gguf`` is not among them, since its files say so by themselves."""


def quantization_requirement(config: Mapping[str, Any]) -> QuantizationRequirement | None:
    """What a checkpoint of this configuration needs beyond transformers; None if not quantised.

    The language model's part may say it instead of the whole (``text_config``).

    >>> quantization_requirement({"quantization_config": {"quant_method": "awq"}}).missing
    ['gptqmodel']
    >>> quantization_requirement({"model_type": "llava"})

    Raises:
        ModelError: If the method is none that transformers knows, or none is named.
    """
    parts = [config, *(config.get(part) or {} for part in ("text_config", "llm_config"))]
    found = [part.get("quantization_config") for part in parts if isinstance(part, Mapping)]
    written = next((quantised for quantised in found if quantised), None)
    if written is None:
        return None
    method = _method(written)
    if method not in REQUIREMENTS:
        known = ", ".join(sorted(REQUIREMENTS))
        raise ModelError(f"quantised by {method or 'no named method'}, which is none of {known}")
    return REQUIREMENTS[method]


def check_quantization(written: Path | Mapping[str, Any], device: str) -> None:
    """Refuse a quantised checkpoint that would not load, and say what it needs.

    Args:
        written: The checkpoint's folder, or what its config.json says.
        device: Such as "cuda:1", "mps", "cpu".

    Raises:
        ModelError: If the method is unknown, what it needs is not installed, or it does not run on
            the device.
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
        raise ModelError(f"{of}quantised by {needed.method}: {needed.note}")
    if needed.runs_on not in {"any", device.partition(":")[0]}:
        raise ModelError(
            f"{of}quantised by {needed.method}, which runs on {needed.runs_on}, not on {device}"
        )
    if missing := needed.missing:
        install = " ".join(f"'{pip}'" for pip in missing)
        raise ModelError(f"{of}quantised by {needed.method}; it needs pip install {install}")


def _method(written: object) -> str:
    """The name that transformers looks up; bitsandbytes has one for each width."""
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
