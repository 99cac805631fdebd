"""Reproduces numbers from cached responses, and packs them into bundles; writes no tables."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench_assets.annotation.tasks import PEOPLE
from bench_assets.asset_factory.configured_runner import reader_model
from bench_assets.asset_factory.evaluation_tables import count_rejections
from bench_assets.bundles.packing import BundleOptions, PackedBundle, pack_number
from bench_assets.bundles.requirements import (
    BundleRequirement,
    CachedResponseModel,
    NumberRef,
    question_requirements,
    task_requirements,
)
from bench_assets.bundles.rescoring import Divergence, find_divergences
from bench_assets.comparison.causes import EvaluationTables
from bench_assets.comparison.difference import Cause, decompose_difference
from bench_assets.comparison.sides import EvaluationLocation
from bench_assets.core.judging.second_look import is_reader, reader_setting
from bench_assets.core.schema.chat import NOT_CACHED, ChatModel, cached
from bench_assets.core.schema.elicitation import split_signature
from bench_assets.core.schema.errors import BenchError, ModelError, TableError
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.core.schema.signature import DRAWS
from bench_assets.evaluation.outcomes import Accepted
from bench_assets.evaluation.readers import ReaderVerdicts
from bench_assets.evaluation.runner import (
    GeneratedResponses,
    ModelVerdicts,
    Responses,
    RuleVerdicts,
    Runner,
    StoredResponses,
    StoredVerdicts,
    Verdicts,
)
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import RULES, ChosenJudge, Evaluation, Task
from bench_assets.report.site.images import restricted_suites
from bench_assets.workspace.console.output import print_message
from bench_assets.workspace.evaluate.subset import open_model
from bench_assets.workspace.inspect.stale_numbers import stale_reason
from bench_assets.workspace.inspect.table_collection import (
    ModelResponses,
    TableCollection,
    TableFilter,
)
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.sections.models import EMBEDDED_MODELS
from bench_resources.config.stores import existing_response_store
from bench_resources.images.store import open_image_store
from bench_resources.models.registry.elicited_model import ElicitedModel
from bench_resources.models.registry.engines import engine_kind
from bench_resources.models.registry.opening import Models


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproductionResult:
    """Outcome of a reproduction."""

    number: NumberRef
    needs: list[BundleRequirement]
    again: Evaluation | None = None  # None: an input is missing
    partings: Sequence[Divergence] = ()
    causes: Sequence[Cause] = ()
    stale: str = ""  # reason why the number is not current

    @property
    def exit_code(self) -> int:
        """0: same digits; 1: different digits; 2: cannot be evaluated."""
        return 2 if self.again is None else int(bool(self.partings))


class MissingResponsesError(ModelError):
    """Needed responses are not cached, or a model is unavailable."""


class _Inputs(NamedTuple):
    """Available inputs of an evaluation."""

    number: NumberRef
    questions: list[Question]

    @property
    def task(self) -> Task:
        """The task of the number."""
        return self.number.task


def reproduce(bench: Workbench, number: NumberRef) -> ReproductionResult:
    """Find a number's inputs, evaluate it again if all are available, and compare.

    Args:
        bench: The home; its tables stay as they are.
        number: The number to reproduce.
    """
    task, requirements = number.task, task_requirements(number)
    if _has_missing(requirements):
        return ReproductionResult(number=number, needs=requirements)
    places = [number.tables, bench.tables, *bench.tables.elsewhere(task.suite)]
    questions, more = question_requirements(number, places)
    requirements += more
    if _has_missing(requirements):
        return ReproductionResult(number=number, needs=requirements)
    inputs = _Inputs(number, questions)
    with bench.models(asks=False) as models:
        try:
            runner = _runner(bench, models, inputs)
            predictions = runner.predictions(questions)
            _require_cached(predictions)
            judgements = runner.judgements(questions, predictions)
            _require_cached(judgements)
        except BenchError as error:  # for any reason, responses are missing
            remedy = "`bench evaluate` requests the missing responses"
            unmet = BundleRequirement(
                part="responses", takes="all", here=str(error), missing=remedy
            )
            return ReproductionResult(number=number, needs=[*requirements, unmet])
    requirements.append(_met(number, "responses", "model", f"{len(predictions)} responses"))
    if task.has_judgements:
        requirements.append(_met(number, "judge", "judge", f"{len(judgements)} verdicts"))
    stored = replace(
        runner, responses=StoredResponses(predictions), judge=StoredVerdicts(judgements)
    )
    result = _compare(inputs, requirements, stored.run(questions))
    return replace(result, stale=stale_reason(bench, task, number.metrics, number.tables))


def _has_missing(requirements: Sequence[BundleRequirement]) -> bool:
    return any(need.missing for need in requirements)


def _require_cached(rows: Sequence[Prediction] | Sequence[Judgement]) -> None:
    """Require that all responses were cached.

    Raises:
        MissingResponsesError: If one was not.
    """
    if missing := sum(NOT_CACHED in row.error for row in rows):
        raise MissingResponsesError(f"{missing} of {len(rows)} responses are not cached")


def _met(number: NumberRef, part: str, signed: str, here: str) -> BundleRequirement:
    return BundleRequirement(part=part, takes=number.signature.parts.get(signed, ""), here=here)


def _runner(bench: Workbench, models: Models, inputs: _Inputs) -> Runner:
    """Build the runner of cached responses and verdicts, or of stored ones where none are cached.

    Raises:
        MissingResponsesError: If a table is missing.
    """
    number, task, questions = inputs.number, inputs.task, inputs.questions
    condition = number.signature.condition
    return Runner(
        task=task,
        condition=condition,
        responses=_responses(bench, models, inputs),
        judge=_verdicts(bench, models, inputs),
        scorer=number.signature.parts["scorer"],
        n_rejected=count_rejections(number.tables, task, questions, condition),
    )


def _responses(bench: Workbench, models: Models, inputs: _Inputs) -> Responses:
    """Responses that are cached under the signature, computed here, or stored."""
    number, task = inputs.number, inputs.task
    wanted = number.signature.parts.get("model", "")
    accept: list[Accepted] = ["refused"] if "refused" in number.signature.parts else []
    draws = int(number.signature.parts.get(DRAWS, 1))
    if task.asked_of != "model":
        return StoredResponses(_stored_predictions(inputs))
    if _is_local(bench, number.model):
        opened = partial(_open_model, models, number.model, number.signature.condition, wanted)
        return GeneratedResponses(open=opened, accept=accept, draws=draws)
    known = _cached_model(number.model, wanted, models)
    cached_responses = replace(GeneratedResponses.of(known, accept=accept), draws=draws)
    if not accept:
        return cached_responses
    return _WithRefusals(cached_responses, _stored_predictions(inputs))


@dataclass(frozen=True, slots=True)
class _WithRefusals:
    """Cached responses, and those that were refused, which are not cached, of a table."""

    cached: Responses
    stored: Sequence[Prediction]

    def predictions(
        self, task: Task, questions: Sequence[Question], condition: str
    ) -> list[Prediction]:
        """Take the refused ones from the table."""
        refused = {(row.question_id, row.sample): row for row in self.stored if row.refused}
        return [
            refused.get((row.question_id, row.sample), row) if row.error == NOT_CACHED else row
            for row in self.cached.predictions(task, questions, condition)
        ]


def _verdicts(bench: Workbench, models: Models, inputs: _Inputs) -> Verdicts:
    """Verdicts of the judge and the reader in the number's signature."""
    number, task = inputs.number, inputs.task
    parts = number.signature.parts.get("judge", "none").split("+")
    judges = [part for part in parts if not is_reader(part)] or ["none"]

    @contextmanager
    def open_cached(name: str) -> Generator[ChatModel]:
        with _open_model(models, name, "main") as judge:
            yield cached(judge)

    verdicts: Verdicts = RuleVerdicts()
    if task.is_judged:
        configured = bench.settings.suite(task.suite, SuiteSettings).judge
        name, model = _judge_of(task, "+".join(judges), configured)
        if name == PEOPLE:
            return StoredVerdicts(_stored_verdicts(inputs))
        opened = partial(open_cached, model)
        verdicts = ModelVerdicts(name=name, open=opened) if model else RuleVerdicts(name)
    if reader := next(filter(None, map(reader_setting, parts)), ""):
        model = reader_model(reader, number.model, bench.settings, bench.model)
        return ReaderVerdicts(judge=verdicts, setting=reader, open=partial(open_cached, model))
    return verdicts


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
    is_known = model in {**EMBEDDED_MODELS, **bench.settings.models}
    return is_known and engine_kind(bench.model(model).base.spec) is None


