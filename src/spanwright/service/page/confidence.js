// The threshold: a slider, with how many entities lie where above it.

import { find, make } from "./elements.js";

const BINS = 25;

let tuned = {}; // the model's own thresholds, by type, or by type and corpus

const threshold = () => Number(find("threshold").value);

const tunedFor = (type) => tuned[`${type} of ${find("corpus").value}`] ?? tuned[type] ?? 0;

/** Whether an entity is confident enough to be shown; of two thresholds the higher counts. */
export const isSure = ({ type, confidence }) =>
  confidence >= Math.max(threshold(), find("tuned").checked ? tunedFor(type) : 0);

/** The same as fields of a request. */
export const limits = () => ({ minimum_confidence: threshold(), tuned_thresholds: find("tuned").checked });

export function onThreshold(changed) {
  find("threshold").addEventListener("input", changed);
  find("tuned").addEventListener("change", changed);
  find("histogram").append(...Array.from({ length: BINS }, () => make("span")));
}

/** Draw how the confidences of entities are spread; the highest bar is as high as its room. */
export function spread(entities) {
  const counts = new Array(BINS).fill(0);
  for (const { confidence } of entities) counts[Math.min(Math.floor(confidence * BINS), BINS - 1)]++;
  const most = Math.max(1, ...counts);
  // The root, since one entity in a bin shall be seen beside hundreds in another.
  [...find("histogram").children].forEach((bar, place) => { bar.style.height = `${Math.sqrt(counts[place] / most) * 100}%`; });
}

/** Write the threshold beside its slider, and fade what lies below it. */
export function showThreshold() {
  const value = threshold();
  find("threshold-value").textContent = value.toFixed(2);
  [...find("histogram").children].forEach((bar, place) => bar.classList.toggle("below", (place + 1) / BINS <= value));
}

/** Say what the numbers of a model mean, and offer its own thresholds if it has some. */
export function explainConfidence({ calibrated, tuned_thresholds: thresholds }) {
  find("calibration").textContent = calibrated
    ? "Calibrated: of ten entities at 0.80, about eight are right."
    : "Not calibrated: an order, not a probability.";
  tuned = thresholds;
  find("tuned-choice").hidden = !Object.keys(tuned).length;
  if (find("tuned-choice").hidden) find("tuned").checked = false;
}
