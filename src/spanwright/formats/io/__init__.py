"""What all readers and writers stand on: opening, lines, encodings, whole files, ids, safe XML."""
