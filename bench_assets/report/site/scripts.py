"""The page's modules as one classic script: browsers load no module from a page opened from disk.

Each module becomes a function that returns its exports, called after those that it imports. The
modules keep to what this needs: named imports and exports of declarations, and no cycles.
"""

import re
from collections.abc import Callable
from pathlib import Path

_IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"(\./|(?:\.\./)+)([\w./]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const|class) (\w+)", re.MULTILINE)
_OTHER_STATEMENT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def bundled_script(folder: Path, main_module: str) -> bytes:
    """Combine a module of a folder, such as ``main.js``, and all that it imports, into a script.

    Raises:
        ValueError: If modules do not keep to what the top of this file says.
    """
    numbers: dict[Path, int] = {}
    functions: list[str] = []

    def number_of(path: Path, importers: tuple[Path, ...]) -> int:
        if path in importers:
            names = " -> ".join(module.name for module in (*importers, path))
            raise ValueError(f"{path}: modules import each other in a circle ({names}).")
        if path not in numbers:
            function = _as_function(path, lambda module: number_of(module, (*importers, path)))
            numbers[path] = len(numbers)
            functions.append(f"const m{numbers[path]} = {function};\n")
        return numbers[path]

    number_of((folder / main_module).resolve(), importers=())
    return f'"use strict";\n(() => {{\n{"".join(functions)}}})();\n'.encode()


def _as_function(path: Path, number_of: Callable[[Path], int]) -> str:
    """Turn a module into an immediately called function that returns its exports."""

    def declare_imports(match: re.Match[str]) -> str:
        names, folder, file = match.groups()
        number = number_of((path.parent / f"{folder}{file}").resolve())
        if not names:  # imported for its effects alone
            return ""
        return f"const {{ {names.strip().replace(' as ', ': ')} }} = m{number};\n"

    text = _IMPORT.sub(declare_imports, path.read_text(encoding="utf-8"))
    exports = [name for _, name in _EXPORT.findall(text)]
    text = _EXPORT.sub(r"\1 \2", text)
    if statement := _OTHER_STATEMENT.search(text):
        raise ValueError(f"{path}: {statement[0]!r} is no named import or exported declaration.")
    return f"(() => {{\n{text}return {{ {', '.join(exports)} }};\n}})()"
