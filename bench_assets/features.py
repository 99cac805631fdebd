"""Features: parts of the project that nothing imports, and that can be left out.

Each feature is one package, listed here with the objects that it provides: commands, functions of
the Python interface, tables and pages. What uses them asks for them by name, so that the rest works
without the package. ``[tool.importlinter]`` in pyproject.toml enforces it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bench_assets.annotation.tasks import AnnotationBackend
from bench_assets.core.schema.errors import SettingsError
from bench_assets.evaluation.suite import HomeConfiguration


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A package that can be left out; objects are ``module:name`` below the package."""

    package: str
    needs: str = ""  # package without which it cannot be used
    commands: Mapping[str, str] = field(default_factory=dict)  # typer apps, by command
    functions: Mapping[str, str] = field(default_factory=dict)  # of ``bench_assets``, by name
    hooks: Mapping[str, str] = field(default_factory=dict)  # by purpose

    @property
    def is_installed(self) -> bool:
        """Whether its packages are installed."""
        return not self._missing_package

    def load(self, target: str, purpose: str) -> Any:  # noqa: ANN401
        """Import an object of the package.

        Args:
            target: ``module:name`` below the package.
            purpose: What needs it, for the message.

        Raises:
            SettingsError: If the package is not installed.
        """
        if package := self._missing_package:
            raise SettingsError(
                f"{purpose}: the package {package} is not installed. It is a part of"
                " bench-assets: pip install --force-reinstall --no-deps bench-assets"
            )
        module, _, name = target.partition(":")
        return getattr(import_module(f"{self.package}.{module}"), name)

    @property
    def _missing_package(self) -> str:
        for name in (self.package, self.needs):
            if name and find_spec(name) is None:
                return name
        return ""


FEATURES = (
    Feature(
        package="bench_assets.annotate",
        needs="bench_resources.annotation",
        commands={"annotate": "command:app"},
        hooks={"publish units": "operations:publish"},
    ),
    Feature(
        package="bench_resources.annotation",
        hooks={"annotation backend": "opening:open_annotation_backend"},
    ),
    Feature(
        package="bench_assets.audit",
        commands={"audit": "command:app"},
        functions={"audit": "python:audit"},
        hooks={"assets": "assets:audit_assets", "report part": "report_page:AuditPages"},
    ),
    Feature(package="bench_assets.bundles", commands={"bundle": "command:app"}),
    Feature(
        package="bench_assets.external_results",
        commands={"import": "command:app"},
        functions={"read_results": "python:read_results"},
        hooks={"suites": "suite:suites_of_home"},
    ),
    Feature(package="bench_assets.export", commands={"export": "command:app"}),
    Feature(
        package="bench_resources.cluster",
        hooks={
            "database": "postgres:PostgresDatabase",
            "heartbeats": "heartbeats:Heartbeats",
            "object store": "object_store:open_object_blobs",
        },
    ),
)
"""All features; a hook is called in this order."""


def command_of(name: str) -> Any:  # noqa: ANN401
    """The typer app of a command.

    Raises:
        SettingsError: If its package is not installed.
    """
    feature = next(feature for feature in FEATURES if name in feature.commands)
    return feature.load(feature.commands[name], f"bench {name}")


def function_of(name: str) -> Any:  # noqa: ANN401
    """A function of the Python interface.

    Raises:
        KeyError: If no feature provides one of that name.
        SettingsError: If its package is not installed.
    """
    for feature in FEATURES:
        if name in feature.functions:
            return feature.load(feature.functions[name], name)
    raise KeyError(name)


def hooks_of(name: str) -> Iterator[Any]:
    """Yield the hooks of a name, of all installed features that have one."""
    for feature in FEATURES:
        if name in feature.hooks and feature.is_installed:
            yield feature.load(feature.hooks[name], name)


def hook_of(name: str, purpose: str) -> Any:  # noqa: ANN401
    """The one hook of a name.

    Raises:
        SettingsError: If its package is not installed.
    """
    feature = next(feature for feature in FEATURES if name in feature.hooks)
    return feature.load(feature.hooks[name], purpose)


def open_annotation_backend(settings: HomeConfiguration) -> AnnotationBackend:
    """Open the annotation backend of ``[annotation]``; reads and writes nothing yet.

    Raises:
        SettingsError: If its package is not installed.
    """
    backend: AnnotationBackend = hook_of("annotation backend", "[annotation]")(settings)
    return backend
