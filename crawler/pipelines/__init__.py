"""Item pipelines: what happens to a visit's result. Its content is extracted, then it is committed."""
