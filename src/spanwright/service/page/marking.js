// What is marked in a text, and how that changes. Marks never change themselves: others take their place, so that every
// change can be undone. A mark is {key, start, end, type, open, ...}; `open` ones are suggestions that nobody has judged.

const MOVED = { concepts: undefined }; // what is another mention may mean something else

export class Marks {
  /** `words` are [start, end] of each word of the text, in order. */
  constructor(words, marks) {
    this.words = words;
    this.next = 0;
    this.list = marks.map((mark) => ({ ...mark, key: this.next++ }));
    this.past = [];
  }

  get open() {
    return this.list.filter(({ open }) => open);
  }

  find(key) {
    return this.list.find((mark) => mark.key === key);
  }

  undo() {
    if (this.past.length) this.list = this.past.pop();
  }

  accept(key) {
    this.#replace(key, {});
  }

  acceptAll() {
    this.#become(this.list.map((mark) => ({ ...mark, open: false })));
  }

  remove(key) {
    this.#become(this.list.filter((mark) => mark.key !== key));
  }

  retype(key, type) {
    this.#replace(key, { type, ...MOVED });
  }

  /** Move the first or the last border of a mark by a word; it keeps at least one word. */
  stretch(key, border, step) {
    const [first, last] = this.#wordsOf(this.find(key));
    const at = (border === "start" ? first : last) + step;
    if (!this.words[at] || (border === "start" ? at > last : at < first)) return;
    const place = border === "start" ? { start: this.words[at][0] } : { end: this.words[at][1] };
    this.#replace(key, { ...place, ...MOVED, fragments: undefined });
  }

  /** Move a whole mark by a word. */
  shift(key, step) {
    const [first, last] = this.#wordsOf(this.find(key)).map((at) => at + step);
    if (!this.words[first] || !this.words[last]) return;
    this.#replace(key, { start: this.words[first][0], end: this.words[last][1], ...MOVED, fragments: undefined });
  }

  /** Mark what lies between two places, as whole words; its key, or that of the mark that is there already. */
  add(start, end, type) {
    const [first, last] = this.#wordsOf({ start, end });
    if (first > last) return undefined;
    const mark = { start: this.words[first][0], end: this.words[last][1], type, open: false };
    const there = this.list.find((other) => same(other, mark));
    if (there) {
      this.accept(there.key);
      return there.key;
    }
    this.#become([...this.list, { ...mark, key: this.next++ }]);
    return this.list.at(-1).key;
  }

  /** The first and the last word that a range touches. */
  #wordsOf({ start, end }) {
    const first = this.words.findIndex(([, stop]) => stop > start);
    return [first < 0 ? this.words.length : first, this.words.findLastIndex(([begin]) => begin < end)];
  }

  /** A mark that was judged takes the place of another; of two that are the same then, one stays. */
  #replace(key, changes) {
    const mark = { ...this.find(key), ...changes, open: false };
    const others = this.list.filter((other) => other.key !== key && !same(other, mark));
    this.#become([...others, mark]);
  }

  #become(list) {
    this.past.push(this.list);
    this.list = list;
  }
}

const ranges = ({ start, end, fragments }) => JSON.stringify(fragments?.length ? fragments : [[start, end]]);

const same = (one, other) => one.type === other.type && ranges(one) === ranges(other);
