// The types of a model with their colours and counts: which are shown, and which were added by description.

import { numberOf, useColours } from "./colours.js";
import { count, find, make, named } from "./elements.js";
import { colour } from "./marks.js";

let names = [];
const hidden = new Set();
const added = new Map(); // name to description
let changed = () => {};

/** What to do when a type is shown or hidden, and when the added types change. */
export function onTypes(filter, types) {
  changed = filter;
  find("all-types").addEventListener("click", () => toggle(() => hidden.clear()));
  find("no-types").addEventListener("click", () => toggle(() => names.forEach((name) => hidden.add(name))));
  find("type-form").addEventListener("submit", (event) => {
    event.preventDefault();
    add(types);
  });
  find("types").addEventListener("click", (event) => {
    const name = event.target.closest("button")?.value;
    if (!added.delete(name)) return;
    types();
    find("adding").querySelector("summary").focus();
  });
}

function add(types) {
  const [name, description] = [find("type-name"), find("type-description")];
  const given = name.value.trim();
  name.setCustomValidity(!given || (names.includes(given) && !added.has(given)) ? "The model has a type of this name" : "");
  if (!name.reportValidity()) return name.addEventListener("input", () => name.setCustomValidity(""), { once: true });
  added.set(given, description.value.trim());
  find("type-form").reset();
  name.focus();
  types();
}

/** Types by name and description that a request asks for; undefined if none. */
export const addedTypes = () => (added.size ? Object.fromEntries(added) : undefined);

export const isShown = (type) => !hidden.has(type);

export const hiddenTypes = () => names.filter((name) => hidden.has(name)).length;

/** The number of the colour of a type, which is listed from now on. */
export function colourOf(type) {
  if (!names.includes(type)) names.push(type);
  return numberOf(type);
}

/** List the types of a model, and the added ones if it can read descriptions. */
export function listTypes(model) {
  if (!model.reads_descriptions) added.clear();
  names = [...new Set([...model.types, ...added.keys()])];
  useColours(model.colours);
  find("adding").hidden = !model.reads_descriptions;
  listRows();
  countTypes(null);
}

/** Write after each type how many of its entities are shown; nothing where no entities are known (null). */
export function countTypes(entities, shown) {
  const [all, seen] = [tally(entities ?? []), tally(shown ?? [])];
  listRows();
  const list = find("types");
  names.forEach((name, place) => {
    const [of, there] = [all.get(name) ?? 0, seen.get(name) ?? 0];
    const item = list.children[place];
    item.classList.toggle("none", !of);
    item.querySelector("input").checked = !hidden.has(name);
    item.querySelector(".count").textContent = !entities ? "" : there === of ? count(of) : `${count(there)} of ${count(of)}`;
  });
}

/** A row for each type, made again only if there are others. */
function listRows() {
  const list = find("types");
  const listed = [...list.children].map(({ dataset }) => dataset.name);
  if (JSON.stringify(listed) !== JSON.stringify(names)) list.replaceChildren(...names.map(row));
}

function tally(entities) {
  const found = new Map();
  for (const { type } of entities) found.set(type, (found.get(type) ?? 0) + 1);
  return found;
}

function row(name) {
  const box = make("input", "");
  box.type = "checkbox";
  box.addEventListener("change", () => toggle(() => (box.checked ? hidden.delete(name) : hidden.add(name))));
  const item = make("li", colour(colourOf(name)), make("label", "", box, named(name, "name"), make("span", "count quiet")));
  item.dataset.name = name;
  if (added.has(name)) item.append(removal(name));
  return item;
}

function removal(name) {
  const button = make("button", "plain", "✕");
  button.type = "button";
  button.value = name;
  button.setAttribute("aria-label", `Remove the type ${name}`);
  return button;
}

function toggle(change) {
  change();
  changed();
}
