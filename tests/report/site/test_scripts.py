import subprocess
from pathlib import Path

import pytest

from bench_assets.report.site.scripts import bundled_script
from tests.report.static.node import NO_NODE, NODE

MODULES = {
    "main.js": 'import { double as twice } from "./base/number.js";\n'
    'import "./last.js";\nconsole.log(twice(21));\n',
    "last.js": 'import { ONE } from "./base/one.js";\nconsole.log(ONE);\n',
    "base/number.js": 'import { ONE } from "./one.js";\n'
    "export function double(number) {\n  return 2 * number * ONE;\n}\n",
    "base/one.js": "export const ONE = 1;\n",
}


def write_modules(folder: Path, modules: dict[str, str]) -> Path:
    for name, text in modules.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.skipif(not NODE, reason=NO_NODE)
def test_a_module_runs_once_and_after_its_imports(tmp_path: Path) -> None:
    script = bundled_script(write_modules(tmp_path, MODULES), "main.js")
    process = subprocess.run([*NODE, "-"], input=script, capture_output=True, check=True)
    assert process.stdout == b"1\n42\n"
    assert script.count(b"const ONE = 1;") == 1


def test_modules_in_a_circle_are_refused(tmp_path: Path) -> None:
    circle = {
        "base/one.js": 'import { double } from "./number.js";\nexport const ONE = double(1);\n'
    }
    folder = write_modules(tmp_path, MODULES | circle)
    with pytest.raises(ValueError, match=r"in a circle \(main.js -> number.js -> one.js -> numb"):
        bundled_script(folder, "main.js")


@pytest.mark.parametrize(
    "statement",
    [
        "export default 1;",
        "export let counted = 0;",
        "export { ONE };",
        'import * as all from "./base/one.js";',
        'import all from "./base/one.js";',
        'import { x } from "d3";',
    ],
)
def test_an_import_or_export_that_is_not_supported_is_refused(tmp_path, statement):
    folder = write_modules(tmp_path, MODULES | {"last.js": f"const x = 1;\n{statement}\n"})
    with pytest.raises(ValueError, match="is no named import or exported declaration"):
        bundled_script(folder, "main.js")