@contextmanager
def _open_model(
    models: Models, name: str, condition: str, wanted: str = ""
) -> Generator[ChatModel]:
    """Open a model, whose signature has to be ``wanted``, if that is given.

    Raises:
        MissingResponsesError: If it has another signature.
    """
    with open_model(models, name, name, condition) as model:
        if wanted and model.signature != wanted:
            raise MissingResponsesError(f"{name} is now {model.signature}")
        yield model


def _stored_predictions(inputs: _Inputs) -> list[Prediction]:
    if not (rows := list(_location(inputs).read().predictions)):
        raise MissingResponsesError("the table of responses is missing")
    return rows


def _stored_verdicts(inputs: _Inputs) -> Sequence[Judgement]:
    if not (rows := _location(inputs).read().judgements):
        raise MissingResponsesError("the table of human verdicts is missing")
    return rows


def _location(inputs: _Inputs) -> EvaluationLocation:
    number = inputs.number
    return EvaluationLocation(number.tables, inputs.task, number.signature.condition, number.model)


def _compare(
    inputs: _Inputs, requirements: list[BundleRequirement], rescored: Evaluation
) -> ReproductionResult:
    """Compare with the stored tables."""
    before, causes = _location(inputs).read(), list[Cause]()
    if divergences := find_divergences(before, rescored):
        after = EvaluationTables(
            name="again",
            questions=inputs.questions,
            predictions=rescored.predictions,
            judgements=rescored.judgements,
            scores=rescored.scores,
            metrics=rescored.metrics,
        )
        metric = _metric_of(divergences, inputs.task)
        causes = decompose_difference(inputs.task, before, after, metric)
    return ReproductionResult(
        number=inputs.number,
        needs=requirements,
        again=rescored,
        partings=divergences,
        causes=causes,
    )


