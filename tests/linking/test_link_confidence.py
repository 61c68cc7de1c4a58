"""Confidences are probabilities, once they are fitted."""

from __future__ import annotations

import numpy as np
import pytest

from spanwright.linking.confidence import Confidence, features, fit
from spanwright.linking.index import Candidate


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_a_fitted_confidence_is_the_share_of_right_links(share: float) -> None:
    sure = [Candidate(("D1",), "flu", 1.0)]
    rows = np.array([features(sure, "exact")] * 500)
    right = np.arange(500) < share * 500
    assert fit(rows, right.astype(np.float64)).of(sure, "exact") == pytest.approx(share, abs=0.02)


def test_links_of_one_kind_leave_others_nearly_as_they_are() -> None:
    doubtful = [Candidate(("D1",), "flu", 0.5), Candidate(("D2",), "grippe", 0.4)]
    rows = np.array([features(doubtful, "similar")])
    fitted = fit(rows, np.zeros(1))
    sure = [Candidate(("D1",), "flu", 1.0)]
    assert fitted.of(doubtful, "similar") < Confidence().of(doubtful, "similar")
    assert fitted.of(sure, "exact") == pytest.approx(Confidence().of(sure, "exact"), abs=0.02)
