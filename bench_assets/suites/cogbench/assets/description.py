"""The description task: its question table, recognition, caption metrics and studies.

Tables 2, 4 and 7, and the oracle.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import nan

import dagster as dg

from bench_assets.asset_factory.configured_runner import configured_runner
from bench_assets.asset_factory.evaluation_assets import EvaluationStep
from bench_assets.asset_factory.evaluation_steps import run_judge
from bench_assets.asset_factory.evaluation_tables import read_constants
from bench_assets.asset_factory.suite_assets import MODELS, AssetFolder, needs_metadata
from bench_assets.core.metrics.captions import CaptionPair, corpus_bleu, score_captions
from bench_assets.core.metrics.ptb_tokenizer import tokenize
from bench_assets.core.schema.rows import (
    Judgement,
    Metric,
    Prediction,
    Question,
    StoredImage,
)
from bench_assets.core.tables.arrow import digest
from bench_assets.core.tables.build import Table
from bench_assets.evaluation.aggregation import join_answers
from bench_assets.evaluation.baselines.blind_baselines import best_cells, constant_predictions
from bench_assets.evaluation.runner import Baselines, StoredResponses, StoredVerdicts
from bench_assets.evaluation.suite import HomeConfiguration
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.cogbench.assets.construction import edition_of, open_encoder
from bench_assets.suites.cogbench.dataset.source import (
    Story,
    StoryChain,
    find_release,
    read_stories,
)
from bench_assets.suites.cogbench.description import evaluators
from bench_assets.suites.cogbench.description.evaluators import EvaluatorAccuracy, blank_row
from bench_assets.suites.cogbench.description.questions import key_points, to_questions
from bench_assets.suites.cogbench.description.recognition import (
    MEASURES,
    EntityMatch,
    constant_descriptions,
    match_entities,
    remove_denied,
    threshold_of,
)
from bench_assets.suites.cogbench.description.task import TASK
from bench_assets.suites.cogbench.settings import CogbenchSettings
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.encoders.entailment import open_entailment
from bench_resources.encoders.meteor import METEOR_VERSION, meteor, missing_meteor
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
    # An unreadable file stops this task, and only this one.
    read = read_stories(release) if release.edition == "published" else Table(stories)
    by_name = {image.name: image for image in stored}
    n_read = len(read.rows)
    complete = not read.rejections and n_read == len(stories) == TASK.counts["all"]
    edition = edition_of(opened, whole=complete)
    rows = to_questions(stories, chains, by_name, edition)
    n_points = sum(len(key_points(row)) for row in rows)
    return table_output(rows, {"key_points": n_points, **question_preview(rows, image_store)})


_TASK_FOLDER = AssetFolder(TASK.name, str(TASK.version))
_STAGE = _TASK_FOLDER.stage("metrics", ablation=True, partitions=MODELS)


@dg.asset(ins=_TASK_FOLDER.ins("questions", "predictions"), **_STAGE)
def caption_metrics(
    context: dg.AssetExecutionContext, questions: list[Question], predictions: list[Prediction]
) -> dg.Output[list[Metric]]:
    """Measure BLEU and CIDEr against the annotated descriptions (appendix E)."""
    captions = _captions(questions, predictions)
    scores = score_captions(captions)
    values = {f"bleu_{n}": float(bleu) for n, bleu in enumerate(corpus_bleu(scores), 1)}
    values["cider"] = float(scores.cider.mean()) if captions else nan
    row = blank_row(context.partition_key, questions, predictions, captions="ptb")
    return table_output(
        [_corpus_metric(row, name, value, captions) for name, value in values.items()]
    )


@dg.asset(name="meteor", ins=_TASK_FOLDER.ins("questions", "predictions"), **_STAGE)
def meteor_metric(
    context: dg.AssetExecutionContext, questions: list[Question], predictions: list[Prediction]
) -> dg.Output[list[Metric]]:
    """Measure METEOR, if Java is installed."""
    captions = _captions(questions, predictions)
    missing = missing_meteor()
    version = f"absent ({missing})" if missing else METEOR_VERSION
    row = blank_row(context.partition_key, questions, predictions, meteor=version)
    if missing or not captions:
        return table_output([replace(row, metric="meteor", n_unscored=len(captions))])
    split = [
        (tokenize(caption), [tokenize(text) for text in references])
        for caption, references in captions
    ]
    return table_output([_corpus_metric(row, "meteor", meteor(split).corpus, captions)])


def _captions(
    questions: Sequence[Question], predictions: Sequence[Prediction]
) -> list[CaptionPair]:
    pairs = join_answers(questions, predictions)
    return [CaptionPair(pair.prediction.text, pair.question.answer) for pair in pairs]


def _corpus_metric(row: Metric, name: str, value: float, captions: Sequence[CaptionPair]) -> Metric:
    """A metric of a whole corpus: one value, no interval."""
    return replace(row, metric=name, value=value, low=nan, high=nan, n_scored=len(captions))


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
    nouns_by_text = dict(
        zip(
            texts := list(dict.fromkeys([*full_texts, *affirmed_texts])),
            finder.nouns(texts),
            strict=True,
        )
    )
    if chosen.recognition_threshold is None:
        threshold, encoder_threshold = threshold_of(encoder)
    else:
        threshold = chosen.recognition_threshold
        encoder_threshold = f"{threshold:g} by bench.toml"
    return match_entities(
        answered,
        [nouns_by_text[text] for text in full_texts],
        encoder,
        [nouns_by_text[text] for text in affirmed_texts],
        threshold,
        f"nouns:{finder.name}|encoder:{encoder.name}|above:{encoder_threshold}",
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
    """Compute every metric of recognition, with the best constant description beside it."""
    recogniser = "+".join(sorted({match.recogniser for match in matches})) or "none"
    row = blank_row(model, questions, predictions, **{recogniser: ""})
    chosen = str(settings.suite("cogbench", CogbenchSettings))
    key = chosen, recogniser, digest(questions)
    if (best := _CONSTANTS.get(key)) is None:
        best = _CONSTANTS[key] = _best_constants(settings, questions)
    return [
        replace(row, metric=name, constant=best.get(name), **measure(matches)._asdict())
        for name, measure in MEASURES.items()
    ]


def _best_constants(settings: HomeConfiguration, questions: Sequence[Question]) -> dict[str, float]:
    """Recognition of the best constant description, by metric."""
    tried = constant_descriptions(questions) if questions else []
    answered = [join_answers(questions, constant_predictions(questions, text)) for text in tried]
    matches = find_matches(settings, [pair for pairs in answered for pair in pairs])
    n = len(matches) // max(1, len(tried))
    cells = {
        text: {
            (name, "all"): measure(matches[k * n : k * n + n]).value
            for name, measure in MEASURES.items()
        }
        for k, text in enumerate(tried)
    }
    return {metric: value for (metric, _), (value, _) in best_cells(cells).items()}


ORACLE = "oracle"  # model name of the annotated descriptions


_JUDGE_STAGE = _TASK_FOLDER.stage("metrics", asks="judge")
_JUDGE_STAGE["group_name"] = "cogbench_oracle"  # asks a judge, but once and not for each model


@_TASK_FOLDER.step("scores", partitions=MODELS)
def entity_matches(
    settings: dg.ResourceParam[Settings], questions: list[Question], predictions: list[Prediction]
) -> list[EntityMatch]:
    """Match annotated entities with the nouns of a model's descriptions (section 3.2)."""
    return find_matches(settings, join_answers(questions, predictions))


