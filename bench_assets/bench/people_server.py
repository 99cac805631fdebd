"""Label Studio's server as a process of its own, over a home folder."""

from pathlib import Path

from bench_assets.bench.serving import Served
from resources.people.label_studio import server
from resources.people.label_studio.pictures import shared_pictures
from resources.pictures.opening import images_of
from resources.settings.bench_toml import load_settings
from resources.settings.environment import environment_of


class LabelStudioServed(Served):
    """A Label Studio, from its start to its end; a context manager."""

    what = "Label Studio"
    health = "/health"

    def __init__(self, home: Path, port: int, token: str, program: Path) -> None:
        """Make its folder ready; nothing is started yet.

        Raises:
            SettingsError: If the token is none that can be given to it.
            HomeError: If the folder cannot be written.
        """
        super().__init__(home, port)
        self.folder = home / "people" / "label-studio" / "server"
        self.log = self.folder / "server.log"
        self._program = program
        place = images_of(load_settings(home)).place
        self._variables = server.variables(
            environment_of(home), self.folder, shared_pictures(home, place), port, token
        )

    def command(self) -> list[str]:
        """What is started."""
        return [str(self._program), *server.arguments(self.port)]

    def environment(self) -> dict[str, str]:
        """What it finds in its environment."""
        return self._variables
