"""From what a network says to the entities of documents, by the same code whatever runs the network."""
