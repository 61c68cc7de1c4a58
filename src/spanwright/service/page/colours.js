// The colours of types, as numbers of the palette: those that the service names, and for others one that few have.

const COLOURS = 8; // as many as the palette has

let numbers = new Map();

/** Use the numbers that the service gives, by type. */
export function useColours(given) {
  numbers = new Map(Object.entries(given));
}

/** The number of the colour of a type. */
export function numberOf(type) {
  if (!numbers.has(type)) numbers.set(type, rarest());
  return numbers.get(type);
}

function rarest() {
  const uses = new Array(COLOURS).fill(0);
  for (const number of numbers.values()) uses[number]++;
  return uses.indexOf(Math.min(...uses));
}
