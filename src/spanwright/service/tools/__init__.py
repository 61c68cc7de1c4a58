"""Annotation tools that ask the service for suggestions: Label Studio, INCEpTION and doccano."""
