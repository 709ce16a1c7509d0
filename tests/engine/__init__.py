"""Tests of the parts that run inside Scrapy's engine."""
