// The page: asks the service for models and entities, and lets its parts show them.

import { explainConfidence, isSure, limits, onThreshold, showThreshold, spread } from "./confidence.js";
import { hideDetails, showDetails } from "./details.js";
import { onDrawer } from "./drawer.js";
import { count, counted, find, make } from "./elements.js";
import { onHelp } from "./help.js";
import { select } from "./lines.js";
import { hideNotice, onNotice, showNotice } from "./notice.js";
import { entityAt, focus, openAnswer, showThose, target } from "./reading.js";
import * as service from "./service.js";
import { addedTypes, colourOf, countTypes, hiddenTypes, isShown, listTypes, onTypes } from "./types.js";
import { onWriting, written } from "./writing.js";

let models = [];
let result = null; // {request, name, entities} of the text that is shown
let chosen = null; // the entity whose details are shown
let running = null; // the request that is under way
let waiting = 0; // the frame in which the entities are drawn again

const model = () => models.find(({ name }) => name === find("model").value);

async function start() {
  await attempt(async () => {
    models = await service.models();
    find("model").replaceChildren(...models.map(({ name }) => option(name)));
    find("model").value = (models.find((each) => each.default) ?? models[0]).name;
    find("model").disabled = false;
    chooseModel();
    ready();
  }, start);
}

function option(name) {
  const element = make("option", "", name);
  element.value = name;
  return element;
}

function chooseModel() {
  const { description, recipe, corpora } = model();
  find("model-note").textContent = description || `Recipe ${recipe}`;
  find("corpus").replaceChildren(...corpora.map(option));
  find("corpus-choice").hidden = corpora.length < 2;
  explainConfidence(model());
  renewTypes();
}

/** List the types again. What is shown answers another question then: it is asked again if it is still looked at. */
function renewTypes() {
  listTypes(model());
  if (!result) return;
  result.stale = true;
  if (find("writing").hidden) tag();
  else forget();
}

function forget() {
  result = null;
  view("write");
}

/** Do something that may fail; the notice says why, and offers to do it again. */
async function attempt(action, again) {
  hideNotice();
  try {
    await action();
  } catch (problem) {
    if (problem.name === "AbortError") return;
    if (!(problem instanceof service.ServiceError)) throw problem;
    showNotice(problem, again);
  }
}

const request = (text) => ({
  texts: [text],
  model: model().name,
  types: addedTypes(),
  corpus: find("corpus-choice").hidden ? undefined : find("corpus").value,
});

async function tag() {
  const { text, name } = written();
  if (!text || !models.length) return;
  running?.abort();
  const own = (running = new AbortController());
  busy(true);
  countTypes(null); // those on the page are of another text
  await attempt(async () => {
    const asked = request(text);
    // Everything is asked for once, so that the slider needs no service.
    const answer = await service.tag({ ...asked, minimum_confidence: 0 }, own.signal);
    closeDetails();
    result = { request: asked, name, entities: openAnswer(answer, colourOf) };
    spread(result.entities);
    view("read");
  }, tag);
  if (running === own) {
    running = null;
    busy(false);
    if (result?.stale) forget();
    else if (find("writing").hidden) redraw();
  }
}

function busy(is) {
  find("tag").textContent = is ? "Stop" : "Tag";
  find("paper").setAttribute("aria-busy", is);
  if (is) find("status").textContent = "Tagging…";
  else if (find("status").textContent === "Tagging…") find("status").textContent = "";
  ready();
}

function ready() {
  find("tag").disabled = !running && (!models.length || !written().text);
}

/** Draw the entities that are wanted, once a frame at most. */
function redraw() {
  showThreshold();
  if (!result || waiting) return;
  waiting = requestAnimationFrame(() => {
    waiting = 0;
    if (!result) return;
    const shown = showThose((entity) => isShown(entity.type) && isSure(entity));
    countTypes(result.entities, shown);
    if (chosen) (shown.includes(chosen) ? choose(chosen) : closeDetails());
    tell(shown.length, result.entities.length);
  });
}

function tell(shown, all) {
  const total = counted(all, "entity", "entities");
  find("status").textContent = shown === all ? total : `${count(shown)} of ${total}`;
  const types = hiddenTypes() ? ", also those of hidden types" : "";
  find("download-note").textContent = `The entities that the threshold leaves${types}.`;
}

function view(name) {
  find("writing").hidden = name !== "write";
  find("reading").hidden = name !== "read";
  for (const each of ["confidence", "downloads"]) find(each).hidden = name !== "read";
  find("read").disabled = !result;
  for (const each of ["write", "read"]) find(each).setAttribute("aria-pressed", each === name);
  if (name === "read") return redraw();
  countTypes(null);
  closeDetails();
}

function choose(entity) {
  chosen = entity;
  select(entity);
  showDetails(entity, (other) => { focus(other); choose(other); }, leaveDetails);
}

/** Set off the innermost entity under the pointer, or none. */
function hover(element) {
  find("marked").querySelector(".hovered")?.classList.remove("hovered");
  element?.classList.add("hovered");
}

function closeDetails() {
  chosen = null;
  select(null);
  hideDetails();
}

function leaveDetails() {
  const last = chosen;
  closeDetails();
  if (last) focus(last);
}

function pressInText(event) {
  const entity = entityAt(event.target);
  if (!entity || event.ctrlKey || event.metaKey || event.altKey) return;
  const next = target(event.key, entity);
  if (!next && event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  if (!next) return choose(entity);
  focus(next);
  if (chosen) choose(next);
}

function press(event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    tag();
  } else if (event.key === "Escape" && chosen) {
    leaveDetails();
  }
}

async function save(format) {
  await attempt(async () => {
    const { files, unwritable } = await service.download({ ...result.request, ...limits(), format });
    const name = result.name || "tagged";
    for (const [ending, text] of Object.entries(files)) offer(`${name}.${ending}`, text);
    const saved = `Saved ${Object.keys(files).map((ending) => `${name}.${ending}`).join(" and ")}`;
    const missing = unwritable ? `, without ${counted(unwritable, "thing", "things")} that the format cannot express` : "";
    find("status").textContent = saved + missing;
  }, () => save(format));
}

/** Let the browser save a text as a file. */
function offer(name, text) {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser may still be reading it
}

find("tag").addEventListener("click", () => (running ? running.abort() : tag()));
find("write").addEventListener("click", () => { view("write"); find("text").focus(); });
find("read").addEventListener("click", () => view("read"));
find("model").addEventListener("change", chooseModel);
find("corpus").addEventListener("change", renewTypes);
find("downloads").addEventListener("click", ({ target: { dataset } }) => { if (dataset.format) save(dataset.format); });
find("marked").addEventListener("click", ({ target: element }) => {
  const entity = entityAt(element);
  if (!entity || String(getSelection())) return; // whoever selects text wants no details
  focus(entity);
  choose(entity);
});
find("marked").addEventListener("mouseover", ({ target: element }) => hover(element.closest(".entity")));
find("marked").addEventListener("mouseleave", () => hover(null));
find("marked").addEventListener("keydown", pressInText);
document.addEventListener("keydown", press);
onDrawer();
onHelp();
onThreshold(redraw);
onTypes(redraw, renewTypes);
onNotice(service.useToken);
onWriting((words) => {
  view("write");
  hideNotice();
  find("status").textContent = words;
  ready();
}, (words) => showNotice(new service.ServiceError(0, words)));
start();