def _metric_of(found: Sequence[Divergence], task: Task) -> str:
    """The metric to explain: the first that differs over all questions."""
    cells = [divergence.entry for divergence in found if divergence.step == "metrics"]
    names = [name for name in task.measures if f"{name} all" in cells]
    return names[0] if names else task.primary_metric


def bundle(bench: Workbench, number: NumberRef, target: Path, *, images: bool) -> PackedBundle:
    """Write the bundle of a number.

    Raises:
        TableError: If a table is missing, or the number does not follow from its responses.
        HomeError: If the file cannot be written.
    """
    task, suite = number.task, bench.catalog.suite(number.task.name)
    if reason := stale_reason(bench, task, number.metrics, number.tables):
        print_message(f"stale: {reason}; the bundle holds the questions that were asked")
    wanted = TableFilter([task], [number.model], [number.signature.condition])
    gathered = TableCollection(number.tables, wanted)
    responses = existing_response_store(bench.settings)
    options = BundleOptions(
        suite=suite,
        benchmark=bench.settings.benchmarks.get(suite.name),
        image_store=open_image_store(bench.settings),
        remembered=responses.prompt if responses else lambda sha256: None,
        passed_on=suite.name not in restricted_suites(number.tables, bench.catalog),
        images=images,
    )
    return pack_number(_only(gathered), options, target)


def _only(gathered: TableCollection) -> ModelResponses:
    evaluations = list(gathered.evaluations())
    if gathered.left_out or not evaluations:
        left_out = "; ".join(gathered.left_out) or "no responses"
        raise TableError(f"not packed: {left_out}")
    return evaluations[0]
