"""Boosted decision trees as plain arrays: read from a file, asked for all blocks of a page at once.

All trees of a model have the same depth; a shallower branch of a learned tree is continued by nodes that always go
left. So a node needs no pointers: the children of node k of a level are the nodes 2k and 2k + 1 of the next one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

_AT_ONCE: Final = 4_096  # blocks: the arrays of more would take much memory
_FORMAT: Final = "main-text trees 1"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trees:
    """A sum of decision trees that gives the probability that a block is content."""

    names: Sequence[str]  # of the features that the trees ask for
    features: Sequence[NDArray[np.uint8]]  # for each level an array by tree and node: the number of a feature
    limits: Sequence[NDArray[np.float32]]  # alike: values above it go right
    values: NDArray[np.float32]  # by tree and leaf
    start: float  # log-odds before any tree

    def probabilities(self, columns: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the probability of each block, given the columns of their features."""
        matrix = np.array([columns[name] for name in self.names], np.float32)
        found = [
            self._of_some(np.ascontiguousarray(matrix[:, first : first + _AT_ONCE]))
            for first in range(0, matrix.shape[1], _AT_ONCE)
        ]
        return np.concatenate(found) if len(found) > 1 else found[0]

    def _of_some(self, matrix: NDArray[np.float32]) -> NDArray[np.float64]:
        flat, count = matrix.ravel(), matrix.shape[1]
        blocks = np.arange(count)
        place = (matrix[self.features[0][:, 0]] > self.limits[0]).astype(
            np.intp
        )  # by tree and block: node of the level
        first = np.arange(len(self.values))[:, None]
        for features, limits in zip(self.features[1:], self.limits[1:], strict=True):
            nodes = place + first * limits.shape[1]
            asked = (features.ravel().astype(np.intp) * count).take(nodes)
            asked += blocks
            place *= 2
            place += flat.take(asked) > limits.ravel().take(nodes)
        score = self.values.ravel().take(place + first * self.values.shape[1]).sum(0, dtype=np.float64) + self.start
        found: NDArray[np.float64] = 1 / (1 + np.exp(-score))
        return found

    def to_bytes(self) -> bytes:
        """Return the trees as a line of JSON and the arrays behind it, little-endian."""
        head = {
            "format": _FORMAT,
            "trees": len(self.values),
            "depth": len(self.limits),
            "start": self.start,
            "names": list(self.names),
        }
        arrays = [*self.features, *(limits.astype("<f4") for limits in self.limits), self.values.astype("<f4")]
        return json.dumps(head).encode() + b"\n" + b"".join(array.tobytes() for array in arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote; raises ValueError for anything else."""
        line, _, rest = data.partition(b"\n")
        head = json.loads(line)
        if not isinstance(head, dict) or head.get("format") != _FORMAT:
            raise ValueError(f"not {_FORMAT!r}")
        trees, depth = head["trees"], head["depth"]
        sizes = [2**level for level in range(depth)]
        position = 0

        def read(kind: str, width: int) -> NDArray[np.generic]:
            nonlocal position
            array = np.frombuffer(rest, kind, trees * width, position).reshape(trees, width)
            position += array.nbytes
            return array

        features = [read("u1", size) for size in sizes]
        limits = [read("<f4", size) for size in sizes]
        values = read("<f4", 2**depth)
        if position != len(rest):
            raise ValueError(f"{len(rest) - position} bytes too many")
        return cls(names=head["names"], features=features, limits=limits, values=values, start=head["start"])  # type: ignore[arg-type]
