"""What the description task measures besides cognition (Tables 2 and 4, and the oracle)."""

import dagster as dg

from bench_assets.asset_factory.evaluation_steps import judged
from bench_assets.asset_factory.suite_assets import MODELS, AssetFolder
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.aggregation import answered_of
from bench_assets.suites.cogbench.assets.source import open_encoder
from bench_assets.suites.cogbench.description import evaluators
from bench_assets.suites.cogbench.description.assets.metrics import (
    find_matches,
    recognition_metrics,
)
from bench_assets.suites.cogbench.description.evaluators import EvaluatorAccuracy
from bench_assets.suites.cogbench.description.recognition import EntityMatch
from bench_assets.suites.cogbench.description.task import TASK
from bench_assets.suites.cogbench.settings import CogbenchSettings
from resources.config.settings_resource import SettingsResource
from resources.encoders.entailment import open_entailment
from resources.models.registry.opening import Models
from resources.tables.parquet import table_output

ORACLE = "oracle"  # the model that says what the annotators wrote


_HERE = AssetFolder(TASK.name, str(TASK.version))
_BY_A_JUDGE = _HERE.stage("metrics", asks="judge")
_BY_A_JUDGE["group_name"] = "cogbench_oracle"  # neither with the questions nor for each model


@dg.asset(ins=_HERE.ins("questions", "predictions"), **_HERE.stage("scores", partitions=MODELS))
def entity_matches(
    settings: SettingsResource, questions: list[Question], predictions: list[Prediction]
) -> dg.Output[list[EntityMatch]]:
    """Find the annotated entities in a model's descriptions (section 3.2).

    One row: one entity of one image, and the nouns of the description that come closest to it,
    of all and of those that it does not deny.
    The paper has 2,670.
    """
    return table_output(find_matches(settings.load(), answered_of(questions, predictions)))


@dg.asset(
    ins=_HERE.ins("questions", "predictions", "entity_matches"),
    **_HERE.stage("metrics", partitions=MODELS),
)
def recognition(
    context: dg.AssetExecutionContext,
    questions: list[Question],
    predictions: list[Prediction],
    entity_matches: list[EntityMatch],
) -> dg.Output[list[Metric]]:
    """Measure recognition (Table 2).

    One row: the share of entities that are recognised: `recognition` over all entities, read
    with care, `recognition_macro` over images, `recognition_official` as the authors' script.
    """
    return table_output(
        recognition_metrics(context.partition_key, questions, predictions, entity_matches)
    )


@dg.asset(
    ins=_HERE.ins("questions", "predictions", "judgements"),
    **_HERE.stage("metrics", ablation=True, partitions=MODELS),
)
def evaluator_accuracy(
    context: dg.AssetExecutionContext,
    settings: SettingsResource,
    questions: list[Question],
    predictions: list[Prediction],
    judgements: list[Judgement],
) -> dg.Output[list[EvaluatorAccuracy]]:
    """Compare ways to evaluate with people (section 3.3.4, Table 4).

    One row: one way to decide whether a chain is mentioned, and how often it agrees with people,
    or why it was not run. Empty unless `human_labels` is set in [suites.cogbench] of bench.toml.
    """
    configured = settings.load()
    chosen = configured.suite("cogbench", CogbenchSettings)
    if chosen.human_labels is None:
        return table_output([])
    labels = evaluators.read_labels(configured.resolve(chosen.human_labels))
    about = [label for label in labels if label.model in ("", context.partition_key)]
    points = evaluators.labelled_points(answered_of(questions, predictions), about)
    judges = sorted({row.judge for row in judgements} - {"rules"})
    return table_output(
        [
            *(
                evaluators.by_threshold(name, points, score)
                for name, score in _scorers(settings).items()
            ),
            *([] if chosen.nli_model else [evaluators.not_run("NLI", "not run: set nli_model")]),
            *(evaluators.not_run(name, why) for name, why in evaluators.NOT_RUN.items()),
            evaluators.by_rules(points),
            *(evaluators.by_verdict(judge, points, judgements) for judge in judges),
            *([] if judges else [evaluators.not_run("chat judge", "not run: set judge")]),
        ]
    )


@dg.asset(ins=_HERE.ins("questions"), **_BY_A_JUDGE)
def oracle(
    context: dg.AssetExecutionContext,
    settings: SettingsResource,
    models: Models,
    questions: list[Question],
) -> dg.Output[list[Metric]]:
    """Score the annotated descriptions as if a model had said them (Tables 2 and 3).

    One row: one metric of the oracle, an upper bound of what the judge and the encoder find.
    """
    said = [
        Prediction(
            question_id=question.question_id,
            model=ORACLE,
            condition="main",
            text=question.answer[0],
            decoding="the annotated descriptions",
        )
        for question in questions
    ]
    chosen = settings.load().suite("cogbench", CogbenchSettings)
    judgements, _ = judged(context, models, TASK, chosen.judge, questions, said)
    scores = pipeline.score(TASK, questions, said, judgements, chosen.reading)
    matches = find_matches(settings.load(), answered_of(questions, said))
    return table_output(
        [
            *pipeline.summarise(TASK, questions, said, scores),
            *recognition_metrics(ORACLE, questions, said, matches),
        ]
    )


def _scorers(settings: SettingsResource) -> dict[str, evaluators.ScorePairs]:
    """The evaluators that give numbers and can be run, by name."""
    configured = settings.load()
    location = configured.suite("cogbench", CogbenchSettings).nli_model
    encoder = open_encoder(configured)
    scorers: dict[str, evaluators.ScorePairs] = {
        "ROUGE-L recall": evaluators.rouge_recall,
        f"cosine, {encoder.name}": evaluators.cosine_by(encoder),
    }
    if location:
        beside = configured.resolve(location)
        scorers[f"NLI, {location}"] = open_entailment(str(beside) if beside.is_dir() else location)
    return scorers
