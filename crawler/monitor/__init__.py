"""Monitoring of a running crawl: counters, summary, live view, Prometheus metrics, formatting for people."""
