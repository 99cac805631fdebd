"""Homes ask one another's servers: who starts some, who does not, and what if they vanish."""

import threading
import time
from threading import Event

import pytest

from bench_assets.core.schema.errors import ModelError
from tests.resources.models.api.teams import Team, asks, ends, until


def test_the_second_asks_the_first_ones_server_and_starts_none(team: Team) -> None:
    first, second = team.home(1), team.home(2)
    first.wait_for_one()
    second.wait_for_one()
    assert first.addresses() == ["http://127.0.0.1:1/v1"]
    assert second.addresses() == ["http://node-a:1/v1"]
    assert team.starts == [1]


def test_when_the_last_vanishes_requests_wait_while_our_own_starts(team: Team) -> None:
    comes = Event()
    first, second = team.home(1), team.home(2, comes=comes)
    first.wait_for_one()
    second.wait_for_one()
    first.close()
    asks(second)
    until(lambda: team.starts == [1, 2])
    assert second.addresses() == []
    comes.set()
    asks(second, "http://127.0.0.1:2/v1")
    assert team.starts == [1, 2]


def test_one_that_comes_is_asked_beside_our_own(team: Team) -> None:
    first, second = team.home(1), team.home(2)
    team.unreachable.add("http://node-a:1/v1")
    first.wait_for_one()
    second.wait_for_one()  # as it cannot reach the first
    assert team.starts == [1, 2]
    asks(first, "http://127.0.0.1:1/v1", "http://node-a:2/v1")
    assert second.addresses() == ["http://127.0.0.1:2/v1"]
    second.close()
    asks(first, "http://127.0.0.1:1/v1")


def test_of_two_at_once_one_starts_and_the_other_waits(team: Team) -> None:
    comes = Event()
    homes = [team.home(port, comes=comes) for port in (1, 2)]
    threads = [threading.Thread(target=one.wait_for_one) for one in homes]
    for thread in threads:
        thread.start()
    until(lambda: len(team.starts) == 1)
    time.sleep(0.1)
    comes.set()
    for thread in threads:
        thread.join(30)
    assert len(team.starts) == 1
    port = team.starts[0]
    assert {one.addresses()[0] for one in homes} == {
        f"http://127.0.0.1:{port}/v1",
        f"http://node-a:{port}/v1",
    }


def test_whose_server_does_not_come_up_lets_the_other_start_its_own(team: Team) -> None:
    first, second = team.home(1, why_not="no memory"), team.home(2)
    with pytest.raises(ModelError, match="no memory"):
        first.wait_for_one()
    second.wait_for_one()
    assert team.starts == [1, 2]
    first.wait_for_one()  # should it be asked for something again
    assert first.addresses() == ["http://node-a:2/v1"]


def test_if_ours_does_not_come_up_either_the_asking_ends(team: Team) -> None:
    first, second = team.home(1), team.home(2, why_not="no memory")
    first.wait_for_one()
    second.wait_for_one()
    first.close()

    until(lambda: ends(second, "no memory"))


def test_who_may_not_start_ends_the_asking_and_tries_again_with_the_next(team: Team) -> None:
    first, second, third = team.home(1), team.home(2), team.home(3)
    first.wait_for_one()
    second.wait_for_one()
    team.wall.lets_start = False
    first.close()
    until(lambda: ends(second, "the wall is away"))
    team.wall.lets_start = True
    third.wait_for_one()
    second.wait_for_one()
    assert second.addresses() == ["http://node-a:3/v1"]
    third.close()
    asks(second, "http://127.0.0.1:2/v1")
