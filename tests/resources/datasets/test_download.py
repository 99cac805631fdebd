"""What is said of a fetching: how much of how much, and how fast."""

import logging

from bench_resources.datasets.download import DownloadLog


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
