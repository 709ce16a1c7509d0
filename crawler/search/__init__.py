"""Full-text search without a server: an index in a directory, questions to it, and what of a page answers them."""
