"""Reproduces numbers from cached responses, and packs them into bundles.

Missing responses are requested only with ``--ask``; no tables are written.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bench_assets.annotation.responses.verdicts import PEOPLE
from bench_assets.bundles.number_lookup import find_number
from bench_assets.bundles.packing import BundleOptions, PackedBundle, pack_number
from bench_assets.bundles.requirements import (
    NOT_CACHED,
    BundleRequirement,
    CachedResponseModel,
    NumberRef,
    question_requirements,
    task_requirements,
)
from bench_assets.bundles.rescoring import (
    Divergence,
    RescoredEvaluation,
    find_divergences,
    judge_by_model,
    judge_by_rules,
    metric_divergences,
    score_and_aggregate,
)
from bench_assets.comparison.causes import EvaluationTables, split_model_part
from bench_assets.comparison.difference import Cause, decompose_difference
from bench_assets.comparison.sides import EvaluationLocation
from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.elicitation import split_signature
from bench_assets.core.schema.errors import BenchError, ModelError, TableError
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.elicited_model import ElicitedModel
from bench_assets.evaluation.outcomes import Accepted, accept_refusals
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import RULES, ChosenJudge, Task
from bench_assets.report.site.images import restricted_suites
from bench_assets.workspace.console.output import progress_style
from bench_assets.workspace.inspect.table_collection import (
    ModelResponses,
    TableCollection,
    TableFilter,
)
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.environment import known_secrets
from bench_resources.config.sections.models import EMBEDDED_MODELS
from bench_resources.config.stores import existing_response_store
from bench_resources.images.store import open_image_store
from bench_resources.models.registry.engines import engine_kind
from bench_resources.models.registry.opening import Models
from bench_resources.response_cache.throughput import RequestProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproductionResult:
    """Outcome of a reproduction."""

    number: NumberRef
    needs: list[BundleRequirement]
    again: RescoredEvaluation | None = None  # None: an input is missing
    partings: Sequence[Divergence] = ()
    causes: Sequence[Cause] = ()
    compared: str = ""  # what the digits were compared with

    @property
    def exit_code(self) -> int:
        """0: same digits; 1: different digits; 2: cannot be evaluated."""
        return 2 if self.again is None else int(bool(self.partings))


class MissingResponsesError(ModelError):
    """Needed responses are not cached, or a model is unavailable."""


class _Inputs(NamedTuple):
    """Available inputs of an evaluation."""

    number: NumberRef
    task: Task
    questions: list[Question]


def reproduce(bench: Workbench, number: NumberRef, *, ask: bool = False) -> ReproductionResult:
    """Find a number's inputs, evaluate it again if all are available, and compare.

    Args:
        bench: The home; its tables stay as they are.
        number: The number to reproduce.
        ask: Whether to request responses that are not cached.
    """
    task, requirements = task_requirements(number, bench.catalog)
    if task is None or _has_missing(requirements):
        return ReproductionResult(number=number, needs=requirements)
    places = [number.tables, bench.tables, *bench.tables.elsewhere(task.suite)]
    questions, more = question_requirements(number, task, places)
    requirements += more
    if _has_missing(requirements):
        return ReproductionResult(number=number, needs=requirements)
    inputs = _Inputs(number, task, questions)
    with bench.models() as models:
        try:
            predictions = _predictions(bench, models, inputs, requirements, ask=ask)
            judgements = _judgements(bench, models, inputs, predictions, requirements, ask=ask)
        except BenchError as error:  # for any reason, responses are missing
            unmet = BundleRequirement(
                part="responses", takes="all", here=str(error), missing=_remedy(number, ask=ask)
            )
            return ReproductionResult(number=number, needs=[*requirements, unmet])
    scorer = number.signature.parts["scorer"]
    rescored = score_and_aggregate(task, questions, predictions, judgements, scorer)
    return _compare(inputs, requirements, rescored)


def _has_missing(requirements: Sequence[BundleRequirement]) -> bool:
    return any(need.missing for need in requirements)


def _remedy(number: NumberRef, *, ask: bool) -> str:
    if ask or not number.model:
        return "see above; to request responses, name the number by TASK MODEL"
    return f"`{number.command} --ask` requests the missing responses"


def _predictions(
    bench: Workbench,
    models: Models,
    inputs: _Inputs,
    requirements: list[BundleRequirement],
    *,
    ask: bool,
) -> list[Prediction]:
    """Get the responses: cached under the signature, recomputed locally, or requested."""
    number, task, questions = inputs
    condition, wanted = number.signature.condition, number.signature.parts.get("model", "")
    if task.asked_of != "model":
        rows = _stored_predictions(inputs)
        requirements.append(
            BundleRequirement(
                part="responses", takes=wanted, here=f"{len(rows)} rankings, as ranked"
            )
        )
        return rows
    if not _is_local(bench, number.model):
        known = _cached_model(number.model or split_model_part(wanted)[0], wanted, models)
        rows = _with_refusals(inputs, pipeline.predict(task, questions, known, condition))
        missing = sum(row.error == NOT_CACHED for row in rows)
        if not missing:
            requirements.append(
                BundleRequirement(part="responses", takes=wanted, here=f"{len(rows)} cached")
            )
            return rows
        if not number.model:
            raise MissingResponsesError(f"{missing} of {len(rows)} responses are not cached")
    with _open_model(models, number.model, condition, ask=ask) as model:
        if model.signature != wanted:
            raise MissingResponsesError(f"{number.model} is now {model.signature}")
        rows = _with_refusals(inputs, pipeline.predict(task, questions, model, condition))
    requirements.append(
        BundleRequirement(part="responses", takes=wanted, here=f"{len(rows)} available")
    )
    return rows


def _with_refusals(inputs: _Inputs, rows: Sequence[Prediction]) -> list[Prediction]:
    """Accept refusals as the number did; uncached ones are taken from its table."""
    if "refused" not in inputs.number.signature.parts:
        return list(rows)
    stored = _stored_predictions(inputs) if inputs.number.model else []
    refused = {(row.question_id, row.sample): row for row in stored if row.refused}
    accept: list[Accepted] = ["refused"]
    return [
        refused.get((row.question_id, row.sample), row)
        if row.error == NOT_CACHED
        else accept_refusals(row, accept)
        for row in rows
    ]


def _judgements(
    bench: Workbench,
    models: Models,
    inputs: _Inputs,
    predictions: Sequence[Prediction],
    requirements: list[BundleRequirement],
    *,
    ask: bool,
) -> list[Judgement]:
    number, task, questions = inputs
    if not task.is_judged:
        return []
    judge_part = number.signature.parts.get("judge", "none")
    name, model_name = _judge_of(
        task, judge_part, bench.settings.suite(task.suite, SuiteSettings).judge
    )
    if not model_name:
        recorded = _stored_verdicts(inputs) if name == PEOPLE else []
        available = f"{len(recorded)} human verdicts" if recorded else f"rules: {name}"
        requirements.append(BundleRequirement(part="judge", takes=judge_part, here=available))
        return judge_by_rules(task, questions, predictions, name, recorded)
    with _open_model(models, model_name, "main", ask=ask) as judge:
        rows = judge_by_model(task, questions, predictions, (judge, name), "")
    requirements.append(
        BundleRequirement(
            part="judge", takes=judge_part, here=f"{len(rows)} verdicts, {judge.signature}"
        )
    )
    return rows


def _judge_of(task: Task, judge_part: str, configured: str) -> ChosenJudge:
    """The judge in the number's signature; the configured one if no response was judged."""
    if judge_part == "none":
        return task.chosen_judge(configured)
    models = [part for part in judge_part.split("+") if part != RULES]
    return task.chosen_judge(judge_part if len(models) > 1 else (models or [RULES])[0])


