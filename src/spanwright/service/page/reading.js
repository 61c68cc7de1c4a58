// The entities of a text: which are shown, how they lie to each other, and moving among them by keys.

import { find } from "./elements.js";
import { openText, partsOf, showEntities } from "./lines.js";
import { colour, digits, label, shortName } from "./marks.js";
import { unitsOf } from "./offsets.js";

let entities = [];
let shown = [];

/** Show the text of an answer, and return its entities, by their start, wider ones first, offsets in UTF-16 units. */
export function openAnswer({ text, entities: given }, colourOf) {
  const units = unitsOf(text);
  return openEntities(text, given.map((entity) => ({
    ...entity,
    points: [entity.start, entity.end],
    start: units(entity.start),
    end: units(entity.end),
    style: colour(colourOf(entity.type)),
    label: label(entity.type, entity.confidence),
    goesOn: shortName(entity.type),
    title: `${entity.type} ${digits(entity.confidence)}`,
    spoken: `${entity.type}, confidence ${digits(entity.confidence)}`,
  })));
}

/** Show a text with entities, which are returned in their order. */
export function openEntities(text, given) {
  entities = given.sort((a, b) => a.start - b.start || b.end - a.end);
  entities.forEach((entity, number) => { entity.number = number; });
  openText(text, entities);
  return entities;
}

/** Draw the entities that pass a filter, and return them. */
export function showThose(passes) {
  shown = entities.filter(passes);
  showEntities(shown);
  if (shown.length && !find("marked").querySelector("[tabindex='0']")) makeReachable(shown[0]);
  return shown;
}

/** The shown entity that an element of the text belongs to. */
export function entityAt(element) {
  const number = element.closest?.(".entity")?.dataset.number;
  return number === undefined ? undefined : shown.find((entity) => entity.number === Number(number));
}

/** Let the tabulator key lead to this entity, and to no other. */
function makeReachable(entity) {
  for (const element of find("marked").querySelectorAll("[tabindex='0']")) element.tabIndex = -1;
  partsOf(entity)[0].tabIndex = 0;
}

export function focus(entity) {
  makeReachable(entity);
  partsOf(entity)[0].focus();
}

/** How an entity lies to the other shown ones: {outside, inside, same, crossing}; of those outside the nearest first. */
export function neighbours(entity) {
  const others = shown.filter((other) => other !== entity && other.start < entity.end && entity.start < other.end);
  const covers = (outer, inner) => outer.start <= inner.start && inner.end <= outer.end;
  const length = ({ start, end }) => end - start;
  const kind = (up, down) => others.filter((other) => covers(other, entity) === up && covers(entity, other) === down);
  return {
    outside: kind(true, false).sort((a, b) => length(a) - length(b)),
    inside: kind(false, true),
    same: kind(true, true),
    crossing: kind(false, false),
  };
}

/** The entity that a key leads to from another one; undefined for keys that lead nowhere. */
export function target(key, entity) {
  const place = shown.indexOf(entity);
  switch (key) {
    case "ArrowRight": return shown[place + 1] ?? entity;
    case "ArrowLeft": return shown[place - 1] ?? entity;
    case "ArrowUp": return neighbours(entity).outside[0] ?? entity;
    case "ArrowDown": return neighbours(entity).inside[0] ?? entity;
    case "Home": return shown[0];
    case "End": return shown.at(-1);
    default: return undefined;
  }
}
