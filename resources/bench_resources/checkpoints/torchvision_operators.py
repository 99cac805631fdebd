"""Makes torchvision importable beside a CPU build of torch.

torchvision on the package index is built for CUDA. Beside a CPU build of torch its native library
does not load, and the import fails over two undeclared operators, as then do most models of
transformers. Its transforms are all that image processors need; they are written in Python and work
once the operators are declared.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bench_assets.core.extras import require_extra
from bench_assets.core.schema.errors import ModelError

_SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def require_local() -> None:
    """Check that what runs models in this process is installed.

    Raises:
        MissingExtraError: If torch or transformers is not.
    """
    require_extra("a model that runs in this process", "torch", "transformers")


@cache
def enable_torchvision() -> bool:
    """Import torchvision if installed; call before importing torch or transformers.

    Returns:
        Whether it is installed.

    Raises:
        MissingExtraError: If torch or transformers is not installed.
        ModelError: If it is installed but cannot be imported.
    """
    require_local()
    if find_spec("torchvision") is None:
        return False
    import torch

    try:
        try:
            import_module("torchvision")
        except RuntimeError:
            _declare_operators()
            import_module("torchvision")
    except (ImportError, RuntimeError, AttributeError) as error:
        raise ModelError(
            f"the installed torchvision does not match torch {torch.__version__} ({error}). Install"
            " the matching release, or uninstall it: few families need it (docs/models.md)"
        ) from error
    return True


_libraries: list[object] = []
"""Keeps the declarations, which last as long as these objects."""


def _declare_operators() -> None:
    """Declare the operators of torchvision's native library, without implementing them."""
    import torch

    library: Any = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
    for operator in ("nms", "qnms"):
        library.define(f"{operator}{_SIGNATURE}")
    _libraries.append(library)
