"""Scrapy extensions that publish the state of a running crawl: progress for people, metrics for Prometheus."""
