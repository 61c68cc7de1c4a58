"""Formats of annotation tools: Label Studio, doccano, Prodigy, Argilla, and UIMA's CAS for INCEpTION."""
