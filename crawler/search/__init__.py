"""Full-text search without a server: a Tantivy index in a directory, ranked queries, and snippets."""
