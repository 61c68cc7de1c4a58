// Entities as elements of the text, whose brackets hang below it.

import { make, written } from "./elements.js";

const LONGEST_NAME = 24;

/** The class that gives an element the colour of a type. */
export const colour = (number) => `type-${number}`;

/**
 * A confidence in two digits. It is cut and not rounded, so that it never seems to reach a threshold that it misses;
 * a little is added first, as 0.29 * 100 is less than 29.
 */
export const digits = (confidence) => (Math.floor(confidence * 100 + 1e-9) / 100).toFixed(2);

/** The name of a type as labels have it: cut if it is long, and without characters that cannot be seen. */
export function shortName(type) {
  const short = type.length > LONGEST_NAME ? `${type.slice(0, LONGEST_NAME - 1)}…` : type;
  return short.replace(/[\p{Cc}\p{Cf}]/gu, "·");
}

/** What stands below a bracket: the type, and the confidence in two digits. */
export const label = (type, confidence) => `${shortName(type)} ${digits(confidence).replace(/^0/, "")}`;

/**
 * Fill a piece of a line with its text and the entities that touch it, which come by their start, wider ones first.
 * Elements can only nest: an entity that crosses another one, or a border of the piece, is drawn in several parts.
 */
export function draw(piece, entities) {
  const root = document.createDocumentFragment();
  const open = []; // from the outermost: {entity, element}
  const borders = bordersOf(piece, entities);
  let next = 0;
  for (let index = 0; index + 1 < borders.length; index++) {
    const [from, to] = [borders[index], borders[index + 1]];
    const opening = closed(open, from);
    while (next < entities.length && entities[next].start <= from) opening.push(entities[next++]);
    for (const entity of opening.sort((a, b) => b.end - a.end)) {
      const element = part(entity, from);
      (open.at(-1)?.element ?? root).append(element);
      open.push({ entity, element });
    }
    for (const { entity, element } of open) if (entity.end === to) element.classList.add("ends");
    written(open.at(-1)?.element ?? root, piece.text.slice(from - piece.start, to - piece.start));
  }
  piece.element.replaceChildren(root);
}

/** Where something begins or ends in a piece, in order. */
function bordersOf(piece, entities) {
  const stop = piece.start + piece.text.length;
  const places = new Set([piece.start, stop, ...entities.flatMap(({ start, end }) => [start, end])]);
  return [...places].filter((place) => piece.start <= place && place <= stop).sort((a, b) => a - b);
}

/** Close what ends at a place, and what lies inside it; the latter goes on and is returned. */
function closed(open, place) {
  const first = open.findIndex(({ entity }) => entity.end <= place);
  if (first < 0) return [];
  return open.splice(first).map(({ entity }) => entity).filter(({ end }) => end > place);
}

/** One part of an entity; the first is the one that can be focused and that has a label. */
function part(entity, from) {
  const element = make("span", `entity ${entity.style}`);
  element.dataset.number = entity.number;
  element.title = entity.title;
  element.style.setProperty("--sure", entity.confidence);
  if (from === entity.start) begin(element, entity);
  return element;
}

function begin(element, entity) {
  element.classList.add("begins");
  element.dataset.label = entity.label;
  element.tabIndex = -1;
  element.setAttribute("role", "group");
  element.setAttribute("aria-roledescription", "entity");
  element.setAttribute("aria-label", entity.spoken);
}
