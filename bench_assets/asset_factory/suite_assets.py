"""Asset factory of a suite: keys, groups, tags, pools, inputs, model sessions.

Evaluation assets have one partition dimension: the model.
"""

import operator
import posixpath
import tomllib
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, reduce, wraps
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import (
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    TypeAlias,
    TypedDict,
    get_args,
    get_origin,
    get_type_hints,
)

import dagster as dg

from bench_assets.core.schema.chat import ChatModel
from bench_assets.evaluation.suite import RawData
from bench_resources.models.registry.opening import Models
from bench_resources.response_cache.throughput import RequestProgress
from bench_resources.tables.parquet import PART_FIELD, partition_output, table_output

StageName: TypeAlias = Literal[
    "source",
    "images",
    "annotation",
    "select",
    "distractors",
    "questions",
    "constants",
    "predictions",
    "judgements",
    "scores",
    "metrics",
]
Pool: TypeAlias = Literal["gpu", "judge"]
_KIND_BY_POOL: dict[Pool | None, str] = {None: "python", "gpu": "gpu", "judge": "llm"}


GROUP_TAG = "bench/group"
"""Tag with the group that an asset is materialized with; the UI shows smaller groups."""

HOME_TEAM = "team:home"
"""Owner of what belongs to no suite."""

JOINT_GROUPS = ("leaderboard", "quick_evaluation")
"""Groups that are materialized and shown as one."""


def select_group(*groups: str) -> dg.AssetSelection:
    """Select groups, such as "codis" and "codis_ablations", as named by ``AssetFolder.stage``."""
    selections = [
        dg.AssetSelection.groups(group)
        if group in JOINT_GROUPS
        else dg.AssetSelection.tag(GROUP_TAG, group)
        for group in groups
    ]
    return reduce(operator.or_, selections) if selections else dg.AssetSelection.assets()


MODEL_SETUP = dg.AssetKey("model_setup")
"""Observed input of predictions: the setup of each model."""


def source_key(suite: str) -> dg.AssetKey:
    """Key of a suite's observed source: its location, files, and build settings."""
    return dg.AssetKey([suite, "source_setup"])


def raw_data_key(suite: str) -> dg.AssetKey:
    """Key of a suite's observed raw data sets: one partition per set, of files and settings."""
    return dg.AssetKey([suite, "raw_data"])


def raw_data_partitions(raw_data: RawData) -> dg.StaticPartitionsDefinition:
    """Partitions of the tables that a suite makes of one raw data set each."""
    return dg.StaticPartitionsDefinition([*raw_data.folders])


def range_tags(parts: Sequence[str]) -> dict[str, str]:
    """Tags of a run over raw data sets that are neighbours, from the first to the last.

    >>> range_tags(["Art_Style", "Counting", "Jigsaw"])["dagster/asset_partition_range_end"]
    'Jigsaw'
    """
    if not parts:
        return {}
    return {
        "dagster/asset_partition_range_start": parts[0],
        "dagster/asset_partition_range_end": parts[-1],
    }


def raw_data_parts(graph: Any, keys: Iterable[dg.AssetKey]) -> Sequence[str]:  # noqa: ANN401
    """Partitions of the tables that have one per raw data set; none without such a table."""
    for key in keys:
        partitions = graph.get(key).partitions_def
        if isinstance(partitions, dg.StaticPartitionsDefinition):
            return partitions.get_partition_keys()
    return ()


def judge_key(suite: str) -> dg.AssetKey:
    """Key of the observed setups of a suite's judge and reader."""
    return dg.AssetKey([suite, "judge_setup"])


def scorer_key(suite: str) -> dg.AssetKey:
    """Key of the observed setup of a suite's scorer."""
    return dg.AssetKey([suite, "scorer_setup"])


class AssetArguments(TypedDict):
    """Arguments of ``dg.asset`` besides the inputs."""

    key_prefix: list[str]
    group_name: str
    code_version: str
    kinds: set[str]
    tags: dict[str, str]
    pool: NotRequired[str]
    partitions_def: NotRequired[dg.PartitionsDefinition[str]]


BuildRows: TypeAlias = Callable[..., Any]
"""Builds the rows of a table, or of several as a tuple; an output has metadata too."""

_MakeOutput: TypeAlias = Callable[[list[Any]], dg.Output[list[Any]]]


