from pathlib import Path

from tests.fakes.codis_source import entry, write_release

_SETTINGS = """
[sources]
codis = "../codis"

[models.my-model]
kind = "scripted"
says = "Opening."

[models.my-judge]
kind = "scripted"
says = "Right"
"""


def write_scratch_folder(folder: Path) -> None:
    """Write two pairs of CODIS, with ids of the mini edition, and a home whose source they are."""
    pairs = [entry(id="s002"), entry(id="s003", image_id="b.png")]
    write_release(folder / "codis", pairs, images=("a.png", "b.png"))
    (folder / "home").mkdir()
    (folder / "home" / "bench.toml").write_text(_SETTINGS, encoding="utf-8")
