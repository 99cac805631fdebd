"""Data of ``#/number``: provenance of a number, and an explanation of its signature."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.asset_factory.partial_results import partial_tables
from bench_assets.catalog import Catalog
from bench_assets.comparison.causes import DECODING, MODEL, split_model_part
from bench_assets.comparison.measurements import measured_models
from bench_assets.comparison.people_checks import people_state, with_people
from bench_assets.comparison.results import HomeResults
from bench_assets.core.schema.elicitation import split_signature
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric
from bench_assets.core.schema.signature import Signature
from bench_assets.evaluation.task import Task
from bench_assets.report.pages.checks import CheckOutcome, latest_outcomes
from bench_assets.report.site.folder import Site, combined_digest, slug
from bench_resources.config.bench_toml import Settings
from bench_resources.tables.parquet import TableFiles

_MEANINGS = {
    "version": "Increased when scores become incomparable.",
    "data": "Digest of the questions with their answers and images. If it differs, the exam does.",
    "prompts": "Digest of all prompts as sent, in any order.",
    "judge": "Judge of the responses, where points depend on verdicts.",
    "n": "Number of questions, scored or not.",
    "refused": "Questions that the provider permanently refused, accepted as wrong.",
    "mixed": "Several models, snapshots or builds that answered under one name, accepted as one.",
    "partial": "Only these questions were evaluated: not a number of the benchmark.",
    "no_answer": "Questions without an answer (cut off, an error ...); they count as wrong.",
}
_DECODING = {
    "t": "temperature {}",
    "max": "at most {} tokens",
    "top_p": "nucleus sampling with top_p {}",
    "seed": "seed {}",
}


class SignaturePart(NamedTuple):
    """A part of a signature."""

    name: str
    value: str
    meaning: str


def explain_signature(signature: Signature, task: Task) -> list[SignaturePart]:
    """Explain the parts of a signature, in order; unknown parts get no explanation."""
    model, decoding = split_model_part(signature.parts.get("model", ""))
    condition = task.conditions.get(signature.condition)
    about = condition.about if condition else ""
    task_name = "+".join((task.title, *signature.extensions))
    extension_note = "Without extensions by other packages."
    if signature.extensions:
        extension_note = f"Extended by {', '.join(signature.extensions)}."
    version = str(signature.version)
    parts = [
        SignaturePart(name="task", value=task_name, meaning=extension_note),
        SignaturePart(name="version", value=version, meaning=_MEANINGS["version"]),
        SignaturePart(name="condition", value=signature.condition, meaning=about),
    ]
    for name, value in signature.parts.items():
        if name == "model":
            parts.append(SignaturePart(name=MODEL, value=model, meaning=_describe_model(model)))
            if decoding:
                meaning = _describe_decoding(decoding)
                parts.append(SignaturePart(name=DECODING, value=decoding, meaning=meaning))
            continue
        is_scorer = name == "scorer"
        meaning = first_line(task.scorers.get(value)) if is_scorer else _MEANINGS.get(name, "")
        parts.append(SignaturePart(name=name, value=value, meaning=meaning))
    return parts


def first_line(function: object) -> str:
    """First docstring line of a scorer, metric or judge; "" without one.

    >>> first_line(sorted)
    'Return a new list containing all items from the iterable in ascending order.'
    """
    docstring = (getattr(function, "__doc__", None) or "").strip()
    is_function = callable(function) and not isinstance(function, type)
    return str(docstring.splitlines()[0]) if docstring and is_function else ""


def _describe_model(model: str) -> str:
    if model.startswith("sha256:"):
        return "Digest of the weights, then their dtype and the image preprocessing."
    return "Kind, name and settings of the model."


def _describe_decoding(decoding: str) -> str:
    """Describe the decoding.

    >>> _describe_decoding("t=0,max=40")
    'The likeliest token each time (temperature 0), at most 40 tokens.'
    >>> _describe_decoding("t=0,max=40|elicit=likelihood-letters-none")
    'By options, nothing parsed: likelihood-letters-none.'
    """
    plain, elicitation = split_signature(decoding)
    if elicitation:
        return f"By options, nothing parsed: {elicitation.canonical_form}."
    clauses = []
    for setting in plain.split("|", maxsplit=1)[0].split(","):
        name, _, value = setting.partition("=")
        if (name, value) == ("t", "0"):
            clauses.append("the likeliest token each time (temperature 0)")
        else:
            clauses.append(_DECODING.get(name, setting).format(value))
    sentence = ", ".join(clauses)
    return f"{sentence[:1].upper()}{sentence[1:]}."


_PARSERS = Path(__file__).with_name("parsers.csv")
_FORMAT = "4"  # version of the page's data format


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberPages:
    """Writes ``number-<task>-<model>`` and ``parser``."""

    settings: Settings

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the provenance of the numbers of every task."""
        with _PARSERS.open(encoding="utf-8", newline="") as file:
            site.put("parser", list(csv.DictReader(file)))
        outcomes = latest_outcomes(tables.home)
        results = HomeResults(self.settings, tables, {task.name: task for task in catalog.tasks})
        for task in catalog.tasks:
            other_tasks = {other_task.name for other_task in catalog.tasks} - {task.name}
            checks = [
                check for check in outcomes if _belongs_to_task(check.asset, task, other_tasks)
            ]
            models = measured_models(tables, task)
            for model in models:
                _write_model(site, tables, task, model, checks, results)
            partials = partial_tables(tables.home)
            for model in set(measured_models(partials, task)).difference(models):
                _write_model(site, partials, task, model, checks, results)


