"""Near-duplicates in the whole collection: finding, clustering and judging them."""
