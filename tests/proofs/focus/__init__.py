"""Whole focused crawls over a real web with topics, judged by the server's log: harvest, kills, several workers."""
