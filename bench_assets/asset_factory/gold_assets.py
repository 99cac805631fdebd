"""Assets of a step that solves proposed questions twice: votes, decisions, and their check."""

from pathlib import Path
from typing import Any

import dagster as dg

from bench_assets.annotation.gold import GoldStep, proposal_task
from bench_assets.asset_factory.annotation_inputs import answers_key, counted_rows
from bench_assets.asset_factory.check_results import check_result
from bench_assets.asset_factory.suite_assets import AssetFolder, list_of, open_model
from bench_assets.core.gold.funnel import gold_funnel, low_yields
from bench_assets.core.gold.proposals import DecidedProposal, apply_verdicts
from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.errors import SettingsError
from bench_assets.evaluation.suite import SolverSettings
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.models import RecordedSpec
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.models.registry.named_models import ResolvedModel
from bench_resources.models.registry.opening import Models
from bench_resources.models.registry.recorded import RecordedModel, group_by_model, read_responses
from bench_resources.tables.parquet import TableFiles, table_output

RECORDED = "solver_responses.jsonl"
"""File of a source with the responses of two solvers, for a home without any."""


def gold_assets(step: GoldStep) -> list[dg.AssetsDefinition]:
    """Build the tables of a step: ``proposals`` and ``decided_proposals``."""
    return [_proposals(step), _decisions(step)]


def solvers_of(step: GoldStep, settings: Settings, models: Models) -> tuple[str, ...]:
    """The two solvers of a suite; () without any.

    Raises:
        SettingsError: If both are the same weights under two names.
    """
    solvers = settings.suite(step.suite, SolverSettings).solvers
    if len({_weights(models.named(name).base) for name in solvers}) < len(solvers):
        raise SettingsError(
            f"{settings.file}, [suites.{step.suite}] solvers: {' and '.join(solvers)} are the same"
            " weights (expected two models with different weights). Name another model"
        )
    return solvers


def _weights(model: ResolvedModel) -> tuple[str, str, str]:
    """Identify the weights of a model: by their location, their name there, and a digest."""
    name = model.spec.model if isinstance(model.spec, RecordedSpec | ServerSpec) else ""
    return model.location or str(model.spec), name, model.content


def _proposals(step: GoldStep) -> dg.AssetsDefinition:
    asset_folder = AssetFolder(step.folder)

    @dg.asset(
        name="proposals",
        ins={
            name: dg.AssetIn(dg.AssetKey(table.key.split("/")), dagster_type=list_of(table.row))
            for name, table in step.reads.items()
        },
        deps=asset_folder.source,
        **asset_folder.stage("distractors", pool="judge"),
    )
    def proposals(
        context: dg.AssetExecutionContext,
        sources: SourceFiles,
        settings: dg.ResourceParam[Settings],
        models: Models,
        **tables: list[Any],
    ) -> dg.Output[list[DecidedProposal]]:
        """Propose questions, and have two solvers find their keys."""
        solvers = solvers_of(step, settings, models)
        recorded = {} if solvers else _recorded_solvers(sources.open(step.suite).folder / RECORDED)

        def respond(solver: str, requests: list[Request]) -> list[Response]:
            if solver in recorded:
                return recorded[solver].response(requests)
            with open_model(context, models, solver) as (model, _):
                return model.response(requests)

        rows = step.vote(step.candidates(**tables), solvers or tuple(recorded), respond)
        votes = [vote for row in rows for vote in row.votes]
        return table_output(rows, {f"votes: {name}": votes.count(name) for name in set(votes)})

    return proposals


def _recorded_solvers(file: Path) -> dict[str, RecordedModel]:
    """Solvers by name, with their recorded responses; none without the file."""
    if not file.is_file():
        return {}
    by_model = group_by_model(read_responses(file), nameless="")
    return {name: RecordedModel(name, rows, file) for name, rows in by_model.items()}


def _decisions(step: GoldStep) -> dg.AssetsDefinition:
    task = proposal_task(step)

    @AssetFolder(step.folder).step("distractors", deps=[answers_key(task)])
    def decided_proposals(
        tables: TableFiles, proposals: list[DecidedProposal]
    ) -> list[DecidedProposal]:
        """Apply people's verdicts."""
        return apply_verdicts(proposals, counted_rows(tables, task))

    return decided_proposals


def yield_check(step: GoldStep) -> dg.AssetChecksDefinition:
    """Build the check on the share of a step's proposals that are accepted."""
    asset_folder = AssetFolder(step.folder)

    @dg.asset_check(
        name="proposals_are_accepted",
        asset=asset_folder.key("decided_proposals"),
        additional_ins=asset_folder.ins("proposals"),
        description="Of each construction's proposals, at least 5 % are accepted.",
    )
    def proposals_are_accepted(
        decided_proposals: list[DecidedProposal], proposals: list[DecidedProposal]
    ) -> dg.AssetCheckResult:
        """Warn of constructions of whose proposals hardly any are accepted."""
        funnel = gold_funnel(proposals, decided_proposals)
        return check_result(
            low_yields(funnel),
            n=len(funnel),
            noun="construction",
            holds="Each construction has at least 5 % of its proposals accepted.",
            severity=dg.AssetCheckSeverity.WARN,
        )

    return proposals_are_accepted
