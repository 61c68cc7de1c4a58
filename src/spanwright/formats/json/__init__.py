"""Formats of JSON records: our own documents, SciERC and CoNLL04."""
