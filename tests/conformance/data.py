"""Read the URL tests of other projects from the data beside the checkout."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.conftest import SHARED

DATA = SHARED / "url"


def read(name: str) -> list[dict[str, Any]]:
    """Return the rows of one suite."""
    with (DATA / f"{name}.jsonl").open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    assert found, f"{name} is empty"
    return found


def all_texts() -> Iterator[str]:
    """Yield every string in the data, whatever its meaning."""
    for path in sorted(DATA.glob("*.jsonl")):
        for row in read(path.stem):
            yield from texts(row)


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)