def _write_model(
    site: Site,
    tables: TableFiles,
    task: Task,
    model: str,
    checks: Sequence[CheckOutcome],
    results: HomeResults,
) -> None:
    """Write the page of a model's numbers on a task, unless it is up to date."""
    keys = {name: evaluation_key(task, name, "metrics") for name in task.conditions}
    conditions = [name for name, key in keys.items() if site.stamps.of(tables, key, model)]
    compared_models = (model, *results.compared_with(task, model))
    stamps = [
        f"{condition} {site.stamps.of(tables, keys[condition], compared_model)}"
        for condition in conditions
        for compared_model in compared_models
    ]
    own_checks = [asdict(check) for check in checks if check.partition in ("", model)]
    inputs = combined_digest(
        _FORMAT, str(task.version), *stamps, str(own_checks), people_state(tables, task)
    )
    name = f"number-{slug(task.name)}-{slug(model)}"
    if site.has(name, inputs):
        return
    origins = ("/".join(questions_key(task, "main")), task.rejections)
    page = {
        "model": model,
        "task": task.name,
        "title": task.display_title,
        "conditions": [
            _condition_data(tables, task, condition, model, results) for condition in conditions
        ],
        "checks": own_checks,
        "commands": [f"bench tables show {table}" for table in origins if table],
    }
    site.put(name, page, inputs)


def _condition_data(
    tables: TableFiles, task: Task, condition: str, model: str, results: HomeResults
) -> dict[str, Any]:
    """Metrics under a condition with their provenance, or the reason why they are unreadable."""
    try:
        key = evaluation_key(task, condition, "metrics")
        metrics = with_people(tables, task, tables.read(key, Metric, model))
        rows = [row for row in metrics if row.category == "all"]
        facts = [fact for result in results.of(metrics) for fact in result.facts]
    except TableError as error:
        return {"name": condition, "problem": str(error)}
    signature = rows[0].signature if rows else ""
    parts = explain_signature(Signature.parse(signature), task) if rows else []
    return {
        "name": condition,
        "about": task.conditions[condition].about,
        "signature": signature,
        "parts": [part._asdict() for part in parts],
        "metrics": rows,
        "facts": facts,
    }


def _belongs_to_task(asset: str, task: Task, other_tasks: Iterable[str]) -> bool:
    """Whether a table belongs to the task or its suite, and not to another task."""
    for other_task in other_tasks:
        is_nearer = len(other_task) > len(task.name) or not _is_below(task.name, other_task)
        if is_nearer and _is_below(asset, other_task):
            return False
    return _is_below(asset, task.suite)


def _is_below(asset: str, folder: str) -> bool:
    return asset == folder or asset.startswith(f"{folder}/")
