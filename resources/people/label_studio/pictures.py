"""The one folder that a Label Studio serves pictures from; whoever has an account may read it."""

from pathlib import Path

from resources.disk.writing import told_of_writing


def linked_pictures(home: Path) -> Path:
    """Link to the image store of a home, from a folder that holds nothing else.

    Raises:
        HomeError: If the folder cannot be written.
    """
    link, images = (home / "people" / "shared" / "images").absolute(), (home / "images").absolute()
    with told_of_writing(link):
        link.parent.mkdir(parents=True, exist_ok=True)
        images.mkdir(parents=True, exist_ok=True)
        if link.is_symlink() and link.readlink() != images:  # the home was moved
            link.unlink()
        if not link.is_symlink():
            link.symlink_to(images)
    return link
