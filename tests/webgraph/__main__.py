"""Serve a generated web until standard input ends.

python -m tests.webgraph --seed 7 --hosts 30 --pages 1500 --port 0 --log access.jsonl --hosts-file hosts
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

import uvloop

from tests.webgraph.generate import Web
from tests.webgraph.server import raise_open_files, serve


def main(arguments: Sequence[str] | None = None) -> None:
    options = vars(_parser().parse_args(arguments))
    log, hosts_file = options.pop("log"), options.pop("hosts_file")
    web = Web(**options)
    if hosts_file:
        hosts_file.write_text(web.hosts_file())
    raise_open_files()
    uvloop.run(serve(web, log))


def _parser() -> ArgumentParser:
    """Build a parser with one option for each property of a web."""
    parser = ArgumentParser(prog="python -m tests.webgraph", description=__doc__.splitlines()[0])
    parser.add_argument("--log", type=Path, required=True, help="the access log, one JSON object a line")
    parser.add_argument("--hosts-file", type=Path, help="where to write the hosts' addresses")
    for field in fields(Web):
        kind = _KINDS[str(field.type)]
        name = f"--{field.name.replace('_', '-')}"
        if field.name == "seed":
            parser.add_argument(name, type=kind, required=True)
        else:
            parser.add_argument(name, type=kind, default=field.default, help="default %(default)s")
    return parser


def _boolean(word: str) -> bool:
    if word not in ("True", "False"):
        raise ArgumentTypeError(f"True or False, not {word}")
    return word == "True"


_KINDS: dict[str, Callable[[str], int | float | bool]] = {"int": int, "float": float, "bool": _boolean}

if __name__ == "__main__":
    main()
