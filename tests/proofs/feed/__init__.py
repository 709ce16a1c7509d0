"""Proof: an index that is fed by increments alone, with the exporter killed again and again, matches the collection."""
