"""The one folder that a Label Studio serves pictures from; whoever has an account may read it."""

from collections.abc import Iterable
from pathlib import Path

from resources.disk.writing import told_of_writing, written_aside
from resources.pictures.places import PictureFolder, PicturePlace


def shared_pictures(home: Path, place: PicturePlace, shown: Iterable[str] = ()) -> Path:
    """Have pictures lie in a folder that holds nothing else.

    Of a store that is a folder it is a link, and all pictures are shown; objects are copied.

    Args:
        home: The home folder.
        place: Where its pictures lie.
        shown: Digests of those that people are shown.

    Raises:
        HomeError: If the folder cannot be written.
        ImageError: If a picture is not there, or not as it was stored.
    """
    folder = (home / "people" / "shared" / "images").absolute()
    with told_of_writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        images = Path(place.folder).absolute() if isinstance(place, PictureFolder) else None
        if folder.is_symlink() and folder.readlink() != images:  # the home or its store was moved
            folder.unlink()
        if images:
            images.mkdir(parents=True, exist_ok=True)
            if not folder.is_dir():
                folder.symlink_to(images)
        if folder.is_symlink():
            return folder
    copies = PictureFolder(str(folder))
    for digest in dict.fromkeys(shown):
        if not copies.file(digest).exists():
            with written_aside(copies.file(digest), sync=False) as file:
                file.write(place.read(digest))
    return folder
