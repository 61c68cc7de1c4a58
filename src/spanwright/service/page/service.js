// What the page asks the service.

let token = "";

/** Send this token from now on. It is kept in memory only. */
export function useToken(given) {
  token = given;
}

/** An answer that is none; the message is for the reader of the page. */
export class ServiceError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The models of the service. */
export async function models() {
  const answer = await ask("model", {});
  return (await answer.json()).models;
}

/** The document of a text with all its entities: {text, entities}. */
export async function tag(request, signal) {
  const answer = await ask("tag", { ...posted(request), signal });
  return (await answer.json()).documents[0];
}

/** The entities in another format: {files, unwritable}, with a text for each ending, and what the format cannot express. */
export async function download(request) {
  const answer = await ask("tag", posted(request));
  const unwritable = Number(answer.headers.get("Spanwright-Losses") ?? 0);
  return { files: await filesOf(answer, request.format), unwritable };
}

/** BRAT keeps text and annotations in two files; the other formats have one, whose ending is their name. */
async function filesOf(answer, format) {
  if (format !== "brat") return { [format]: await answer.text() };
  const [{ text, ann }] = await answer.json();
  return { txt: text, ann };
}

/** The texts to annotate: {texts: [[id, done]], types, colours}. */
export const texts = async () => (await ask("annotation", {})).json();

/** A text to annotate by its place: {id, text, words, entities, done, version, reason}. */
export const textAt = async (place) => (await ask(`annotation/${place}`, {})).json();

/** Keep the entities of a text that was opened at a version; the new version. */
export async function saveText(place, version, entities) {
  const answer = await ask(`annotation/${place}`, { ...posted({ version, entities }), method: "PUT" });
  return (await answer.json()).version;
}

function posted(request) {
  return { method: "POST", body: JSON.stringify(request), headers: { "Content-Type": "application/json" } };
}

async function ask(path, options) {
  const headers = { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }) };
  let answer;
  try {
    answer = await fetch(path, { ...options, headers });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new ServiceError(0, "The service does not answer. Is it still running?");
  }
  if (answer.ok) return answer;
  throw new ServiceError(answer.status, message(answer, await detail(answer)));
}

/** What the service says about a request that it refuses; "" if nothing. */
async function detail(answer) {
  try {
    const found = (await answer.json()).detail ?? "";
    return typeof found === "string" ? found : found.map(({ loc, msg }) => `${place(loc)}: ${msg}`).join("; ");
  } catch {
    return "";
  }
}

const place = (loc) => loc.filter((part) => part !== "body").join(".");

function message(answer, found) {
  switch (answer.status) {
    case 401:
      return token ? "The service does not accept this access token." : "The service asks for an access token.";
    case 413:
      return found ? `The text is too long for this service: ${found}` : "The text is too long for this service.";
    case 503:
      return `The service is busy. ${hint(answer.headers.get("Retry-After"))}`;
    default:
      return found || `The service answered ${answer.status} ${answer.statusText}`.trim();
  }
}

function hint(seconds) {
  if (!/^\d+$/.test(seconds ?? "")) return "Try again in a moment.";
  return `Try again in ${seconds} ${seconds === "1" ? "second" : "seconds"}.`;
}
