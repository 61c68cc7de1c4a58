"""BioC in XML and JSON."""
