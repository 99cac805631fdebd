"""Tests of the papers' claims, one table per suite.

Claims are tested on the results of a home, paired by question if two cells share questions.
Blind baselines are left out. People are compared only with models on the published edition,
whose questions they answered.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import NamedTuple

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import evaluation_key, questions_key
from bench_assets.comparison.units import ScoredMetric, metric_pairs
from bench_assets.comparison.verdicts import scored_rows, scores_by_question
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.published_numbers import (
    Cell,
    Claim,
    ClaimResult,
    PublishedNumber,
    read_published,
)
from bench_assets.core.schema.rows import Metric, Question, Score
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.stats.claim_tests import (
    ClaimNumber,
    Difference,
    cell_label,
    claim_difference,
    difference_from_interval,
    evaluate_claims,
    evaluate_published_claims,
    find_published_number,
    names_its_models,
    to_claim_number,
)
from bench_assets.core.stats.paired_tests import change_interval, cluster_questions, mean_change
from bench_assets.core.text.escaping import escape_markdown
from bench_assets.evaluation.suite import Suite
from bench_assets.evaluation.task import ScoredQuestion, Task
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.models import BASELINES, EMBEDDED_MODELS
from bench_resources.config.settings_resource import SettingsResource
from bench_resources.tables.parquet import TableFiles, table_output


class _MeasuredCell(NamedTuple):
    cell: Cell
    model: str
    edition: str  # "published" for printed numbers
    number: ClaimNumber
    measured: bool


@dataclass(frozen=True)
class MeasuredClaims:
    """The claims of one paper over the tables of a home."""

    suite: str
    tasks: Sequence[Task]
    tables: TableFiles
    printed: Sequence[PublishedNumber]
    uninformed: Collection[str] = ()  # models that see no image
    _rows: dict[tuple[str, ...], dict[tuple[str, str], Metric]] = field(default_factory=dict)
    _questions: dict[tuple[str, str], dict[str, Question]] = field(default_factory=dict)

    def tried(self, claims: Sequence[Claim]) -> list[ClaimResult]:
        """Test all claims on every model that has the needed numbers."""
        models = {claim.name: self._models(claim) for claim in claims}
        return evaluate_claims(self.suite, claims, "measured", models, self._attempt)

    def _models(self, claim: Claim) -> list[str]:
        cells = [term.cell for term in claim.terms if not term.cell.model]
        left_out = {*self.uninformed, *claim.but, *(t.cell.model for t in claim.terms)}
        left_out |= {t.cell.here.model for t in claim.terms if t.cell.here}
        having = [set(self.tables.known(self._key(c.here or c))) for c in cells]
        models = sorted(set.intersection(*having) - left_out) if having else []
        return [one for one in models if all(self._metric(c.here or c, one) for c in cells)]

    def _attempt(self, claim: Claim, model: str) -> Difference | str:
        if names_its_models(claim):
            return "it is about models that the paper names"
        if not model:
            conditions = dict.fromkeys(term.cell.condition for term in claim.terms)
            return f"no model that sees images was evaluated on all of: {', '.join(conditions)}"
        found = [self._find(claim, term.cell, model) for term in claim.terms]
        if missing := [one for one in found if isinstance(one, str)]:
            return missing[0]
        cells = [one for one in found if not isinstance(one, str)]
        other = {one.edition for one in cells if one.measured} - {"published"}
        if other and not all(one.measured for one in cells):
            return f"measured on the edition {min(other)!r}, printed for 'published'"
        return self._paired_difference(claim, cells) or claim_difference(
            claim, [one.number for one in cells]
        )

    def _find(self, claim: Claim, cell: Cell, model: str) -> _MeasuredCell | str:
        own_cell = cell.here or cell
        own_model = own_cell.model or model
        row = self._metric(own_cell, own_model)
        if row is None:
            printed = (
                find_published_number(own_cell, own_model, self.printed) if own_cell.model else None
            )
            if printed is None:
                return claim.unprinted or f"not measured: {cell_label(own_cell, own_model)[:-1]}"
            number = to_claim_number(own_cell, own_model, printed)
            return _MeasuredCell(own_cell, own_model, "published", number, measured=False)
        if row.n_failed:
            return f"{cell_label(own_cell, own_model)} {row.n_failed} questions have no response"
        if isnan(row.value):
            return f"{cell_label(own_cell, own_model)} no value"
        low, high = (row.value,) * 2 if own_cell.exact else (row.low, row.high)
        label = f"{cell_label(own_cell, own_model)} {row.value:.3f}"
        return _MeasuredCell(
            own_cell,
            own_model,
            row.edition,
            ClaimNumber(label, row.value, low, high, row.n_scored),
            measured=True,
        )

    def _paired_difference(self, claim: Claim, cells: Sequence[_MeasuredCell]) -> Difference | None:
        """Paired difference of two numbers over the same questions; None if they have none."""
        if [term.weight for term in claim.terms] != [1.0, -1.0]:
            return None
        more, less = cells
        compared_fields = ("task", "metric", "category", "table")
        is_alike = all(getattr(more.cell, a) == getattr(less.cell, a) for a in compared_fields)
        if not (is_alike and more.measured and less.measured and more.cell.table == "metrics"):
            return None
        task = self._task(more.cell)
        try:
            sides = self._shared(task, *cells)
        except TableError:
            return None
        measure = task.measures.get(more.cell.metric)
        if not measure or not sides[0]:
            return None
        before, after = (ScoredMetric(side, measure(side).value) for side in sides[::-1])
        if isnan(before.value) or isnan(after.value):
            return None
        clusters = cluster_questions([one.question for one in before.scored])
        adds = task.adds.get(more.cell.metric)
        pairs = metric_pairs(measure, before, after, clusters, adds)
        low, high = (end - claim.margin for end in change_interval(pairs))
        value, n = (
            mean_change(pairs) - claim.margin,
            len({one.question_id for one, score in before.scored if score.points is not None}),
        )
        why = f"{cell_label(more.cell, more.model)} {after.value:.3f}; "
        why += f"{cell_label(less.cell, less.model)} {before.value:.3f}; paired on {n} questions"
        return difference_from_interval(value, low, high, n, why)

    def _shared(
        self, task: Task, more: _MeasuredCell, less: _MeasuredCell
    ) -> tuple[list[ScoredQuestion], list[ScoredQuestion]]:
        """Scores of a category's questions that are scored on both sides, see ``scored_rows``."""
        sides = [self._scored(task, one) for one in (more, less)]
        shared: tuple[list[ScoredQuestion], list[ScoredQuestion]] = ([], [])
        for both in ([side[name] for side in sides] for name in sides[0] if name in sides[1]):
            scores = ([one.score for one in own] for own in both)
            kept = scored_rows(both[0][0].question, *scores)
            for found, own, rows in zip(shared, both, kept, strict=True):
                found += [
                    one._replace(score=row.score) for one, row in zip(own, rows, strict=False)
                ]
        return shared

    def _scored(self, task: Task, one: _MeasuredCell) -> dict[str, list[ScoredQuestion]]:
        key = evaluation_key(task, one.cell.condition, "scores")
        questions = self._asked(task, one.cell.condition)
        return {
            name: [ScoredQuestion(questions[name], score) for score in scores]
            for name, scores in scores_by_question(self.tables.read(key, Score, one.model)).items()
            if name in questions
            and (one.cell.category == "all" or one.cell.category in task.slices(questions[name]))
        }

    def _asked(self, task: Task, condition: str) -> dict[str, Question]:
        key = questions_key(task, condition)
        if (task.name, condition) not in self._questions:
            rows = self.tables.read(key, Question)
            self._questions[task.name, condition] = {row.question_id: row for row in rows}
        return self._questions[task.name, condition]

    def _metric(self, cell: Cell, model: str) -> Metric | None:
        """The metric of a cell, on the present questions."""
        place = (*self._key(cell), "of", model)
        if place not in self._rows:
            self._rows[place] = self._read_metrics(cell, model)
        return self._rows[place].get((cell.metric, cell.category))

    def _read_metrics(self, cell: Cell, model: str) -> dict[tuple[str, str], Metric]:
        task = self._task(cell)
        try:
            rows = self.tables.read(self._key(cell), Metric, model)
            condition = "main" if cell.table != "metrics" else cell.condition
            questions_digest = short_digest(
                self.tables.digest(questions_key(task, condition)) or ""
            )
        except TableError:
            return {}
        return {
            (row.metric, row.category): row for row in rows if row.questions == questions_digest
        }

    def _key(self, cell: Cell) -> list[str]:
        return claim_key(self._task(cell), cell)

    def _task(self, cell: Cell) -> Task:
        return next(task for task in self.tasks if task.name == cell.task)


