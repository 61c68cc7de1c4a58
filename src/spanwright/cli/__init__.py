"""The command line: one small file per verb. Torch is imported inside commands only."""
