"""Proves that an index that is fed by increments alone, with kills of the exporter, equals the collection."""