def claim_key(task: Task, cell: Cell) -> list[str]:
    """Asset key of the table with a cell's value."""
    if cell.table == "metrics":
        return evaluation_key(task, cell.condition, "metrics")
    return [*task.name.split("/"), cell.table]


CLAIMS = "claims"
"""Name of the table, one per suite: ``codis/claims``."""


def claims_asset(suite: Suite) -> dg.AssetsDefinition:
    """Build the asset that tests a suite's claims."""

    @dg.asset(
        key=[suite.name, CLAIMS],
        deps=_tables_of(suite),
        group_name=CLAIMS,
        kinds={"python"},
        tags={"bench/stage": CLAIMS},
        description=(
            "One row: a claim of the paper, tested on its own numbers or on those measured "
            "here, for one model or for all together."
        ),
    )
    def claims(settings: SettingsResource, tables: TableFiles) -> dg.Output[list[ClaimResult]]:
        rows = evaluate_suite_claims(suite, tables, settings.load())
        return table_output(rows, {"verdicts": dg.MetadataValue.md(_as_markdown(rows))})

    return claims


def evaluate_suite_claims(
    suite: Suite, tables: TableFiles, settings: Settings
) -> list[ClaimResult]:
    """Test the claims of a suite on the paper's numbers, then on those of a home.

    Raises:
        SourceError: If its table of published numbers cannot be read.
    """
    printed = read_published(suite.published) if suite.published else []
    measured = MeasuredClaims(suite.name, suite.tasks, tables, printed, blind_models(settings))
    return [
        *evaluate_published_claims(suite.name, suite.claims, printed),
        *measured.tried(suite.claims),
    ]


def blind_models(settings: Settings) -> set[str]:
    """Models that see no image: blind baselines and text-only models."""
    return {
        name
        for name, spec in {**EMBEDDED_MODELS, **settings.models}.items()
        if spec.kind in BASELINES or getattr(spec, "text_only", False)
    }


def _tables_of(suite: Suite) -> list[dg.AssetKey]:
    tasks = {task.name: task for task in suite.tasks}
    keys = [claim_key(tasks[cell.task], cell) for cell in _cells(suite)]
    return [dg.AssetKey(key) for key in dict.fromkeys(map(tuple, keys))]


def _cells(suite: Suite) -> Iterable[Cell]:
    for claim in suite.claims:
        for term in claim.terms:
            yield term.cell.here or term.cell


def _as_markdown(rows: Iterable[ClaimResult]) -> str:
    lines = ["| claim | on | verdict | by | 95 % interval |", "|---|---|---|---:|---|"]
    lines += [
        f"| {escape_markdown(row.sentence)} | {row.on} | {row.verdict} | {row.value:.3f}"
        f" | {row.low:.3f} to {row.high:.3f} |"
        for row in rows
        if not row.model
    ]
    return "\n".join(lines)
