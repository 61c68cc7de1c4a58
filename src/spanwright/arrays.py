"""The types of numpy arrays, in one place, so that a name means the same numbers in every room.

Numbers have 64 bits unless the name says 32, as those of networks have.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]
