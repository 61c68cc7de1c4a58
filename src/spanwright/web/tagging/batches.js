// Windows and batches, as `batches/windows.py`, `batches/order.py` and `batches/collate.py` make them.

const NO_BOUND = Infinity;

/** Pieces of all words in a row, and where those of each word begin; words with too many keep their ends. */
export function prepare(pieces, plan) {
  const capacity = plan.pieces - plan.prefix.length - plan.suffix.length;
  const counts = fitted(pieces.map((each) => each.length), plan.width_limit, capacity);
  const ids = pieces.flatMap((each, at) => {
    const keep = counts[at];
    return keep === each.length ? each : [...each.slice(0, (keep + 1) >> 1), ...each.slice(each.length - (keep >> 1))];
  });
  return { ids, starts: sums(counts), capacity };
}

function sums(counts) {
  const found = [0];
  for (const count of counts) found.push(found.at(-1) + count);
  return found;
}

/** Piece counts with which every run of `width` words fills at most half a window. */
function fitted(given, width, capacity) {
  let counts = given;
  let longest = capacity >> 1;
  for (;;) {
    const crowded = crowdedWords(counts, width, capacity >> 1);
    if (!crowded.size) return counts;
    counts = counts.map((count, at) => (crowded.has(at) ? Math.min(count, longest) : count));
    longest = Math.max(1, longest >> 1);
  }
}

function crowdedWords(counts, width, limit) {
  const total = sums(counts);
  const crowded = new Set();
  for (let start = 0; start < counts.length; start += 1) {
    const end = Math.min(start + width, counts.length);
    if (total[end] - total[start] > limit) for (let at = start; at < end; at += 1) crowded.add(at);
  }
  return crowded;
}

/** Windows {first, end, above, to} of the words: each owns the spans [i, j) with above < i + j <= to. */
export function windowsOf({ starts, capacity }, segments, plan) {
  const overlap = Math.max(plan.overlap, plan.width_limit);
  const windows = [];
  for (const [begin, stop] of segments) {
    let [first, above] = [begin, -1];
    while (first < stop) {
      let end = first;
      while (end < stop && starts[end + 1] <= starts[first] + capacity) end += 1;
      if (end === stop) {
        windows.push({ first, end, above, to: NO_BOUND });
        break;
      }
      let next = end;
      while (next > Math.max(0, end - overlap) && starts[next - 1] >= starts[end] - (capacity >> 1)) next -= 1;
      windows.push({ first, end, above, to: next + end });
      [first, above] = [next, next + end];
    }
  }
  return windows;
}

/** The windows in batches of similar length that cost least together. */
export function* batchesOf(windows, { starts }, plan) {
  const special = plan.prefix.length + plan.suffix.length;
  const length = ({ first, end }) => starts[end] - starts[first] + special;
  const ordered = windows.toSorted((a, b) => length(b) - length(a));
  const work = [0];
  const last = [0];
  for (let end = 1; end <= ordered.length; end += 1) {
    let best = Infinity;
    for (let count = 1; count <= Math.min(plan.batch_windows, end); count += 1) {
      const padded = count * length(ordered[end - count]);
      const cost = work[end - count] + padded + plan.batch_overhead;
      if ((count === 1 || padded <= plan.batch_pieces) && cost < best) [best, last[end]] = [cost, count];
    }
    work[end] = best;
  }
  const cuts = [];
  for (let end = ordered.length; end > 0; end -= last[end]) cuts.unshift([end - last[end], end]);
  for (const [start, end] of cuts) yield ordered.slice(start, end);
}

/** The arrays of a batch, by the names that graphs have for them. */
export function collate(windows, { ids, starts }, plan, corpus) {
  const { prefix, suffix, padding, width_limit } = plan;
  const longest = Math.max(...windows.map(({ first, end }) => starts[end] - starts[first]));
  const size = longest + prefix.length + suffix.length;
  const [pieces, mask, firstPiece, lastPiece] = [[], [], [], []];
  const spans = { window: [], first: [], last: [] };
  const offsets = [];
  let packed = 0;
  for (const [row, { first, end, above, to }] of windows.entries()) {
    const real = [...prefix, ...ids.slice(starts[first], starts[end]), ...suffix];
    const rest = size - real.length;
    pieces.push(...real, ...Array(rest).fill(padding));
    mask.push(...Array(real.length).fill(1), ...Array(rest).fill(0));
    const shift = row * size + prefix.length - starts[first];
    for (let word = first; word < end; word += 1) {
      firstPiece.push(starts[word] + shift);
      lastPiece.push(starts[word + 1] + shift - 1);
      for (let last = word; last < Math.min(word + width_limit, end); last += 1) {
        if (word + last + 1 <= above || word + last + 1 > to) continue;
        spans.window.push(row);
        spans.first.push(word - first + packed);
        spans.last.push(last - first + packed);
      }
    }
    offsets.push(first - packed);
    packed += end - first;
  }
  const grid = [windows.length, size];
  const row = (values) => ({ values, shape: [values.length], length: values.length });
  return {
    pieces: { values: pieces, shape: grid },
    mask: { values: mask, shape: grid },
    first_piece: row(firstPiece),
    last_piece: row(lastPiece),
    word_counts: row(windows.map(({ first, end }) => end - first)),
    corpus: row(windows.map(() => corpus)),
    span_window: row(spans.window),
    span_first: row(spans.first),
    span_last: row(spans.last),
    word_offset: offsets,
  };
}
