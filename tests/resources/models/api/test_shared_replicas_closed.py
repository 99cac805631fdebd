"""Homes that ask one another's servers, and stop."""

import threading
import time

import pytest

from tests.resources.models.api.teams import Team, asks, until


def test_what_was_known_stays_while_the_database_is_away(
    team: Team, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = team.home(1), team.home(2)
    first.wait_for_one()
    second.wait_for_one()
    caplog.clear()
    team.wall.is_away = True
    until(lambda: len(caplog.messages) == 2)  # one each
    time.sleep(0.1)
    assert second.addresses() == ["http://node-a:1/v1"]
    assert caplog.messages == ["the wall is away"] * 2
    team.wall.is_away = False
    first.close()
    asks(second, "http://127.0.0.1:2/v1")


def test_whose_weights_were_overwritten_is_not_asked_by_others(team: Team) -> None:
    first, second = team.home(1), team.home(2)
    first.wait_for_one()
    second.wait_for_one()
    team.overwritten.add(1)
    asks(second, "http://127.0.0.1:2/v1")


def test_nothing_is_started_behind_the_back_of_who_closes(team: Team) -> None:
    first, second = team.home(1), team.home(2)
    first.wait_for_one()
    second.wait_for_one()
    with team.wall.starts:
        first.close()
        asks(second)  # waits for the right to start
        assert [second.addresses() for _ in range(5)] == [[]] * 5
        assert [one.name for one in threading.enumerate()].count("own servers") == 1
        second.close()
    time.sleep(0.2)
    assert team.starts == [1]


def test_after_closing_they_can_be_started_again(team: Team) -> None:
    first, second = team.home(1), team.home(2)
    first.wait_for_one()
    first.close()
    assert team.wall.board().others() == []
    second.wait_for_one()
    first.wait_for_one()
    assert team.starts == [1, 2]
    assert first.addresses() == ["http://node-a:2/v1"]