def _cached_model(name: str, wanted: str, models: Models) -> ChatModel:
    """Read the cached responses of a signature, with its elicitation method."""
    known = CachedResponseModel(name, wanted, models.store)
    elicitation = split_signature(wanted)[1]
    return ElicitedModel(known, name, elicitation) if elicitation else known


def _is_local(bench: Workbench, model: str) -> bool:
    """Whether a model's responses are computed here, and not cached."""
    settings = bench.settings
    if model not in {**EMBEDDED_MODELS, **settings.models}:
        return False
    spec = settings.model(model)
    return engine_kind(settings.base_model(spec)) is None


@contextmanager
def _open_model(models: Models, name: str, condition: str, *, ask: bool) -> Generator[ChatModel]:
    """Open a model; if requests are not allowed, the first one raises an error.

    Raises:
        MissingResponsesError: If a request would be needed.
    """
    with RequestProgress(name, lambda line: None, progress_style()) as progress:
        watch: Callable[[int, int, int], None] = progress if ask else _refuse_new_requests
        counted = progress.throughput if ask else None
        with models.open(name, condition, watch, counted) as model:
            yield model


def _refuse_new_requests(done: int, remembered: int, total: int) -> None:
    if remembered < total:
        raise MissingResponsesError(f"{total - remembered} of {total} responses are not cached")


