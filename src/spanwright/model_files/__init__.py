"""The files of a model directory, read so that no file can ask for more than the weights are worth."""
