"""Models that a server lists."""

from pathlib import Path

import orjson


def other_weights(body: bytes, model: str, path: str) -> str:
    """The folder that a server names for a model where that is another than was meant; else "".

    Not all servers name one: vLLM does, as ``root``. A folder that is not on this machine tells
    nothing.

    Args:
        body: What ``/v1/models`` answered.
        model: The name that the server knows it by.
        path: The folder that was meant.
    """
    roots = [one.get("root") for one in _listed(body) if one.get("id") == model]
    others = [root for root in roots if isinstance(root, str) and _is_other(root, path)]
    return others[0] if others else ""


def _listed(body: bytes) -> list[dict[str, object]]:
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        return []
    models = said.get("data") if isinstance(said, dict) else None
    return [one for one in models if isinstance(one, dict)] if isinstance(models, list) else []


def _is_other(root: str, path: str) -> bool:
    """Whether a folder that there is is another than the one that was meant."""
    here = Path(root)
    return here.is_absolute() and here.exists() and not here.samefile(path)
