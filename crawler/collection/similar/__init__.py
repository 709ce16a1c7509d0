"""Near-duplicates in the whole collection, or in files: find, cluster and evaluate them."""
