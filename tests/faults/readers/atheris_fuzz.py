"""Fuzz one reader, guided by coverage: ``pip install -e '.[fuzz]'``, then for instance

    python -m tests.faults.readers.atheris_fuzz 'a zip' -max_total_time=600

Without a name it lists the readers. What follows the name goes to libFuzzer. An input that lets
anything but a ``BenchError`` out is printed and kept in a file beside.
"""

import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from bench_assets.core.schema.errors import BenchError


def main() -> None:
    """Fuzz the reader that is named."""
    import atheris

    with atheris.instrument_imports(include=["bench_assets", "bench_resources"]):
        from tests.faults.readers.fuzzing import READERS
    readers = {reader.name: reader for reader in READERS}
    if len(sys.argv) < 2 or sys.argv[1] not in readers:
        sys.exit("\n".join(readers))
    reader = readers[sys.argv[1]]
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(reader.seeds):
            Path(corpus, str(number)).write_bytes(seed)

        def one(data: bytes) -> None:
            with tempfile.TemporaryDirectory() as folder, suppress(BenchError):
                reader.read(data, Path(folder))

        atheris.Setup([sys.argv[0], *sys.argv[2:], corpus], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
