"""Section of servers that bench starts.

``serve = "vllm serve {path} --port {port}"`` starts one for the weights in ``path``. Its responses
are keyed by these weights, not by an address.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import PurePath
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from bench_assets.core.text.redaction import is_key
from bench_resources.config.sections.base import ModelSpec, Needs
from bench_resources.config.sections.cluster import PoolName
from bench_resources.config.sections.known_servers import ServerName

_PLACEHOLDER = re.compile(r"\{(\w*)\}")  # does not match {"image": 4}, an argument of vLLM
_PLACEHOLDER_NAMES = ("path", "port", "name")
_SHELL_SYNTAX = re.compile(r"[|&;<>]+|\d?>&?\d?|\$\(.*|`.*|\$\{?\w+\}?")
_MAY_BE_KEY = re.compile(r"(?=.{8}|.*\d)(?=.*[A-Za-z])[^{]{4,}")  # no EMPTY, no {name}
_VARIABLE = re.compile(r"[A-Za-z_]\w*=.*")
_COPIES = re.compile(r"(?<=\s)(--data-parallel-size|-dp)[\s=]+\d+")  # options of vllm serve

_PROGRAMS: Mapping[str, ServerName] = {
    "vllm": "vllm",
    "sglang": "sglang",
    "lmdeploy": "lmdeploy",
    "llama-server": "llama.cpp",
    "transformers": "transformers",
}


def server_of(command: str) -> ServerName:
    """Known server that a command names, as a program or a Python module; "" if none.

    A module after ``-m`` counts, else the first word whose last part is a known program, so that
    wrappers such as ``env`` may precede it. Words with a suffix are files.

    >>> server_of("env A=1 vllm serve {path}"), server_of("python -m sglang.launch_server {path}")
    ('vllm', 'sglang')
    >>> server_of("conda run -n vllm python -m sglang.launch_server {path}")
    'sglang'
    >>> server_of("./serve.sh {path} vllm/1")
    ''
    """
    words = shlex.split(command)
    names = (PurePath(word).name for word in words if not PurePath(word).suffix)
    modules = (word.partition(".")[0] for flag, word in pairwise(words) if flag == "-m")
    return next((_PROGRAMS[word] for word in (*modules, *names) if word in _PROGRAMS), "")


def validate_command(command: str) -> str:
    """Check the words of a command that serves a folder at a port; returns the command.

    Raises:
        ValueError: If it is invalid.
    """
    if not command:
        return command
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"cannot be split into words: {error}") from error
    placeholders = _PLACEHOLDER.findall(command)
    if unknown := [name for name in placeholders if name not in _PLACEHOLDER_NAMES]:
        known = ", ".join(f"{{{name}}}" for name in _PLACEHOLDER_NAMES)
        raise ValueError(f"unknown {{{unknown[0]}}} (known: {known})")
    if missing := [name for name in ("path", "port") if name not in placeholders]:
        raise ValueError(f"expected {{{missing[0]}}}: bench sets weights and port")
    if shell_words := [word for word in words if _SHELL_SYNTAX.fullmatch(word)]:
        raise ValueError(
            f"{shell_words[0]} needs a shell, but the command runs without one. Write a script, and"
            " name it here"
        )
    if key_option := _key_in_command(words):
        raise ValueError(
            f"contains a key ({key_option}). Put it into the environment, which the server inherits"
            " (vllm reads VLLM_API_KEY)"
        )
    if _VARIABLE.fullmatch(words[0]):
        raise ValueError("begins with a variable. Put env before it")
    return command


def _key_in_command(words: Sequence[str]) -> str:
    """Option or variable that passes a key to a command; "" if there is none."""
    options = [(option, value) for option, value in pairwise(words) if option.startswith("-")]
    assignments = [tuple(word.split("=", 1)) for word in words if "=" in word]
    for option, value in (*options, *assignments):
        name = option.lstrip("-").replace("-", "_")
        if _MAY_BE_KEY.fullmatch(value) and is_key(name, value):
            return option
    return ""


class ManagedServerSection(ModelSpec):
    """A server that is started for a run, and the pool of its runs."""

    serve: Annotated[str, AfterValidator(validate_command)] = ""
    """Command that serves ``path`` at 127.0.0.1 during a run, instead of ``base_url``. It runs
    without a shell; ``{path}``, ``{port}`` and ``{name}`` are replaced; part of a response's
    identity."""
    path: str = ""
    """Folder or GGUF file of the server's weights, which identify the responses instead of the
    address; part of a response's identity."""
    needs: Needs = Field(default_factory=dict)
    """Resources of a run with its server, such as ``{gpu = 2}``; default: one CPU and no GPU;
    with ``kind = "vllm"``, ``tensor_parallel_size`` times ``data_parallel_size`` GPUs."""
    start_timeout: float = Field(1800.0, gt=0)
    """Seconds to wait until a started server is ready."""
    health: str = Field("/health", pattern=r"^/\S*$")
    """Path that is requested until it answers 200; ``/v1/models`` if the server has no such
    page."""
    pool: PoolName | None = None
    """Pool that a run of this model holds, one of ``pools`` in ``[cluster]``."""

    @property
    def gpus(self) -> float:
        """GPUs of the server that a run of this model starts, unless ``needs`` has them."""
        return 0.0

    @property
    def served_by(self) -> str:
        """Name of the server of ``path`` in a response's identity."""
        return "served"

    @property
    def is_routed(self) -> bool:
        """Whether a request may reach the server of another model by mistake."""
        return bool(self.path and not self.serve)

    @property
    def command_digest(self) -> str:
        """Digest of the command, without the program's folder and the number of copies."""
        program, *arguments = shlex.split(_COPIES.sub("", self.serve))
        return sha256("\n".join([PurePath(program).name, *arguments]).encode()).hexdigest()[:8]

    def command(self, *, path: str, port: int, name: str) -> list[str]:
        """The words of the command for one server."""
        values = {"path": path, "port": str(port), "name": name}
        return [
            _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), word)
            for word in shlex.split(self.serve)
        ]

    @model_validator(mode="after")
    def _check_serve_options(self) -> Self:
        server_entries = {"health", "needs"} & self.model_fields_set
        if not self.serve and server_entries:
            raise ValueError(f"{min(server_entries)} needs serve")
        return self
