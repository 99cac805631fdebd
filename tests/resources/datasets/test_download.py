"""What is said of a fetching: how much of how much, and how fast."""

import logging
import re

from bench_resources.datasets.download import DownloadBar, DownloadLog


def test_a_log_says_how_much_there_is_and_at_which_rate(caplog, monkeypatch):
    clock = iter([0.0, 0.0, 4.0, 20.0, 21.0])  # s: made, begun, and after each piece
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    log = DownloadLog()
    with caplog.at_level(logging.WARNING, logger="bench_assets.sources"):
        log.begin("codis.zip", 80_000_000)
        for _ in range(3):
            log.add(20_000_000)
    assert caplog.messages == [
        "codis.zip: fetching 80.0 MB",
        "codis.zip: 40.0 of 80.0 MB, 2.0 MB/s",
    ]


def test_a_bar_shows_how_much_of_how_much_is_there(capsys):
    bar = DownloadBar()
    bar.begin("codis.zip", 2_000_000)
    bar.add(1_000_000)
    bar.add(1_000_000)
    bar.close()
    drawn = capsys.readouterr().err
    assert "codis.zip" in drawn
    assert re.search(r"2\.0/2\.0 MB", drawn)
