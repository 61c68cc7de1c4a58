// Which of the predicted spans of a text become its entities; the rules of `decoding/`.

const inOrder = (a, b) => a.first - b.first || a.last - b.last || a.type - b.type;
const byRank = (a, b) =>
  b.rank - a.rank || a.first - a.last - (b.first - b.last) || a.first - b.first || a.type - b.type;

const overlap = (a, b) => a.first <= b.last && b.first <= a.last;
const inside = (a, b) => a.first >= b.first && a.last <= b.last;
const CONFLICTS = {
  nested: () => false,
  flat: overlap,
  "non-crossing": (a, b) => overlap(a, b) && !inside(a, b) && !inside(b, a),
};

/** The predictions that are kept, from the highest to the lowest rank each that conflicts with none before. */
export function decode(found, rule) {
  const conflict = CONFLICTS[rule];
  const kept = [];
  for (const span of found.toSorted(byRank)) {
    if (!kept.some((other) => conflict(span, other))) kept.push(span);
  }
  return kept.sort(inOrder);
}
