"""make prove-sites: prove from the server's log that robots.txt, validators and HEAD_POLICY work."""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

from tests.proofs.sites.proof import prove


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.proofs.sites", description=__doc__)
    parser.add_argument("--pages", type=int, default=1_000, help="size of the webs (default %(default)s)")
    pages: int = parser.parse_args().pages
    broken = 0
    with tempfile.TemporaryDirectory() as directory:
        for finding in prove(Path(directory), pages):
            broken += not finding.holds
            print(
                f"{'holds ' if finding.holds else 'BROKEN'}  {finding.promise}\n        {finding.figures}", flush=True
            )
    print("proved" if not broken else f"{broken} promises are broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
