"""An index that is fed by increments alone, by an exporter that is killed, has what the collection has."""
