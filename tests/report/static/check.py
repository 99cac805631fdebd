"""Check the report's scripts: ``python -m tests.report.static.check``, called by ``make check``.

tsc checks the types that comments give, ESLint what it does not see. Both come from npm, in the
versions of ``package-lock.json``. Where Node or npm's packages cannot be had, a sentence says so.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.report.static.node import APP, NO_NODE, NODE, NPM

FOLDER = Path(__file__).parent
PACKAGES = FOLDER / "node_modules"
_NO_REGISTRY = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")
_OPTIONS = ["--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=20000"]


def install_packages() -> bool:
    """Install the locked packages unless they are there; return False if npm reaches no registry.

    Raises:
        RuntimeError: If npm fails otherwise, such as for a lock file that does not fit.
    """
    lock = FOLDER / "package-lock.json"
    installed = PACKAGES / ".installed"
    if installed.is_file() and installed.read_bytes() == lock.read_bytes():
        return True
    npm = subprocess.run(
        [*NPM, "ci", "--loglevel=error", *_OPTIONS],
        cwd=FOLDER, check=False, capture_output=True, text=True,
    )  # fmt: skip
    if npm.returncode == 0:
        installed.write_bytes(lock.read_bytes())
        return True
    if any(code in npm.stderr for code in _NO_REGISTRY):
        return False
    raise RuntimeError(f"npm ci failed: {npm.stderr}")


def main() -> int:
    """Run both tools; return 1 if either reports a problem, and 0 where they cannot be run."""
    if not NODE:
        print(f"The report's scripts are not checked: {NO_NODE}")
        return 0
    if not install_packages():
        print("The report's scripts are not checked: npm's registry cannot be reached.")
        return 0
    tsc: list[Path | str] = [_program("typescript", "tsc"), "--project", FOLDER]
    eslint: list[Path | str] = [_program("eslint", "eslint"), "--max-warnings=0"]
    eslint += ["--config", FOLDER / "eslint.config.js", APP, FOLDER]
    exit_codes = [subprocess.run([*NODE, *tool], check=False).returncode for tool in (tsc, eslint)]
    return 1 if any(exit_codes) else 0


def _program(package: str, name: str) -> Path:
    """The script of a command that an npm package provides."""
    manifest = json.loads((PACKAGES / package / "package.json").read_text(encoding="utf-8"))
    return PACKAGES / package / str(manifest["bin"][name])


if __name__ == "__main__":
    sys.exit(main())
