"""Access to the Ray cluster, with timeouts.

Ray waits silently for minutes if no cluster answers.
"""

import logging
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import TypeVar

from bench_assets.core.extras import is_installed, require_extra
from bench_assets.core.schema.errors import BenchError, ModelError
from bench_resources.checkpoints.hub_access import first_line

Result = TypeVar("Result")

_CONNECT_TIMEOUT = 60.0  # s
_LOCAL_CLUSTER = "the Ray cluster that this machine belongs to"
_CONNECT_ADVICE = (
    "start a node on this machine (docs/cluster.md), or set RAY_ADDRESS to the head's address; for"
    " a cluster with a token, also set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
)
_TOKEN_FILE = "~/.ray/auth_token"  # Ray's default


def connect() -> None:
    """Connect this process to the cluster at RAY_ADDRESS, or to that of the node on this machine.

    Raises:
        MissingExtraError: If Ray is not installed.
        ModelError: If no cluster can be reached.
    """
    require_extra('on = "ray"', "ray")
    if missing := missing_token():
        raise ModelError(f"{_LOCAL_CLUSTER} cannot be reached: {missing}")
    import ray

    if not ray.is_initialized():
        try:
            run_with_timeout(_CONNECT_TIMEOUT, _connect)
        except TimeoutError as error:
            raise ModelError(
                f"{_LOCAL_CLUSTER} did not respond within {error}; {_CONNECT_ADVICE}"
            ) from None
        except cluster_errors() as error:
            raise ModelError(
                f"{_LOCAL_CLUSTER} cannot be reached: {first_line(error)}; {_CONNECT_ADVICE}"
            ) from error


def missing_token() -> str:
    """Message about a missing token, without which Ray would end this process; else ""."""
    if os.environ.get("RAY_AUTH_MODE", "").lower() != "token" or os.environ.get("RAY_AUTH_TOKEN"):
        return ""
    file = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or _TOKEN_FILE).expanduser()
    if file.is_file():
        return ""
    return f"RAY_AUTH_MODE is token, but there is no RAY_AUTH_TOKEN, and no {file}"


def cluster_errors() -> tuple[type[Exception], ...]:
    """Ray's exceptions for an unreachable cluster or a wrong token."""
    errors: tuple[type[Exception], ...] = (
        OSError,
        RuntimeError,
        ValueError,
    )  # OSError: of requests
    if not is_installed("ray"):
        return errors
    from ray.exceptions import RayError

    return (*errors, RayError)


def run_with_timeout(seconds: float, work: Callable[[], Result]) -> Result:
    """Run a function with a timeout, in a thread that is abandoned when it expires.

    Never in the main thread, where Ray would replace the SIGTERM handler.

    Raises:
        TimeoutError: If it takes longer; the message is the timeout, such as "60 s".
        Exception: What ``work`` raises.
    """
    done: Future[Result] = Future()

    expected: tuple[type[Exception], ...] = (BenchError, *cluster_errors())

    def run() -> None:
        try:
            done.set_result(work())
        except expected as error:
            done.set_exception(error)
        finally:
            if not done.done():  # a bug: the thread's traceback is printed too
                done.set_exception(sys.exception())

    threading.Thread(target=run, daemon=True).start()
    if not wait([done], seconds).done:
        raise TimeoutError(f"{seconds:.0f} s")
    return done.result()


def _connect() -> None:
    import ray

    # Else Ray prints messages about its threads to our terminal.
    logging.getLogger("ray").setLevel(logging.ERROR)
    ray.init(address="auto", configure_logging=False, log_to_driver=False)


def unfit_cluster_reason(needs: Mapping[str, float]) -> str:
    """Reason why no node can ever fit the resources; "" if one can."""
    import ray

    wanted = {{"cpu": "CPU", "gpu": "GPU"}.get(name, name): n for name, n in needs.items()}
    return unfit_nodes_reason([node["Resources"] for node in ray.nodes() if node["Alive"]], wanted)


def unfit_nodes_reason(nodes: Sequence[Mapping[str, float]], needs: Mapping[str, float]) -> str:
    """Reason why no node has the resources; "" if one has.

    >>> unfit_nodes_reason([{"CPU": 2.0}, {"CPU": 4.0}], {"CPU": 1, "GPU": 1})
    'no node of the 2 has CPU 1 (the most is 4), GPU 1 (the most is 0)'
    """
    if any(all(node.get(name, 0) >= amount for name, amount in needs.items()) for node in nodes):
        return ""
    most = {name: max((node.get(name, 0) for node in nodes), default=0) for name in needs}
    shortages = ", ".join(f"{name} {needs[name]:g} (the most is {most[name]:g})" for name in needs)
    return f"no node of the {len(nodes)} has {shortages}"
