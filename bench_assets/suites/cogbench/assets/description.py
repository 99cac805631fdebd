"""The description task: its question table, recognition (Table 2), and the oracle."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice

import dagster as dg

from bench_assets.asset_factory.configured_runner import configured_runner
from bench_assets.asset_factory.evaluation_assets import EvaluationStep
from bench_assets.asset_factory.evaluation_steps import run_judge
from bench_assets.asset_factory.evaluation_tables import read_constants
from bench_assets.asset_factory.suite_assets import MODELS, AssetFolder, source_key
from bench_assets.core.schema.rows import Metric, Prediction, Question, StoredImage
from bench_assets.core.tables.arrow import digest
from bench_assets.core.tables.build import Table
from bench_assets.evaluation.aggregation import (
    blank_metric,
    failed_ids,
    join_answers,
    response_parts,
)
from bench_assets.evaluation.baselines.blind_baselines import best_cells, constant_predictions
from bench_assets.evaluation.runner import Baselines, StoredResponses, StoredVerdicts
from bench_assets.evaluation.suite import HomeConfiguration
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.cogbench.assets.construction import open_encoder
from bench_assets.suites.cogbench.dataset.source import (
    Story,
    StoryChain,
    find_release,
    read_stories,
)
from bench_assets.suites.cogbench.description.questions import entities, key_points, to_questions
from bench_assets.suites.cogbench.description.recognition import (
    MEASURES,
    EntityMatch,
    constant_descriptions,
    find_threshold,
    match_entities,
    remove_denied,
)
from bench_assets.suites.cogbench.description.task import TASK
from bench_assets.suites.cogbench.settings import CogbenchSettings
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.encoders.part_of_speech import open_noun_finder
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, table_output

_FOLDER = AssetFolder("cogbench/description")


@_FOLDER.step(
    "questions", reads={"stories": "../stories", "chains": "../chains", "stored": "../images"}
)
def questions(
    sources: SourceFiles,
    image_store: ImageStore,
    stories: list[Story],
    chains: list[StoryChain],
    stored: list[StoredImage],
) -> dg.Output[list[Question]]:
    """Make the description questions."""
    opened = sources.open("cogbench")
    release = find_release(opened.folder)
    is_published = release.edition == "published"
    # An unreadable file stops this task, and only this one.
    entries = read_stories(release) if is_published else Table(stories)
    n_entries = len(entries.rows)
    is_complete = not entries.rejections and n_entries == len(stories) == TASK.counts["all"]
    edition = opened.edition(published=is_published, whole=is_complete)
    rows = to_questions(stories, chains, {image.name: image for image in stored}, edition)
    n_points = sum(len(key_points(row)) for row in rows)
    return table_output(rows, {"key_points": n_points, **question_preview(rows, image_store)})


_TASK_FOLDER = AssetFolder(TASK.name, str(TASK.version))
_SETTINGS = [source_key("cogbench")]  # with the encoder and its threshold


def measure_recognition(
    settings: HomeConfiguration,
    model: str,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
) -> list[Metric]:
    """Measure recognition of one model's descriptions."""
    matches = find_matches(settings, join_answers(questions, predictions))
    return recognition_metrics(settings, model, questions, predictions, matches)


def find_matches(
    settings: HomeConfiguration, answered: Sequence[AnsweredQuestion]
) -> list[EntityMatch]:
    """Find the annotated entities in descriptions."""
    chosen = settings.suite("cogbench", CogbenchSettings)
    encoder = open_encoder(settings)
    finder = open_noun_finder()
    full_texts = [pair.prediction.raw_text or pair.prediction.text for pair in answered]
    affirmed_texts = [remove_denied(pair.prediction.text) for pair in answered]
    distinct_texts = list(dict.fromkeys([*full_texts, *affirmed_texts]))
    nouns_by_text = dict(zip(distinct_texts, finder.nouns(distinct_texts), strict=True))
    if chosen.recognition_threshold is None:
        threshold, threshold_text = find_threshold(encoder)
    else:
        threshold = chosen.recognition_threshold
        threshold_text = f"{threshold:g} by bench.toml"
    return match_entities(
        answered,
        [nouns_by_text[text] for text in full_texts],
        encoder,
        affirmed=[nouns_by_text[text] for text in affirmed_texts],
        threshold=threshold,
        recogniser=f"nouns:{finder.name}|encoder:{encoder.name}|above:{threshold_text}",
    )


