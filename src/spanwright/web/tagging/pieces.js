// Sub-word pieces of words: the WordPiece of BERT, with its normalizer and its splitter.

const LONGEST_WORD = 2000;
const isPunctuation = /[!-/:-@[-`{-~]|\p{P}/u;

export class Pieces {
  /** `tokenizer` is a tokenizer.json; the export has seen to it that it is of this family. */
  constructor({ model, normalizer }, { unknown }) {
    this.vocabulary = new Map(Object.entries(model.vocab));
    this.prefix = model.continuing_subword_prefix;
    this.longest = model.max_input_chars_per_word;
    this.unknownPiece = this.vocabulary.get(model.unk_token);
    this.normalizer = normalizer;
    this.unknown = unknown;
    this.cache = new Map();
  }

  /** The ids of the pieces of a word, at least one. */
  encode(word) {
    let found = this.cache.get(word);
    if (!found) {
      found = this.tokens(shortened(word)).flatMap((token) => this.pieces(token));
      if (!found.length) found = [this.unknown];
      this.cache.set(word, found);
    }
    return found;
  }

  tokens(word) {
    const tokens = [];
    for (const run of this.normalized(word).split(/\p{White_Space}+/u)) {
      let token = "";
      for (const letter of run) {
        if (!isPunctuation.test(letter)) {
          token += letter;
          continue;
        }
        if (token) tokens.push(token);
        tokens.push(letter);
        token = "";
      }
      if (token) tokens.push(token);
    }
    return tokens;
  }

  normalized(word) {
    const { clean_text, handle_chinese_chars, strip_accents, lowercase } = this.normalizer;
    let text = word;
    if (clean_text) text = text.replace(/[\0\ufffd]|(?![\t\n\r])\p{C}/gu, "").replace(/\p{White_Space}/gu, " ");
    if (handle_chinese_chars) text = text.replace(CHINESE, " $& ");
    if (strip_accents ?? lowercase) text = text.normalize("NFD").replace(/\p{Mn}/gu, "");
    // Letter by letter: no letter looks at its neighbours.
    return lowercase ? Array.from(text, (letter) => letter.toLowerCase()).join("") : text;
  }

  /** The longest piece of the vocabulary that a token begins with, and so on; unknown where there is none. */
  pieces(token) {
    const letters = Array.from(token);
    if (letters.length > this.longest) return [this.unknownPiece];
    const found = [];
    for (let start = 0, end; start < letters.length; start = end) {
      let piece;
      for (end = letters.length; end > start && piece === undefined; end -= piece === undefined ? 1 : 0) {
        piece = this.vocabulary.get((start ? this.prefix : "") + letters.slice(start, end).join(""));
      }
      if (piece === undefined) return [this.unknownPiece];
      found.push(piece);
    }
    return found;
  }
}

const CHINESE =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu;

function shortened(word) {
  const letters = Array.from(word);
  const half = LONGEST_WORD / 2;
  return letters.length <= LONGEST_WORD ? word : [...letters.slice(0, half), ...letters.slice(-half)].join("");
}
