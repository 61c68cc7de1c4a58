"""Restartable jobs: inputs in shards, a folder, engines."""
