"""Reproduces numbers from cached responses, and packs them into bundles; writes no tables."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

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
from bench_assets.core.judging.second_look import is_reader, reader_setting, split_judges
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
    requirements: list[BundleRequirement]
    evaluation: Evaluation | None = None  # None: an input is missing
    divergences: Sequence[Divergence] = ()
    causes: Sequence[Cause] = ()
    stale: str = ""  # reason why the number is not current

    @property
    def exit_code(self) -> int:
        """0: same digits; 1: different digits; 2: cannot be evaluated."""
        return 2 if self.evaluation is None else int(bool(self.divergences))


def reproduce(bench: Workbench, number: NumberRef) -> ReproductionResult:
    """Find a number's inputs, evaluate it again if all are available, and compare.

    The tables of the home stay as they are.
    """
    task, requirements = number.task, task_requirements(number)
    if _has_missing(requirements):
        return ReproductionResult(number=number, requirements=requirements)
    sources = [number.tables, bench.tables, *bench.tables.elsewhere(task.suite)]
    questions, data_requirements = question_requirements(number, sources)
    requirements += data_requirements
    if _has_missing(requirements):
        return ReproductionResult(number=number, requirements=requirements)
    with bench.models(asks=False) as models:
        try:
            runner = _build_runner(bench, models, number, questions)
            predictions = runner.predictions(questions)
            _require_cached(predictions)
            judgements = runner.judgements(questions, predictions)
            _require_cached(judgements)
        except BenchError as error:  # for any reason, responses are missing
            remedy = "`bench evaluate` requests the missing responses"
            unmet = BundleRequirement(
                part="responses", takes="all", here=str(error), missing=remedy
            )
            return ReproductionResult(number=number, requirements=[*requirements, unmet])
    requirements += _response_requirements(number, len(predictions), len(judgements))
    stored = replace(
        runner, responses=StoredResponses(predictions), judge=StoredVerdicts(judgements)
    )
    rescored = stored.run(questions)
    before = _stored_location(number).read()
    divergences = find_divergences(before, rescored)
    return ReproductionResult(
        number=number,
        requirements=requirements,
        evaluation=rescored,
        divergences=divergences,
        causes=_find_causes(before, rescored, divergences) if divergences else (),
        stale=stale_reason(bench, task, number.metrics, number.tables),
    )


def _has_missing(requirements: Sequence[BundleRequirement]) -> bool:
    return any(requirement.missing for requirement in requirements)


def _require_cached(rows: Sequence[Prediction] | Sequence[Judgement]) -> None:
    if missing := sum(NOT_CACHED in row.error for row in rows):
        raise ModelError(f"{missing} of {len(rows)} responses are not cached")


def _response_requirements(
    number: NumberRef, n_responses: int, n_verdicts: int
) -> list[BundleRequirement]:
    """The requirements that cached responses and verdicts meet."""
    signed = number.signature.parts
    model, judge = signed.get("model", ""), signed.get("judge", "")
    responses = f"{n_responses} responses"
    requirements = [BundleRequirement(part="responses", takes=model, here=responses)]
    if number.task.has_judgements:
        verdicts = f"{n_verdicts} verdicts"
        requirements.append(BundleRequirement(part="judge", takes=judge, here=verdicts))
    return requirements


def _build_runner(
    bench: Workbench, models: Models, number: NumberRef, questions: Sequence[Question]
) -> Runner:
    """Build the runner of cached responses and verdicts; of stored ones where none are cached."""
    condition = number.signature.condition
    return Runner(
        task=number.task,
        condition=condition,
        responses=_find_responses(bench, models, number),
        judge=_find_verdicts(bench, models, number),
        scorer=number.signature.parts["scorer"],
        n_rejected=count_rejections(number.tables, number.task, questions, condition),
    )


def _find_responses(bench: Workbench, models: Models, number: NumberRef) -> Responses:
    """Responses that are cached under the signature, computed here, or stored."""
    signed_model = number.signature.parts.get("model", "")
    accept: list[Accepted] = ["refused"] if "refused" in number.signature.parts else []
    draws = int(number.signature.parts.get(DRAWS, 1))
    if number.task.asked_of != "model":
        return StoredResponses(_stored_predictions(number))
    if _is_local(bench, number.model):
        open_signed = partial(
            _open_model, models, number.model, number.signature.condition, signed_model
        )
        return GeneratedResponses(open=open_signed, accept=accept, draws=draws)
    cached_model = _cached_model(number.model, signed_model, models)
    cached_responses = replace(GeneratedResponses.of(cached_model, accept=accept), draws=draws)
    if not accept:
        return cached_responses
    return _WithRefusals(cached_responses, _stored_predictions(number))


@dataclass(frozen=True, slots=True)
class _WithRefusals:
    """Cached responses, and refused ones from a table, because those are not cached."""

    cached: Responses
    stored: Sequence[Prediction]

    def predictions(
        self, task: Task, questions: Sequence[Question], condition: str
    ) -> list[Prediction]:
        """Cached predictions; where none is cached, the refused one of the table."""
        refused = {(row.question_id, row.sample): row for row in self.stored if row.refused}
        return [
            refused.get((row.question_id, row.sample), row) if row.error == NOT_CACHED else row
            for row in self.cached.predictions(task, questions, condition)
        ]


def _find_verdicts(bench: Workbench, models: Models, number: NumberRef) -> Verdicts:
    """Verdicts of the judge and the reader in the number's signature."""
    task = number.task
    names = split_judges(number.signature.parts.get("judge", ""))
    judges = [name for name in names if not is_reader(name)]
    verdicts: Verdicts = StoredVerdicts()
    if task.is_judged:
        configured = bench.settings.suite(task.suite, SuiteSettings).judge
        name, judge_model = _signed_judge(number, judges, configured)
        if name == PEOPLE:
            verdicts_of_people = _stored_location(number).read().judgements
            if not verdicts_of_people:
                raise ModelError("the table of human verdicts is missing")
            return StoredVerdicts(verdicts_of_people)
        if judge_model:
            open_judge = partial(_open_cached, models, judge_model)
            verdicts = ModelVerdicts(name=name, open=open_judge)
        elif name:
            verdicts = RuleVerdicts(name)
    reader = next((reader_setting(name) for name in names if is_reader(name)), "")
    if not reader:
        return verdicts
    model = reader_model(reader, number.model, bench.settings, bench.model)
    open_reader = partial(_open_cached, models, model)
    return ReaderVerdicts(judge=verdicts, setting=reader, open=open_reader)


