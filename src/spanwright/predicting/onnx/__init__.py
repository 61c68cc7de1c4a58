"""Exports: the costly parts of a network as ONNX graphs, in 32 and in 8 bits."""
