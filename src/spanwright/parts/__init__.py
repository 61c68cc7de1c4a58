"""The parts of a span model. They know tensors; only `build` knows which parts meet."""
