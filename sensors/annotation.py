"""Sensor on annotation answers: rebuilds what depends on them.

What was heard before is read off the tables, so that nothing has to be remembered: no tick asks
for a run while the answers that count are those that the table has.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import dagster as dg

from bench_assets.annotation.answers.resolution import count
from bench_assets.annotation.tasks.backend import People
from bench_assets.annotation.tasks.forms import Answer, SuiteForm, Unit
from bench_assets.asset_factory.annotation_inputs import answers_key
from bench_assets.asset_factory.suite_assets import grouped
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.suite import Suite
from resources.annotation.opening import open_people
from resources.config.bench_toml import Settings
from resources.config.sections.annotation import FormSettings
from resources.config.settings_resource import SettingsResource
from resources.tables.parquet import TableFiles

_BuiltOf: TypeAlias = Callable[[Sequence[SuiteForm]], list[dg.AssetKey]]

_DIGITS = 16  # of a digest, in run keys
_ASKED_OF = dg.AssetSelection.tag("bench/per", "model") | dg.AssetSelection.tag(
    "bench/per", "encoder"
)
_WHEN_ASKED = dg.AssetSelection.tag("bench/when", "asked")


class _Heard(NamedTuple):
    """A form with other answers than its table has."""

    form: SuiteForm
    what: str  # digest of the answers that count, and which table they are compared with


def people_sensors(settings: Settings, suites: Sequence[Suite]) -> list[dg.SensorDefinition]:
    """Build the sensor that listens to people; none where no suite has a form.

    Args:
        settings: bench.toml when definitions are loaded: how often, and whether at all.
        suites: Whose forms there are.
    """
    named = settings.people.forms.keys()
    forms = [form for suite in suites for form in suite.forms_asked(named)]
    if not forms:
        return []
    running = settings.people.forms.keys() & {form.form.name for form in forms}

    @dg.sensor(
        name="people",
        target=_built_of(forms),
        minimum_interval_seconds=settings.people.every,
        default_status=dg.DefaultSensorStatus["RUNNING" if running else "STOPPED"],
        description=(
            "Makes question tables again when people answered a form of [people] in bench.toml; "
            "asks no model that is measured. Off until a form is there."
        ),
    )
    def people(
        context: dg.SensorEvaluationContext, settings: SettingsResource, tables: TableFiles
    ) -> dg.SensorResult:
        repository = context.repository_def
        assert repository is not None  # a sensor of definitions has one

        def built_of(heard: Sequence[SuiteForm]) -> list[dg.AssetKey]:
            graph = repository.asset_graph
            built = _built_of(heard)
            beside = (built.upstream() & _left_of(heard)) - built - _ASKED_OF
            missing = [key for key in beside.resolve(graph) if not tables.exists(key.path)]
            first = dg.AssetSelection.assets(*missing).required_multi_asset_neighbors()
            return sorted((built | first if missing else built).resolve(graph))

        return listen(context.instance, settings, tables, forms, built_of)

    return [people]


def listen(
    instance: dg.DagsterInstance,
    settings: SettingsResource,
    tables: TableFiles,
    forms: Sequence[SuiteForm],
    built_of: _BuiltOf,
) -> dg.SensorResult:
    """Ask for one run over all forms that other answers count of than their tables have.

    What cannot be heard now is a sentence, and is listened to again at the next tick.

    Args:
        instance: Knows when a table was made.
        settings: Where people answer, and which forms are asked.
        tables: What was heard before.
        forms: All there are.
        built_of: Finds what is made of the answers to forms.
    """
    try:
        loaded = settings.load()
        asked = [form for form in forms if form.form.name in loaded.people.forms]
        port = open_people(loaded) if asked else None
    except BenchError as why:
        return dg.SensorResult(skip_reason=str(why))
    if port is None:
        return dg.SensorResult(skip_reason=f"no form in [people] of {loaded.file}")
    heard, said = _all_heard(instance, port, tables, asked, loaded.people.forms)
    if not heard:
        return dg.SensorResult(skip_reason=said or "nothing new")
    request = dg.RunRequest(
        run_key="people/" + "+".join(one.what for one in heard),
        asset_selection=built_of([one.form for one in heard]),
        tags={"bench/problems": said} if said else None,
    )
    return dg.SensorResult(run_requests=[request])


def _all_heard(
    instance: dg.DagsterInstance,
    port: People,
    tables: TableFiles,
    asked: Sequence[SuiteForm],
    chosen: Mapping[str, FormSettings],
) -> tuple[list[_Heard], str]:
    """What is new of each form, and in a sentence which could not be heard."""
    heard: list[_Heard] = []
    problems: list[str] = []
    for form in asked:
        try:
            heard += _heard(instance, port, tables, form, chosen[form.form.name])
        except BenchError as why:
            problems.append(f"{form.form.name}: {why}")
    return heard, "; ".join(problems)


def _heard(
    instance: dg.DagsterInstance,
    port: People,
    tables: TableFiles,
    form: SuiteForm,
    chosen: FormSettings,
) -> list[_Heard]:
    """Compare what counts now with the table; nothing if they are the same, or nobody was asked."""
    items, answers = (form.table(which).split("/") for which in ("items", "answers"))
    if not tables.exists(items) or not tables.exists(answers):
        return []
    asked = tables.read(items, Unit)
    now = count(form.form, asked, port.answers(form.form), chosen.terms).answers
    before = [one for one in tables.read(answers, Answer) if not one.complaint]
    if digest(now) == digest(before):
        return []
    # One run for the same answers beside the same table, however long it takes or if it fails.
    made = instance.get_latest_materialization_event(answers_key(form))
    table = made.timestamp if made else 0
    return [_Heard(form, f"{form.form.name}/{digest(now)[:_DIGITS]}@{table}")]


def _built_of(forms: Sequence[SuiteForm]) -> dg.AssetSelection:
    """The tables of forms and what is made of them, up to questions: nothing that models say."""
    keys = [
        form.table(which).split("/") for form in forms for which in ("items", "asked", "answers")
    ]
    left = _left_of(forms)
    return (dg.AssetSelection.assets(*keys).downstream() & left) - _ASKED_OF - _WHEN_ASKED


def _left_of(forms: Sequence[SuiteForm]) -> dg.AssetSelection:
    """What the suites of forms make without a model that is measured, and what of it is asked."""
    suites = sorted({form.suite for form in forms})
    return grouped(*suites, *(f"{suite}_ablations" for suite in suites))