_CONSTANTS: dict[tuple[str, ...], dict[str, float]] = {}
"""Cache by settings, recogniser and questions: these take as long as the matches of 30 models."""


def recognition_metrics(
    settings: HomeConfiguration,
    model: str,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    matches: Sequence[EntityMatch],
) -> list[Metric]:
    """Compute every metric of recognition, beside its value for the best constant description."""
    recogniser = "+".join(sorted({match.recogniser for match in matches})) or "none"
    parts = {**response_parts(predictions), recogniser: "", "n": str(len(questions))}
    n_failed = len(failed_ids(questions, predictions))
    row = blank_metric(TASK, questions, model, parts, n_failed=n_failed)
    cache_key = str(settings.suite("cogbench", CogbenchSettings)), recogniser, digest(questions)
    if cache_key not in _CONSTANTS:
        _CONSTANTS[cache_key] = _best_constants(settings, questions)
    constants = _CONSTANTS[cache_key]
    return [
        replace(row, metric=name, constant=constants.get(name), **measure(matches)._asdict())
        for name, measure in MEASURES.items()
    ]


def _best_constants(settings: HomeConfiguration, questions: Sequence[Question]) -> dict[str, float]:
    """Recognition of the best constant description, by metric."""
    texts = constant_descriptions(questions) if questions else []
    answered = [join_answers(questions, constant_predictions(questions, text)) for text in texts]
    # One call for all of them: each distinct noun and entity is embedded once.
    matches = iter(find_matches(settings, list(chain.from_iterable(answered))))
    n_entities = sum(len(entities(question)) for question in questions)
    cells = {}
    for text in texts:
        text_matches = list(islice(matches, n_entities))
        cells[text] = {
            (metric, "all"): measure(text_matches).value for metric, measure in MEASURES.items()
        }
    return {metric: value for (metric, _), (value, _) in best_cells(cells).items()}


ORACLE = "oracle"  # model name of the annotated descriptions


_JUDGE_STAGE = _TASK_FOLDER.stage("metrics", pool="judge")
_JUDGE_STAGE["group_name"] = "cogbench_oracle"  # asks a judge, but once and not for each model


@_TASK_FOLDER.step("scores", partitions=MODELS, deps=_SETTINGS)
def entity_matches(
    settings: dg.ResourceParam[Settings], questions: list[Question], predictions: list[Prediction]
) -> list[EntityMatch]:
    """Match annotated entities with the nouns of a model's descriptions (section 3.2)."""
    return find_matches(settings, join_answers(questions, predictions))


@_TASK_FOLDER.step("metrics", partitions=MODELS, deps=_SETTINGS)
def recognition(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    questions: list[Question],
    predictions: list[Prediction],
    entity_matches: list[EntityMatch],
) -> list[Metric]:
    """Measure recognition (Table 2)."""
    return recognition_metrics(
        settings, context.partition_key, questions, predictions, entity_matches
    )


@dg.asset(ins=_TASK_FOLDER.ins("questions"), deps=_SETTINGS, **_JUDGE_STAGE)
def oracle(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    models: Models,
    tables: TableFiles,
    questions: list[Question],
) -> dg.Output[list[Metric]]:
    """Score the annotated descriptions as a model's (Tables 2 and 3)."""
    predictions = [
        Prediction(
            question_id=question.question_id,
            model=ORACLE,
            condition="main",
            text=question.answer[0],
            decoding="the annotated descriptions",
        )
        for question in questions
    ]
    chosen = settings.suite("cogbench", CogbenchSettings)
    judgements, _ = run_judge(context, models, TASK, chosen.judge, questions, predictions)
    runner = configured_runner(
        TASK, settings, StoredResponses(predictions), StoredVerdicts(judgements)
    )
    constants = partial(read_constants, tables, EvaluationStep(TASK).constants)
    runner = replace(runner, baselines=Baselines(constants=constants))
    recognised = measure_recognition(settings, ORACLE, questions, predictions)
    return table_output([*runner.run(questions).metrics, *recognised])