class Step(NamedTuple):
    """A step of a dataset build, which makes a table or several.

    Attributes:
        name: Name of the table, or of the step.
        function: Its parameters that are lists of rows are the tables that it reads.
        reads: Tables with another name than their parameter.
    """

    name: str
    function: BuildRows
    reads: Mapping[str, str]

    @property
    def tables(self) -> dict[str, str]:
        """The tables that it reads, by parameter."""
        parameters = get_type_hints(self.function)
        del parameters["return"]
        row_lists = (name for name, hint in parameters.items() if get_origin(hint) is list)
        return {name: self.reads.get(name, name) for name in row_lists}

    @property
    def table_types(self) -> list[Any]:
        """Dagster types of the tables that it builds: those of the returned rows."""
        return_type = get_type_hints(self.function)["return"]
        tables = get_args(return_type) if get_origin(return_type) is tuple else [return_type]
        # Rows with metadata are a dg.Output[list[Row]].
        return [table if get_origin(table) is list else get_args(table)[0] for table in tables]

    def as_output(self, make_output: _MakeOutput = table_output) -> Callable[..., Any]:
        """Wrap the function, so that it returns each table as an output of Dagster."""

        def wrap(rows: list[Any] | dg.Output[list[Any]]) -> dg.Output[list[Any]]:
            return rows if isinstance(rows, dg.Output) else make_output(rows)

        @wraps(self.function)
        def build(*arguments: Any, **tables: Any) -> Any:  # noqa: ANN401
            result = self.function(*arguments, **tables)
            return tuple(map(wrap, result)) if isinstance(result, tuple) else wrap(result)

        outputs = tuple(dg.Output[table_type] for table_type in self.table_types)  # type: ignore[valid-type]
        return_type = outputs[0] if len(outputs) == 1 else tuple[outputs]  # type: ignore[valid-type]
        # Dagster reads inputs and outputs from the signature and the annotations.
        build_signature = signature(self.function).replace(return_annotation=return_type)
        build.__signature__ = build_signature  # type: ignore[attr-defined]
        build.__annotations__ = {**self.function.__annotations__, "return": return_type}
        return build