def _signed_judge(number: NumberRef, judges: Sequence[str], configured: str) -> ChosenJudge:
    """The judge in the number's signature; the configured one if no response was judged."""
    task = number.task
    if not judges:
        return task.asked_judge(configured, number.signature.parts["scorer"])
    judge_models = [judge for judge in judges if judge != RULES]
    if len(judge_models) > 1:
        return task.chosen_judge("+".join(judges))  # refused: no judge has such a name
    return task.chosen_judge(judge_models[0] if judge_models else RULES)


def _cached_model(name: str, signature: str, models: Models) -> ChatModel:
    """Build a model that answers from the responses cached under a signature."""
    model = CachedResponseModel(name, signature, models.store)
    _, elicitation = split_signature(signature)
    return ElicitedModel(model, name, elicitation) if elicitation else model


def _is_local(bench: Workbench, model: str) -> bool:
    """Whether a model's responses are computed here, and not cached."""
    is_known = model in {**EMBEDDED_MODELS, **bench.settings.models}
    return is_known and engine_kind(bench.model(model).base.spec) is None


@contextmanager
def _open_cached(models: Models, name: str) -> Generator[ChatModel]:
    """Open a model that answers from cached responses only."""
    with _open_model(models, name, "main") as model:
        yield cached(model)


@contextmanager
def _open_model(
    models: Models, name: str, condition: str, expected_signature: str = ""
) -> Generator[ChatModel]:
    """Open a model, which must have the expected signature, unless that is ""."""
    with open_model(models, name, name, condition) as model:
        if expected_signature and model.signature != expected_signature:
            raise ModelError(f"{name} is now {model.signature}")
        yield model


def _stored_predictions(number: NumberRef) -> Sequence[Prediction]:
    rows = _stored_location(number).read().predictions
    if not rows:
        raise ModelError("the table of responses is missing")
    return rows


def _stored_location(number: NumberRef) -> EvaluationLocation:
    return EvaluationLocation(
        tables=number.tables,
        task=number.task,
        condition=number.signature.condition,
        model=number.model,
    )


def _find_causes(
    before: EvaluationTables, rescored: Evaluation, divergences: Sequence[Divergence]
) -> list[Cause]:
    """Split the difference of the metric to explain by cause."""
    after = EvaluationTables(
        name="again",
        questions=rescored.questions,
        predictions=rescored.predictions,
        judgements=rescored.judgements,
        scores=rescored.scores,
        metrics=rescored.metrics,
    )
    metric = _metric_to_explain(divergences, rescored.task)
    return decompose_difference(rescored.task, before, after, metric)


def _metric_to_explain(divergences: Sequence[Divergence], task: Task) -> str:
    """The first metric that differs over all questions; without any, the primary one."""
    cells = [divergence.entry for divergence in divergences if divergence.step == "metrics"]
    names = [name for name in task.measures if f"{name} all" in cells]
    return names[0] if names else task.primary_metric


def write_bundle(
    bench: Workbench, number: NumberRef, target: Path, *, images: bool
) -> PackedBundle:
    """Write the bundle of a number; print why it is stale, if it is.

    Raises:
        TableError: If a table is missing, the number does not follow from its responses, or the
            bundle would be too large.
        HomeError: If the file cannot be written.
        ImageError: If an image is damaged.
    """
    task, suite = number.task, bench.catalog.suite(number.task.name)
    if reason := stale_reason(bench, task, number.metrics, number.tables):
        print_message(f"stale: {reason}; the bundle holds the questions that were asked")
    table_filter = TableFilter(
        tasks=[task], models=[number.model], conditions=[number.signature.condition]
    )
    collection = TableCollection(number.tables, table_filter)
    responses = existing_response_store(bench.settings)
    options = BundleOptions(
        suite=suite,
        benchmark=bench.settings.benchmarks.get(suite.name),
        image_store=open_image_store(bench.settings),
        find_prompt=responses.prompt if responses else lambda sha256: None,
        passed_on=suite.name not in restricted_suites(number.tables, bench.catalog),
        images=images,
    )
    return pack_number(_single_evaluation(collection), options, target)


def _single_evaluation(collection: TableCollection) -> ModelResponses:
    evaluations = list(collection.evaluations())
    if collection.left_out or not evaluations:
        left_out = "; ".join(collection.left_out) or "no responses"
        raise TableError(f"not packed: {left_out}")
    return evaluations[0]
