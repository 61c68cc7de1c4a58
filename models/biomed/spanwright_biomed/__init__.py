"""The biomedical model of Spanwright: `spanwright.load("biomed")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
"""The model directory, which the entry point `biomed` names."""
