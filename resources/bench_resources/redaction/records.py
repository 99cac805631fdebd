"""Redaction of secrets in Dagster's records: metadata, log lines, errors with all their causes."""

import json
from typing import TypeVar

from dagster import deserialize_value, serialize_value

from bench_assets.core.text.redaction import Secrets

Record = TypeVar("Record")


def redact_record(record: Record, secrets: Secrets) -> Record:
    """Replace every secret in a record by ``***``."""
    if not secrets:
        return record
    serialized = serialize_value(record)  # type: ignore[arg-type]
    if secrets.redacted(serialized) == serialized:
        return record
    # String by string: a quotation mark in a key may also be one of JSON's.
    redacted = json.dumps(secrets.redacted_value(json.loads(serialized)))
    return deserialize_value(redacted, type(record))  # type: ignore[type-var]
