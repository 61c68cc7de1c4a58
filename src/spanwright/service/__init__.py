"""The HTTP service: one or several models behind `POST /tag`, for concurrent clients. See docs/serve.md."""
