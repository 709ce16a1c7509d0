"""The real frontier, politeness and store, on a web that is made up, under a virtual clock."""
