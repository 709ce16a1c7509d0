"""Benchmarks: `python -m benchmarks NAME`. Where there is a peer, both are measured in the same run and compared."""