@dataclass(frozen=True, slots=True)
class AssetFolder:
    """The assets in one folder of a suite."""

    folder: str  # "codis" or "journeybench/mcot": prefix of their keys
    code_version: str = "1"

    @property
    def suite(self) -> str:
        """The suite that the folder belongs to."""
        return self.folder.split("/")[0]

    @property
    def source(self) -> list[dg.AssetKey]:
        """Dependencies of assets that read source files."""
        return [dg.AssetKey([self.suite, "source"]), source_key(self.suite)]

    def stage(
        self,
        stage: StageName,
        *,
        pool: Pool | None = None,
        below: str = "",
        ablation: bool = False,
        on_request: bool = False,
        partitions: dg.DynamicPartitionsDefinition | None = None,
    ) -> AssetArguments:
        """Arguments of ``dg.asset`` for an asset of this folder.

        Args:
            stage: Kind of the asset, as a tag.
            pool: Pool of an asset that calls a model, which limits concurrent requests of a
                backfill: "gpu" for models that see or draw, "judge" for those that judge or write.
            below: Subfolder of an ablation; its assets belong to the ablations.
            ablation: Whether the asset belongs to the ablations. These are built for the condition
                that needs them, never with the suite.
            on_request: Whether the asset is built only on request by name, as ablations are.
            partitions: Its partitions: models or encoders.
        """
        tags = {"bench/stage": str(stage)}
        if on_request:
            tags["bench/when"] = "asked"
        arguments = AssetArguments(
            key_prefix=posixpath.join(self.folder, below).strip("/").split("/"),
            group_name=f"{self.suite}_ablations" if ablation or below else self.suite,
            code_version=self.code_version,
            kinds={_KIND_BY_POOL[pool]},
            tags=tags,
        )
        if pool:
            arguments["pool"] = pool
        if partitions:
            arguments["partitions_def"] = partitions
            tags["bench/per"] = str(partitions.name)
        return arguments

    def step(
        self,
        stage: StageName,
        *,
        name: str = "",
        reads: Mapping[str, str] = MappingProxyType({}),
        deps: Sequence[dg.AssetKey] = (),
        metadata: Mapping[str, Any] = MappingProxyType({}),
        **arguments: Any,  # noqa: ANN401
    ) -> Callable[[BuildRows], dg.AssetsDefinition]:
        """Decorate a function that builds a table of this folder; see ``Step``.

        Args:
            stage: Kind of the asset, as of ``stage``.
            name: Name of the table; by default, that of the function.
            reads: Tables that it reads under other names, by parameter; paths as of ``ins``.
            deps: Tables that it reads by itself.
            metadata: Metadata of the asset.
            arguments: Further arguments of ``stage``.
        """

        def build(function: BuildRows) -> dg.AssetsDefinition:
            step = Step(name=name or function.__name__, function=function, reads=reads)
            return dg.asset(
                name=step.name,
                ins=self.ins(**step.tables),
                deps=deps or None,
                metadata=metadata or None,
                dagster_type=step.table_types[0],
                **self.stage(stage, **arguments),
            )(step.as_output())

        return build

    def steps(
        self,
        name: str,
        stages: Mapping[str, StageName],
        *,
        reads: Mapping[str, str] = MappingProxyType({}),
        deps: Sequence[dg.AssetKey] = (),
    ) -> Callable[[BuildRows], dg.AssetsDefinition]:
        """Decorate a function that builds several tables of this folder; see ``Step``.

        Args:
            name: Name of the step.
            stages: Kind of each table, in the order in which the function returns them.
            reads: Tables that it reads under other names, by parameter; paths as of ``ins``.
            deps: Tables that it reads by itself.
        """

        def build(function: BuildRows) -> dg.AssetsDefinition:
            step = Step(name=name, function=function, reads=reads)
            return dg.multi_asset(
                name=name,
                ins=self.ins(**step.tables),
                deps=deps or None,
                outs={
                    table: out(self.stage(stage), *get_args(rows))
                    for (table, stage), rows in zip(stages.items(), step.table_types, strict=True)
                },
            )(step.as_output())

        return build

    def part_step(
        self,
        stage: StageName,
        raw_data: RawData,
        part_field: str,
        *,
        whole_tables: Collection[str] = (),
        deps: Sequence[dg.AssetKey] = (),
    ) -> Callable[[BuildRows], dg.AssetsDefinition]:
        """Decorate a function that builds a table with a partition per raw data set; see ``Step``.

        The function returns the rows of all partitions of a run.

        Args:
            stage: Kind of the asset.
            raw_data: Raw data sets of the suite.
            part_field: Field of a row that names its partition.
            whole_tables: Tables of which every partition reads all partitions. With any, it depends
                on all raw data sets.
            deps: Tables that it reads by itself.
        """
        all_partitions = dg.AllPartitionMapping()

        def build(function: BuildRows) -> dg.AssetsDefinition:
            step = Step(name=function.__name__, function=function, reads={})
            raw_data_dep = dg.AssetDep(
                raw_data_key(self.suite), partition_mapping=all_partitions if whole_tables else None
            )
            arguments = self.stage(stage)
            arguments["partitions_def"] = raw_data_partitions(raw_data)
            all_deps: list[dg.AssetKey | dg.AssetDep] = [raw_data_dep, *deps]
            ins = {
                name: dg.AssetIn(
                    self.key(name),
                    partition_mapping=all_partitions if name in whole_tables else None,
                )
                for name in step.tables
            }
            return dg.asset(
                name=step.name,
                ins=ins,
                deps=all_deps,
                metadata={PART_FIELD: part_field},
                dagster_type=step.table_types[0],
                backfill_policy=dg.BackfillPolicy.single_run(),
                **arguments,
            )(step.as_output(partition_output))

        return build

    def ins(self, *tables: str, **renamed: str) -> dict[str, dg.AssetIn]:
        """Inputs of an asset: tables under their own names, or under others by keyword.

        Tables are paths that start at the folder: ``ins("problems", stored="../images")``.
        """
        inputs = {table: table for table in tables} | renamed
        return {name: dg.AssetIn(self.key(table)) for name, table in inputs.items()}

    def ins_of(self, **tables: tuple[str, type[Any]]) -> dict[str, dg.AssetIn]:
        """Inputs of an asset with row types, for functions without annotations."""
        return {
            name: dg.AssetIn(self.key(path), dagster_type=list_of(row))
            for name, (path, row) in tables.items()
        }

    def key(self, table: str) -> dg.AssetKey:
        """Asset key of a table, by its path from the folder."""
        return dg.AssetKey(posixpath.normpath(posixpath.join(self.folder, table)).split("/"))


def list_of(row_type: type[Any]) -> Any:  # noqa: ANN401
    """Dagster type of a table whose row type is known at run time only."""
    return list[row_type]  # type: ignore[valid-type]


NEEDS_KEY = "bench/needs"
"""Metadata key of a table that may have no rows: the input that it needs."""


def needs_metadata(needed_input: str) -> dict[str, str]:
    """Metadata of a table that has no rows without some input.

    >>> needs_metadata("a captioner")
    {'bench/needs': 'a captioner'}
    """
    return {NEEDS_KEY: needed_input}


