"""Homes that share servers."""

from collections.abc import Iterator

import pytest

from tests.resources.server.teams import Team


@pytest.fixture
def team() -> Iterator[Team]:
    team = Team()
    yield team
    team.wall.is_away = False
    for one in team.homes:
        one.close()
