"""What a person reads of a run that failed: our own error where one was raised, else the first."""

import dagster as dg
import pytest

from bench_assets.annotation.tasks import AnnotationError
from bench_assets.core.schema.errors import BenchError, ModelError
from bench_assets.workspace.materialization.dagster_instance import run_failure


class OfAPluginError(BenchError):
    """An error class that this project does not know."""


@pytest.mark.parametrize("kind", [ModelError, AnnotationError, OfAPluginError])
def test_an_error_of_ours_is_shown_and_not_what_it_came_of(kind):
    @dg.asset(key=["codis", "votes"])
    def votes():
        try:
            raise ConnectionError("[Errno 111] Connection refused")
        except ConnectionError as why:
            raise kind("http://127.0.0.1:8080: no server is listening. Start it") from why

    result = dg.materialize([votes], raise_on_error=False)
    message = "codis/votes: http://127.0.0.1:8080: no server is listening. Start it"
    assert str(run_failure(result)) == message


def test_another_error_is_shown_by_what_it_came_of():
    @dg.asset
    def votes():
        try:
            raise ConnectionError("[Errno 111] Connection refused")
        except ConnectionError as why:
            raise RuntimeError("votes") from why

    result = dg.materialize([votes], raise_on_error=False)
    assert str(run_failure(result)) == "votes: ConnectionError: [Errno 111] Connection refused"
