import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.faults.processes import CHECKOUT, require_sentence
from tests.faults.table import FindingError, SkippedError

GROUP_ID = 4242
FIRST, SECOND = 4243, 4244  # users of that group; they need no entry in /etc/passwd
_AS_USER = (
    'mount --bind "$1" "$2" && umask "$3" && exec setpriv --reuid "$4" --regid "$5"'
    ' --clear-groups "$2/bin/python3" -m bench_assets "${@:6}"'
)
"""Mounts root's Python elsewhere, as it may lie in a folder that only root can enter."""


def bench_as(user: int, home: Path, *arguments: str, umask: str = "002", code: int = 0) -> str:
    """Run ``bench`` as a user of the group; returns its output.

    Raises:
        SkippedError: If this process cannot act as another user.
        FindingError: If it ends with another status than ``code``, or in a traceback.
    """
    if os.geteuid() or not all(map(shutil.which, ("unshare", "setpriv", "bash"))):
        raise SkippedError("only root makes a second account")
    python = home.parent / "python"
    user_folder = home.parent / f"user-{user}"
    for folder in (python, user_folder):
        folder.mkdir(exist_ok=True)
    os.chown(user_folder, user, GROUP_ID)
    home.parent.chmod(0o755)
    paths = [CHECKOUT, CHECKOUT / "resources", CHECKOUT / "sensors", sysconfig.get_path("purelib")]
    variables = {
        "BENCH_HOME": str(home),
        "HOME": str(user_folder),
        "USER": str(user),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "LD_LIBRARY_PATH": str(python / "lib"),
    }
    parameters = [sys.base_prefix, str(python), umask, str(user), str(GROUP_ID)]
    process = subprocess.run(
        ["unshare", "-m", "bash", "-c", _AS_USER, "bash", *parameters, *arguments],
        env=os.environ | variables,
        cwd=user_folder,
        capture_output=True,
        text=True,
        check=False,
    )
    output = process.stdout + process.stderr
    if "unshare" in output or "mount:" in output:
        raise SkippedError(output.strip()[:200])
    require_sentence(output)
    if process.returncode != code:
        raise FindingError(f"{' '.join(arguments)}: status {process.returncode}: {output[-300:]}")
    return output


def give(folder: Path, user: int) -> None:
    """Make a user the owner of a folder, which the group may write and which new files inherit."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, GROUP_ID)
        path.chmod(0o2775 if path.is_dir() else 0o664)
