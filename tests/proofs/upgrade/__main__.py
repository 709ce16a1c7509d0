"""Make the fixture with the version that is checked out: python -m tests.proofs.upgrade DIRECTORY.

The result, DIRECTORY/before.tar.xz, is stored beside this file, so that later versions are compared with it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.proofs.sites.web import served
from tests.proofs.upgrade.fixture import make
from tests.proofs.upgrade.web import PORT, hosts

if __name__ == "__main__":
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True)
    with served(hosts(), directory, PORT) as web:
        make(web, directory)
