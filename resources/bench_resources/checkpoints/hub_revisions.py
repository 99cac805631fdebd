"""Checkpoints in hub repositories: every branch and tag with a model."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.files import ADAPTER_CONFIG, ADAPTER_WEIGHTS, has_weights
from bench_resources.checkpoints.hub_access import first_line, hub_errors, limit_hub_waits

if TYPE_CHECKING:
    from huggingface_hub import HfApi

KEY = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._@+=/-]*)@(?P<commit>[0-9a-f]{40})")
"""Partition key of a revision: repository, branch or tag, and the commit it was at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubRevision:
    """A branch or tag, and its commit."""

    repository: str
    ref: str
    commit: str

    @property
    def key(self) -> str:
        """The partition key."""
        return f"{self.repository}/{self.ref}@{self.commit}"


@dataclass(slots=True, kw_only=True)
class HubSurvey:
    """Findings in the watched repositories."""

    finished: list[HubRevision] = field(default_factory=list)  # one per commit
    unfinished: dict[str, str] = field(default_factory=dict)  # repository or key -> why
    refs: dict[str, set[str]] = field(default_factory=dict)  # repository -> branches and tags

    def lost(self, key: str) -> bool:
        """Whether the branch or tag of a revision was deleted; False if the hub did not list it.

        >>> HubSurvey(refs={"a/b": {"main"}}).lost("a/b/step-10@" + 40 * "0")
        True
        """
        name = key.rpartition("@")[0]
        return any(
            name.startswith(f"{repository}/") and name.removeprefix(f"{repository}/") not in refs
            for repository, refs in self.refs.items()
        )


def hub_survey(repositories: Sequence[str], known: Collection[str], api: "HfApi") -> HubSurvey:
    """List the commits of all branches and tags, and check those that are not in ``known``.

    Errors of the hub are findings in ``unfinished``.
    """
    survey = HubSurvey()
    limit_hub_waits()
    for repository in repositories:
        try:
            refs = _refs(repository, api)
        except ModelError as error:
            survey.unfinished[repository] = str(error)
            continue
        survey.refs[repository] = {name for name, _ in refs}
        for revision in _revisions(repository, refs):
            if problem := "" if revision.commit in known else _problem(revision, api):
                survey.unfinished[revision.key] = problem
            else:
                survey.finished.append(revision)
    return survey


def find_revision(key: str, repositories: Sequence[str]) -> tuple[str, str]:
    """Repository and commit of a revision, without a request to the hub.

    >>> find_revision("a/b/step-10@" + 40 * "0", ["a/b"])[0]
    'a/b'

    Raises:
        ModelError: If it is in no watched repository.
    """
    matched = KEY.fullmatch(key)
    for repository in repositories:
        if matched and matched["name"].startswith(f"{repository}/"):
            return repository, matched["commit"]
    listed = ", ".join(repositories) or "none"
    raise ModelError(
        f"{key}: not in a watched repository ({listed}); see [checkpoints] in bench.toml"
    )


def _refs(repository: str, api: "HfApi") -> list[tuple[str, str]]:
    """Branches and tags with their commits."""
    try:
        refs = api.list_repo_refs(repository)
    except hub_errors() as error:
        raise ModelError(
            f"{repository}: the hub does not list its branches: {first_line(error)}"
        ) from error
    return [(str(ref.name), str(ref.target_commit)) for ref in [*refs.branches, *refs.tags]]


def _revisions(repository: str, refs: Sequence[tuple[str, str]]) -> list[HubRevision]:
    """One revision per commit, under a name other than "main" if it has one."""
    of_commit = {commit: name for name, commit in sorted(refs, key=lambda ref: ref[0] != "main")}
    return sorted(
        (HubRevision(repository=repository, ref=n, commit=c) for c, n in of_commit.items()),
        key=lambda revision: revision.key,
    )


def _problem(revision: HubRevision, api: "HfApi") -> str:
    if not KEY.fullmatch(revision.key):
        return "invalid name: only letters, digits and . _ @ + = / - are allowed"
    try:
        listed = api.list_repo_files(revision.repository, revision=revision.commit)
        files = {name for name in listed if isinstance(name, str)}
    except hub_errors() as error:
        return f"the hub does not list its files: {first_line(error)}"
    if ADAPTER_CONFIG in files:
        return "" if files & ADAPTER_WEIGHTS else "the adapter has no weights"
    if "config.json" not in files:
        return "config.json is missing"
    return "" if has_weights(files) else "no weights"
