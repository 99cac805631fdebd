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
def log_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a library logs after ``redact_logs`` in a home whose environment has a secret."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    default_factory, stream = logging.getLogRecordFactory(), io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger("a.library").addHandler(handler)
    redact_logs(tmp_path)
    yield stream
    logging.setLogRecordFactory(default_factory)
    logging.getLogger("a.library").removeHandler(handler)


def test_messages_arguments_and_errors_are_redacted(log_output: io.StringIO) -> None:
    log = logging.getLogger("a.library")
    log.warning("with %s, and %s", TOKEN, "more")
    try:
        raise ValueError(f"no {TOKEN}")
    except ValueError:
        log.exception("ended")
    output = log_output.getvalue()
    assert TOKEN not in output
    assert output.startswith("with ***, and more\nended\nTraceback")
    assert output.endswith("ValueError: no ***\n")


def test_a_copied_record_is_redacted(log_output: io.StringIO) -> None:
    """Dagster copies records, and sets their message afterwards."""
    record = logging.makeLogRecord({"msg": f"failed with {TOKEN}", "levelno": logging.ERROR})
    logging.getLogger("a.library").handle(record)
    assert log_output.getvalue() == "failed with ***\n"


def test_opening_the_instance_of_a_home_redacts_logs(log_output, tmp_path):
    """Dagster's daemon and web server open it, and load nothing else of this package."""
    logging.setLogRecordFactory(logging.LogRecord)
    write_dagster_yaml(tmp_path / "dagster", load_settings(tmp_path))
    with dg.DagsterInstance.from_config(str(tmp_path / "dagster")):
        logging.getLogger("a.library").error("a sensor failed with %s", TOKEN)
    assert log_output.getvalue() == "a sensor failed with ***\n"
