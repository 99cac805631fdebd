"""The section ``[storage]`` of bench.toml: where things lie that homes share."""

import re

from pydantic import field_validator

from resources.settings.sections import Strict

_NAMED = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class StorageSettings(Strict):
    """A section ``[storage]``; without it everything lies in the home folder."""

    database: str = ""
    """``env:NAME``: the environment variable that holds the address of a PostgreSQL, in which all
    homes that name it keep replies and prompts together. Tables stay in each home."""

    @field_validator("database")
    @classmethod
    def _is_named(cls, written: str) -> str:
        if written and not _NAMED.fullmatch(written):
            raise ValueError(
                'should be "env:NAME", with the NAME of an environment variable that holds the'
                " address of a PostgreSQL: an address may have a password in it, which belongs into"
                " no file"
            )
        return written

    @property
    def variable(self) -> str:
        """Name of the environment variable with the address; "" where nothing is shared."""
        return self.database.removeprefix("env:")
