"""Item pipelines: a visit's content is extracted, marked for near-duplicates, then archived and committed."""
