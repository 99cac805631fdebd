import logging

from bench_resources.datasets.download import DownloadLog


def test_the_log_has_received_and_total_size_and_the_rate(caplog, monkeypatch):
    clock = iter([0.0, 0.0, 4.0, 20.0, 21.0])  # s: created, begun, and after each piece
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    log = DownloadLog()
    with caplog.at_level(logging.WARNING, logger="bench_assets.sources"):
        log.begin("codis.zip", 80_000_000)
        for _ in range(3):
            log.add(20_000_000, 20_000_000)
    assert caplog.messages == [
        "codis.zip: fetching 80.0 MB",
        "codis.zip: 40.0 of 80.0 MB, 2.0 MB/s",
    ]


def test_an_unknown_size_is_not_logged(caplog, monkeypatch):
    clock = iter([0.0, 0.0, 20.0])  # s: created, begun, and after the piece
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    log = DownloadLog()
    with caplog.at_level(logging.WARNING, logger="bench_assets.sources"):
        log.begin("quiz.csv", 0)
        log.add(40_000_000, 40_000_000)
    assert caplog.messages == ["quiz.csv: fetching", "quiz.csv: 40.0 MB, 2.0 MB/s"]


def test_the_rate_has_no_bytes_of_earlier_runs(caplog, monkeypatch):
    clock = iter([0.0, 0.0, 1.0, 20.0, 40.0])  # s: created, begun, and after each piece
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    log = DownloadLog()
    with caplog.at_level(logging.WARNING, logger="bench_assets.sources"):
        log.begin("quiz.csv", 90_000_000)
        log.add(50_000_000, 0)
        log.add(40_000_000, 40_000_000)
        log.add(-90_000_000, 0)  # discarded
    assert caplog.messages[1:] == [
        "quiz.csv: 90.0 of 90.0 MB, 2.0 MB/s",
        "quiz.csv: 0.0 of 90.0 MB, 0.0 MB/s",
    ]