def _stored_predictions(inputs: _Inputs) -> list[Prediction]:
    place = _location(inputs)
    rows = list(place.read().predictions) if inputs.number.model else []
    if not rows:
        raise MissingResponsesError("the table of rankings is missing")
    return rows


def _stored_verdicts(inputs: _Inputs) -> Sequence[Judgement]:
    rows = _location(inputs).read().judgements if inputs.number.model else []
    if not rows:
        raise MissingResponsesError("the table of human verdicts is missing")
    return rows


def _location(inputs: _Inputs) -> EvaluationLocation:
    number = inputs.number
    return EvaluationLocation(number.tables, inputs.task, number.signature.condition, number.model)


def _compare(
    inputs: _Inputs, requirements: list[BundleRequirement], rescored: RescoredEvaluation
) -> ReproductionResult:
    """Compare with stored tables; without them with metrics, or only with the signature."""
    number, task = inputs.number, inputs.task
    before = _location(inputs).read() if number.model and number.metrics else None
    found: Sequence[Divergence]
    causes: list[Cause] = []
    if before is not None and not metric_divergences(before.metrics, number.metrics):
        stored = RescoredEvaluation(
            before.predictions, before.judgements, before.scores, before.metrics
        )
        found, compared = find_divergences(stored, rescored), "the tables of this home"
        if found:
            after = EvaluationTables(name="again", questions=inputs.questions, **rescored._asdict())
            causes = decompose_difference(task, before, after, _metric_of(found, task))
    elif number.metrics:
        found, compared = (
            metric_divergences(number.metrics, rescored.metrics),
            "the file of metrics",
        )
    else:
        now = rescored.metrics[0].signature
        unchanged = now == number.text
        found = [] if unchanged else [_signature_divergence(number.text, now)]
        compared = "the signature only: no table here has its digits"
    return ReproductionResult(
        number=number,
        needs=requirements,
        again=rescored,
        partings=found,
        causes=causes,
        compared=compared,
    )


def _signature_divergence(before: str, after: str) -> Divergence:
    return Divergence(step="metrics", entry="all", field="signature", before=before, after=after)


def _metric_of(found: Sequence[Divergence], task: Task) -> str:
    """The metric to explain: the first that differs over all questions."""
    cells = [one.entry for one in found if one.step == "metrics"]
    names = [name for name in task.measures if f"{name} all" in cells]
    return names[0] if names else task.primary_metric


def bundle(
    bench: Workbench, named: Sequence[str], condition: str, target: Path, *, images: bool
) -> PackedBundle:
    """Write the bundle of a number.

    Raises:
        UnknownNameError: If there is no such task, or the model was not evaluated on it.
        TableError: If a table is missing, or the number does not follow from its responses.
        HomeError: If the file cannot be written.
    """
    number = find_number(bench, named, condition)
    if not number.model:
        raise TableError(f"no table here has the signature {number.text}: nothing to pack")
    home, suite = bench.settings.home, bench.catalog.suite(number.signature.task)
    task = next(one for one in suite.tasks if one.name == number.signature.task)
    wanted = TableFilter([task], [number.model], [number.signature.condition])
    gathered = TableCollection(number.tables, wanted, known_secrets(home))
    responses = existing_response_store(bench.settings)
    options = BundleOptions(
        suite=suite,
        benchmark=bench.settings.benchmarks.get(suite.name),
        image_store=open_image_store(bench.settings),
        remembered=responses.prompt if responses else lambda sha256: None,
        secrets=known_secrets(home),
        passed_on=suite.name not in restricted_suites(number.tables, bench.catalog),
        images=images,
    )
    return pack_number(_only(gathered), options, target)


def _only(gathered: TableCollection) -> ModelResponses:
    found = list(gathered.evaluations())
    if gathered.left_out or not found:
        why = "; ".join(gathered.left_out) or "no responses"
        raise TableError(f"not packed: {why}")
    return found[0]
