// The model: from a text to its entities. What each step does is told beside its twin in Python.

import * as ort from "./ort.wasm.bundle.min.mjs";
import { batchesOf, collate, prepare, windowsOf } from "./batches.js";
import { decode } from "./decoding.js";
import { Pieces } from "./pieces.js";
import { Calibration } from "./calibration.js";
import { sentences, words } from "./words.js";

const MOST_THREADS = 4;

export class Tagger {
  /** Load everything; `get` fetches a file of this folder. Nothing is fetched after that. */
  static async load(get) {
    const stored = await (await get("model.json")).json();
    const [tokenizer, wasm, ...graphs] = await Promise.all([
      get("tokenizer.json").then((answer) => answer.json()),
      unpacked(await get("ort.wasm.gz")),
      ...stored.graphs.map(async (name) => unpacked(await get(`${name}.onnx.gz`))),
    ]);
    ort.env.wasm.wasmBinary = wasm;
    // Threads share memory, which browsers allow where the server sends two headers: see docs/web.md.
    ort.env.wasm.numThreads = self.crossOriginIsolated ? Math.min(navigator.hardwareConcurrency, MOST_THREADS) : 1;
    const sessions = {};
    for (const [at, name] of stored.graphs.entries()) sessions[name] = await session(graphs[at]);
    const types = sessions.types ? await sessions.types.run({}) : {};
    return new Tagger(stored, new Pieces(tokenizer, stored), sessions, types);
  }

  constructor(stored, pieces, sessions, types) {
    this.about = stored.about;
    this.stored = stored;
    this.pieces = pieces;
    this.sessions = sessions;
    this.types = types;
    this.calibrations = stored.calibrations.map((each) => new Calibration(each));
  }

  /** The entities of a text, in order; offsets count code points. */
  async tag(text, corpus) {
    const { plan } = this.stored;
    const own = Math.max(0, this.about.corpora.indexOf(corpus));
    const ranges = words(text);
    const prepared = prepare(ranges.map(([start, end]) => this.pieces.encode(text.slice(start, end))), plan);
    const segments = plan.context === "sentence" ? sentenceRanges(text, ranges) : [[0, ranges.length]];
    const found = [];
    const windows = windowsOf(prepared, segments, plan);
    for (const batch of batchesOf(windows, prepared, plan)) found.push(...(await this.found(batch, prepared, own)));
    return this.reported(decode(found, this.stored.decoding), ranges, text);
  }

  /** What the network finds in the windows of a batch: {first, last, type, confidence, rank}, words of the text. */
  async found(windows, prepared, corpus) {
    const batch = collate(windows, prepared, this.stored.plan, corpus);
    if (!batch.span_first.length) return [];
    const states = await run(this.sessions.encoder, { ...batch, ...this.types });
    const answer = await run(this.sessions.head, { ...batch, ...this.types, ...states });
    const column = (name) => Array.from(answer[name].data, Number);
    const [window, first, last, type] = ["window", "first", "last", "type"].map(column);
    const { data: confidence } = answer.confidence;
    const { data: rank } = answer.rank;
    return window.map((at, row) => ({
      first: first[row] + batch.word_offset[at],
      last: last[row] + batch.word_offset[at],
      type: type[row],
      confidence: confidence[row],
      rank: rank[row],
    }));
  }

  /** Entities as the page shows them: calibrated, with offsets in code points. */
  reported(kept, ranges, text) {
    const points = pointsOf(text);
    return kept.map(({ first, last, type, confidence }) => {
      const [start, end] = [ranges[first][0], ranges[last][1]];
      return {
        start: points(start),
        end: points(end),
        type: this.stored.types[type],
        text: text.slice(start, end),
        confidence: this.calibrations[this.stored.calibration_of_type[type]].apply(confidence),
      };
    });
  }

  /** The threshold of a type that was tuned on dev; 0 where it has none. */
  threshold(type, corpus) {
    const named = this.about.tuned_thresholds;
    return named[type] ?? named[`${type} of ${corpus ?? this.about.corpora[0]}`] ?? 0;
  }
}

async function unpacked(answer) {
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`);
  const stream = answer.body.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function session(graph) {
  return ort.InferenceSession.create(graph, {
    executionProviders: ["wasm"],
    graphOptimizationLevel: "all",
    enableMemPattern: false,
  });
}

/** Run a graph on those of the arrays that it reads. */
function run(graph, arrays) {
  const inputs = {};
  for (const name of graph.inputNames) inputs[name] = tensor(arrays[name]);
  return graph.run(inputs);
}

function tensor(given) {
  if (given instanceof ort.Tensor) return given;
  const { values, shape } = given;
  return new ort.Tensor("int64", BigInt64Array.from(values, BigInt), shape);
}

/** Word ranges that no window leaves: a word belongs to the last sentence that begins at or before it. */
function sentenceRanges(text, ranges) {
  let at = 0;
  const starts = sentences(text).map(([start]) => {
    while (at < ranges.length && ranges[at][0] < start) at += 1;
    return at;
  });
  const cuts = [...new Set([0, ...starts, ranges.length])];
  return cuts.slice(1).map((end, before) => [cuts[before], end]);
}

/** A function from offsets in UTF-16 units to offsets in code points. */
function pointsOf(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (unit) => unit;
  const points = new Uint32Array(text.length + 1);
  let count = 0;
  for (let unit = 0; unit < text.length; count += 1) {
    points[unit] = count;
    unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
  }
  points[text.length] = count;
  return (unit) => points[unit];
}
