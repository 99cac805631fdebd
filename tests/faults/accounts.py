"""``bench`` as two users of one group, and as one who may only read."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.faults.processes import CHECKOUT, require_sentence
from tests.faults.table import FoundError, SkippedError

GROUP_ID = 4242
FIRST, SECOND = 4243, 4244  # users of that group; they need no entry in /etc/passwd
_AS_USER = (
    'mount --bind "$1" "$2" && umask "$3" && exec setpriv --reuid "$4" --regid "$5"'
    ' --clear-groups "$2/bin/python3" -m bench_assets "${@:6}"'
)
"""Root's own Python may lie in a folder that only root enters, so it is mounted at another."""


def bench_as(user: int, home: Path, *arguments: str, umask: str = "002", code: int = 0) -> str:
    """Run ``bench`` as a user of the group; returns what it said.

    Raises:
        SkippedError: If this process cannot act as another user.
        FoundError: If it ended with another code, or not in a sentence.
    """
    if os.geteuid() or not all(map(shutil.which, ("unshare", "setpriv", "bash"))):
        raise SkippedError("only root makes a second account")
    python, own = home.parent / "python", home.parent / f"user-{user}"
    for folder in (python, own):
        folder.mkdir(exist_ok=True)
    os.chown(own, user, GROUP_ID)
    home.parent.chmod(0o755)
    paths = [CHECKOUT, CHECKOUT / "resources", CHECKOUT / "sensors", sysconfig.get_path("purelib")]
    more = {
        "BENCH_HOME": str(home),
        "HOME": str(own),
        "USER": str(user),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "LD_LIBRARY_PATH": str(python / "lib"),
    }
    words = [sys.base_prefix, str(python), umask, str(user), str(GROUP_ID), *arguments]
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", _AS_USER, "bash", *words],
        env=os.environ | more,
        cwd=own,
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr
    if "unshare" in output or "mount:" in output:
        raise SkippedError(output.strip()[:200])
    require_sentence(output)
    if done.returncode != code:
        raise FoundError(f"{' '.join(arguments)}: status {done.returncode}: {output[-300:]}")
    return output


def give(folder: Path, user: int) -> None:
    """Make a user the owner of a folder that his group may write, and its new files the group's."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, GROUP_ID)
        path.chmod(0o2775 if path.is_dir() else 0o664)
