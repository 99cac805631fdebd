"""Whatever is logged, by whom, and with which error: no secret is printed."""

import io
import logging
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.workspace.materialization.dagster_config import write_dagster_yaml
from bench_resources.config.bench_toml import load_settings
from bench_resources.redaction.logs import redact_logs

TOKEN = "hf_T0kenOfTheHub0123"


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    usual, stream = logging.getLogRecordFactory(), io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger("a.library").addHandler(handler)
    redact_logs(tmp_path)
    yield stream
    logging.setLogRecordFactory(usual)
    logging.getLogger("a.library").removeHandler(handler)


def test_messages_arguments_and_errors_are_printed_without_it(printed: io.StringIO) -> None:
    log = logging.getLogger("a.library")
    log.warning("with %s, and %s", TOKEN, "more")
    try:
        raise ValueError(f"no {TOKEN}")
    except ValueError:
        log.exception("ended")
    output = printed.getvalue()
    assert TOKEN not in output
    assert output.startswith("with ***, and more\nended\nTraceback")
    assert output.endswith("ValueError: no ***\n")


def test_a_record_that_was_copied_is_printed_without_it(printed: io.StringIO) -> None:
    """As Dagster hands records on, with a message that it puts together afterwards."""
    record = logging.makeLogRecord({"msg": f"failed with {TOKEN}", "levelno": logging.ERROR})
    logging.getLogger("a.library").handle(record)
    assert printed.getvalue() == "failed with ***\n"


def test_whoever_opens_a_homes_instance_prints_without_it(
    printed: io.StringIO, tmp_path: Path
) -> None:
    """As Dagster's daemon and web server do, which load nothing else of ours."""
    logging.setLogRecordFactory(logging.LogRecord)
    write_dagster_yaml(tmp_path / "dagster", load_settings(tmp_path))
    with dg.DagsterInstance.from_config(str(tmp_path / "dagster")):
        logging.getLogger("a.library").error("a sensor failed with %s", TOKEN)
    assert printed.getvalue() == "a sensor failed with ***\n"
