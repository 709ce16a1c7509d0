"""Measure how many documents per second a sink sends to an engine in another process.

python -m tests.export.speed opensearch 20000
"""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing
from random import Random

from crawler.export.engines import ENGINES
from tests.export.test_engines import page

PATHS = {"opensearch": "pages", "solr": "solr/pages", "vespa": "web/page"}
WORDS = 600  # of a text: about 4 kB


def main() -> None:
    name, count = sys.argv[1], int(sys.argv[2])
    chance = Random(1)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(5000)]
    texts = [" ".join(chance.choices(words, k=WORDS)) for _ in range(200)]
    entries = [page(number, number + 1, text=texts[number % 200]) for number in range(count)]
    command = [sys.executable, "-m", "tests.export.engines", name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        port = int(process.stdout.readline())
        started, used = time.perf_counter(), time.process_time()
        with closing(ENGINES[name](f"http://127.0.0.1:{port}/{PATHS[name]}", sleep=time.sleep)) as sink:
            for first in range(0, count, sink.acknowledge_every):
                for entry in entries[first : first + sink.acknowledge_every]:
                    sink.put(entry)
                sink.acknowledge()
        took, used = time.perf_counter() - started, time.process_time() - used
        process.kill()
    print(f"{name}: {count / took:,.0f} documents/s, {used / count * 1e6:.0f} µs of our CPU each")


if __name__ == "__main__":
    main()