def out(
    arguments: AssetArguments,
    row_type: type[Any],
    description: str = "",
    table: str = "",
    *,
    optional: bool = False,
) -> dg.AssetOut:
    """Output definition of one table for ``dg.multi_asset``.

    Args:
        arguments: Arguments from ``AssetFolder.stage``.
        row_type: Type of its rows.
        description: Meaning of a row, if ``tables.toml`` does not give it.
        table: Name of the table; "": the name of the output.
        optional: Whether some sources have no such table.
    """
    return dg.AssetOut(
        key=[*arguments["key_prefix"], table] if table else None,
        key_prefix=None if table else arguments["key_prefix"],
        dagster_type=list_of(row_type),
        is_required=not optional,
        description=description or None,
        group_name=arguments["group_name"],
        code_version=arguments["code_version"],
        kinds=arguments["kinds"],
        tags=arguments["tags"],
    )


@cache
def load_package_assets(package: ModuleType) -> Sequence[Any]:
    """Load the assets and checks in ``assets.py`` and ``assets/`` of a suite's package.

    ``tables.toml`` of the package adds the meaning of a row to an asset's description.
    """
    modules = [import_module(name) for name in _asset_modules(package)]
    file = Path(package.__path__[0], "tables.toml")
    row_descriptions = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

    def add_row_description(spec: dg.AssetSpec) -> dg.AssetSpec:
        paragraphs = (spec.description, row_descriptions.get(spec.key.to_user_string()))
        return spec.replace_attributes(description="\n\n".join(filter(None, paragraphs)))

    module_assets = dg.load_assets_from_modules(modules)
    assets = [asset for asset in module_assets if isinstance(asset, dg.AssetsDefinition)]
    return [
        *dg.map_asset_specs(add_row_description, assets),
        *dg.load_asset_checks_from_modules(modules),
    ]


class ModelSession(NamedTuple):
    """An opened model, and its progress."""

    model: ChatModel
    progress: RequestProgress


@contextmanager
def open_model(
    context: dg.AssetExecutionContext, models: Models, name: str, condition: str = "main"
) -> Generator[ModelSession]:
    """Open a model during an asset's step, with its progress in the run's log.

    Raises:
        BenchError: If the model cannot be opened.
    """
    title = f"{name}: {context.op_def.name.replace('__', '/')}"
    with (
        RequestProgress(title, context.log.info, models.progress) as progress,
        models.open(name, condition, progress) as model,
    ):
        yield ModelSession(model, progress)


class StepModels:
    """Opens models during an asset's step, and keeps their progress for its metadata."""

    def __init__(self, context: dg.AssetExecutionContext, models: Models) -> None:
        self._context = context
        self._models = models
        self._progress: list[RequestProgress] = []

    @contextmanager
    def open_session(self, name: str, condition: str = "main") -> Generator[ModelSession]:
        """Open a model with its progress; raises as ``open_model``."""
        with open_model(self._context, self._models, name, condition) as session:
            self._progress.append(session.progress)
            yield session

    @contextmanager
    def open(self, name: str, condition: str = "main") -> Generator[ChatModel]:
        """Open a model; raises as ``open_model``."""
        with self.open_session(name, condition) as session:
            yield session.model

    def metadata(self) -> dict[str, int | float]:
        """Metadata of the last model that was opened; empty without any."""
        return self._progress[-1].metadata() if self._progress else {}


@contextmanager
def open_writer(
    context: dg.AssetExecutionContext, models: Models, name: str, responses: Path
) -> Generator[ChatModel]:
    """Open the writer model of a built edition, or the responses recorded with its source.

    ``name`` is a model of bench.toml; "recorded": the responses in the file; "": the same, or no
    responses if the file does not exist.

    Raises:
        BenchError: If the model cannot be opened, or the file cannot be read.
    """
    from bench_resources.models.registry.recorded import RecordedModel, read_responses

    if name in ("", "recorded"):
        recorded = read_responses(responses) if name or responses.exists() else []
        yield RecordedModel("recorded", recorded, responses)
        return
    with open_model(context, models, name) as (model, _):
        yield model


def _asset_modules(package: ModuleType) -> list[str]:
    """Find asset modules by their paths, because importing a whole suite is slow.

    Hidden folders, such as Jupyter's checkpoints, are left out.
    """
    module_parts = [
        file.relative_to(folder).with_suffix("").parts
        for folder in map(Path, package.__path__)
        for file in folder.rglob("*.py")
    ]
    names = {
        ".".join((package.__name__, *parts))
        for parts in module_parts
        if "assets" in parts and not any(part.startswith(".") for part in parts)
    }
    return sorted(name.removesuffix(".__init__") for name in names)


MODELS = dg.DynamicPartitionsDefinition(name="model")
ENCODERS = dg.DynamicPartitionsDefinition(name="encoder")
"""Models that embed: ``random``, and those of ``[suites.journeybench.encoders]``."""

PARTITIONS_BY_MODEL_KIND: Mapping[str, dg.DynamicPartitionsDefinition] = {
    "model": MODELS,
    "encoder": ENCODERS,
}
"""Partitions by ``Task.asked_of``."""
