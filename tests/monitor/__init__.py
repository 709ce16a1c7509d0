"""Tests of the monitoring of a crawl."""
