"""Assets that a test calls as functions."""

from typing import Any

import dagster as dg


def value_of(output: object) -> Any:
    """The value of the output that an asset returned."""
    assert isinstance(output, dg.Output)
    return output.value
