// Confidences as users see them; the calibration of `evaluation/calibration.py`.

const EDGE = 1e-6;

export class Calibration {
  /** `null` leaves confidences as they are. */
  constructor(stored) {
    this.stored = stored;
  }

  apply(confidence) {
    const shown = rounded(confidence);
    return this.stored === null ? shown : rounded(this.calibrated(shown));
  }

  calibrated(value) {
    const { kind, temperature, confidences, probabilities } = this.stored;
    if (kind === "isotonic") return interpolated(value, confidences, probabilities);
    if (temperature === 1) return value;
    const inner = Math.min(Math.max(value, EDGE), 1 - EDGE);
    return 0.5 + 0.5 * Math.tanh((0.5 * (Math.log(inner) - Math.log1p(-inner))) / temperature);
  }
}

/** To six digits. */
const rounded = (value) => Math.round(value * 1e6) / 1e6;

function interpolated(value, knots, heights) {
  const at = knots.findIndex((knot) => knot > value);
  if (at === 0) return heights[0];
  if (at < 0) return heights.at(-1);
  const share = (value - knots[at - 1]) / (knots[at] - knots[at - 1]);
  return heights[at - 1] + share * (heights[at] - heights[at - 1]);
}