@_TASK_FOLDER.step("metrics", partitions=MODELS)
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


@_TASK_FOLDER.step(
    "metrics",
    metadata=needs_metadata("human_labels in [suites.cogbench] of bench.toml"),
    ablation=True,
    partitions=MODELS,
)
def evaluator_accuracy(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    questions: list[Question],
    predictions: list[Prediction],
    judgements: list[Judgement],
) -> list[EvaluatorAccuracy]:
    """Compare automatic evaluators with human labels (section 3.3.4, Table 4)."""
    chosen = settings.suite("cogbench", CogbenchSettings)
    if chosen.human_labels is None:
        return []
    labels = evaluators.read_labels(settings.resolve(chosen.human_labels))
    relevant = [label for label in labels if label.model in ("", context.partition_key)]
    points = evaluators.labelled_points(questions, join_answers(questions, predictions), relevant)
    judges = sorted({row.judge for row in judgements} - {"rules"})
    return [
        *(
            evaluators.evaluate_by_threshold(name, points, score)
            for name, score in _scorers(settings).items()
        ),
        *(
            []
            if chosen.nli_model
            else [evaluators.skipped_evaluator("NLI", "not run: set nli_model")]
        ),
        *(
            evaluators.skipped_evaluator(name, reason)
            for name, reason in evaluators.NOT_RUN.items()
        ),
        evaluators.evaluate_by_rules(points),
        *(evaluators.evaluate_by_verdict(judge, points, judgements) for judge in judges),
        *([] if judges else [evaluators.skipped_evaluator("chat judge", "not run: set judge")]),
    ]


@dg.asset(ins=_TASK_FOLDER.ins("questions"), **_JUDGE_STAGE)
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


def _scorers(settings: Settings) -> dict[str, evaluators.ScorePairs]:
    """The evaluators that give numbers and can be run, by name."""
    location = settings.suite("cogbench", CogbenchSettings).nli_model
    encoder = open_encoder(settings)
    scorers: dict[str, evaluators.ScorePairs] = {
        "ROUGE-L recall": evaluators.rouge_recall,
        f"cosine, {encoder.name}": evaluators.cosine_scorer(encoder),
    }
    if location:
        resolved = settings.resolve(location)
        scorers[f"NLI, {location}"] = open_entailment(
            str(resolved) if resolved.is_dir() else location
        )
    return scorers
