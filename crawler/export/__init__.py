"""Export sinks and formats: write documents for other programs to files, directories and search engines."""
