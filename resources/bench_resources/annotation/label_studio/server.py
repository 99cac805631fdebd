"""Program, environment and image folder of a local Label Studio server on loopback.

By default, Label Studio listens on all addresses, allows sign-up and sends telemetry; all three are
disabled here. Every account can read the image folder.
"""

import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from bench_assets.core.schema.errors import SettingsError
from bench_resources.images.browser_images import browser_image
from bench_resources.images.locations import ImageFolder, ImageLocation
from bench_resources.storage.atomic_write import describe_write_errors, open_atomic
from bench_resources.storage.blobs.files import FileBlobs

ADMIN = "admin@bench.local"
_TOKEN = re.compile(r"[0-9a-f]{40}", re.ASCII)


def program(environment: Path) -> Path:
    """Find Label Studio in an environment of its own.

    Raises:
        SettingsError: If it is not installed.
    """
    found = environment / "bin" / "label-studio"
    if not found.is_file():
        raise SettingsError(
            f"{found}: no such program. Run `make annotation-server`, or set BENCH_LABEL_STUDIO to"
            " an environment that has it."
        )
    return found


def arguments(port: int) -> list[str]:
    """Arguments for listening on loopback only."""
    return ["start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)]


def variables(
    around: Mapping[str, str], folder: Path, images: Path, port: int, token: str
) -> dict[str, str]:
    """Environment of the server.

    Args:
        around: Our environment; variables about our Python are removed.
        folder: Folder of its database, password and log; readable by this user only.
        images: Link to the image store; everything in its folder is served.
        port: Port on 127.0.0.1.
        token: Token of the first account, set at the first start.

    Raises:
        SettingsError: If Label Studio would not accept the token.
        HomeError: If the folder cannot be written.
    """
    if not _TOKEN.fullmatch(token):
        raise SettingsError(
            "the token of a server started by bench must have 40 hexadecimal digits; create one"
            " with `openssl rand -hex 20`"
        )
    kept = {name: text for name, text in around.items() if not name.startswith(("PYTHON", "VIRT"))}
    return kept | {
        "HOME": str(folder),
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "LABEL_STUDIO_USERNAME": ADMIN,
        "LABEL_STUDIO_PASSWORD": password(folder),
        "LABEL_STUDIO_USER_TOKEN": token,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        "DEBUG": "false",
        "HOST": f"http://127.0.0.1:{port}",
        "LOCAL_FILES_SERVING_ENABLED": "true",
        "LOCAL_FILES_DOCUMENT_ROOT": str(images.parent),
    }


def password(folder: Path) -> str:
    """Password of the first account, generated once and stored beside the database.

    Raises:
        HomeError: If the folder cannot be written.
    """
    file = folder / "password"
    with describe_write_errors(file):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        FileBlobs(folder).put_new(file.name, secrets.token_urlsafe(12).encode())
        return file.read_text(encoding="ascii")


def export_images(home: Path, place: ImageLocation, shown: Iterable[str] = ()) -> Path:
    """Copy images to a folder without other files, as browsers show them upright.

    Args:
        home: The home folder.
        place: Location of its images.
        shown: Digests of the images for annotators.

    Raises:
        HomeError: If the folder cannot be written.
        ImageError: If an image is missing or damaged.
    """
    folder = (home / "annotation" / "shared" / "images").absolute()
    copies = ImageFolder(str(folder))
    with describe_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for digest in dict.fromkeys(shown):
            if not copies.file(digest).exists():
                with open_atomic(copies.file(digest), sync=False) as file:
                    file.write(browser_image(place, digest)[0])
    return folder
