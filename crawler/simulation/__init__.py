"""Simulated crawls: the real frontier, politeness and store on a generated web, under a virtual clock."""
