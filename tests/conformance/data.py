"""What other projects test about URLs, as it lies beside the checkout: read when asked for, kept nowhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.conftest import SHARED

DATA = SHARED / "url"


def read(name: str) -> list[dict[str, Any]]:
    """The rows of one suite."""
    with (DATA / f"{name}.jsonl").open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    assert found, f"{name} is empty"
    return found


def all_texts() -> Iterator[str]:
    """Every text in the data, whatever it means there."""
    for path in sorted(DATA.glob("*.jsonl")):
        for row in read(path.stem):
            yield from texts(row)


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)
