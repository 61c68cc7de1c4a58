"""Parquet tables and folders of the library `datasets`."""
