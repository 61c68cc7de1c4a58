// Answers what the page asks the service, on this machine: it stands in place of `fetch`.

import { Tagger } from "./tagger.js";

const fetched = window.fetch.bind(window);
const loading = Tagger.load((path) => fetched(new URL(path, import.meta.url)));

window.fetch = async (path, options = {}) => {
  try {
    const tagger = await loading;
    if (path === "model") return json({ models: [tagger.about] });
    if (path === "tag") return await tagged(tagger, JSON.parse(options.body));
    return json({ detail: "This page has no service behind it." }, 404);
  } catch (problem) {
    return json({ detail: `The model cannot be used here: ${problem.message}` }, 500);
  }
};

async function tagged(tagger, request) {
  const texts = request.texts ?? [request.text];
  if (!texts.every((text) => text.isWellFormed())) return json({ detail: "The text has half a character in it." }, 422);
  const documents = [];
  for (const [number, text] of texts.entries()) {
    const entities = (await tagger.tag(text, request.corpus)).filter((entity) => isKept(entity, request, tagger));
    documents.push({ id: `text-${number + 1}`, text, characters: Array.from(text).length, entities });
  }
  if ((request.format ?? "json") === "json") return json({ model: tagger.about.name, documents });
  if (request.format === "jsonl") return new Response(documents.map(line).join(""));
  return json({ detail: "This page writes JSONL; other formats are written by the service." }, 422);
}

function isKept({ type, confidence }, request, tagger) {
  const tuned = request.tuned_thresholds ? tagger.threshold(type, request.corpus) : 0;
  return confidence >= Math.max(request.minimum_confidence ?? 0, request.thresholds?.[type] ?? 0, tuned);
}

function line({ id, text, entities }) {
  const kept = entities.map(({ start, end, type, confidence }) => ({ start, end, type, confidence }));
  return `${JSON.stringify({ id, text, entities: kept, generated_id: true })}\n`;
}

const json = (body, status = 200) => Response.json(body, { status });
