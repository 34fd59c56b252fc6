// Text of servers and agents can hide what it says: control characters, zero-width ones, and those that turn the direction of
// writing. Here they become marks that a person sees; everything else stays as it is.

export interface TextPart {
  text: string;
  /** None for plain text; else the name of the character that `text` stands for. */
  mark: string | null;
}

const names: Record<number, string> = {
  0x00ad: 'soft hyphen',
  0x034f: 'grapheme joiner',
  0x061c: 'Arabic letter mark',
  0x115f: 'Hangul filler',
  0x1160: 'Hangul filler',
  0x17b4: 'Khmer vowel',
  0x17b5: 'Khmer vowel',
  0x180e: 'Mongolian vowel separator',
  0x200b: 'zero-width space',
  0x200c: 'zero-width non-joiner',
  0x200d: 'zero-width joiner',
  0x200e: 'left-to-right mark',
  0x200f: 'right-to-left mark',
  0x2028: 'line separator',
  0x2029: 'paragraph separator',
  0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding',
  0x202c: 'pop directional formatting',
  0x202d: 'left-to-right override',
  0x202e: 'right-to-left override',
  0x2060: 'word joiner',
  0x2066: 'left-to-right isolate',
  0x2067: 'right-to-left isolate',
  0x2068: 'first strong isolate',
  0x2069: 'pop directional isolate',
  0x3164: 'Hangul filler',
  0xfeff: 'byte order mark',
  0xffa0: 'Hangul filler',
  0x00: 'null',
  0x07: 'bell',
  0x08: 'backspace',
  0x1b: 'escape',
  0x7f: 'delete',
};

/** A short sign for a character that has none, or nothing if it is plain. */
function sign(code: number, lines: boolean): [string, string] | null {
  if (code === 0x0a) return lines ? null : ['↵', 'line feed'];
  if (code === 0x09) return lines ? null : ['⇥', 'tab'];
  if (code === 0x0d) return ['␍', 'carriage return'];
  if (code < 0x20) return [String.fromCodePoint(0x2400 + code), names[code] ?? 'control character'];
  if (code === 0x7f) return ['␡', 'delete'];
  if (code < 0x7f) return null;
  const known = names[code];
  const hidden =
    known !== undefined ||
    (code >= 0x80 && code <= 0x9f) ||
    (code >= 0x206a && code <= 0x206f) ||
    (code >= 0x2061 && code <= 0x2065) ||
    (code >= 0xfe00 && code <= 0xfe0e) ||
    (code >= 0xfff0 && code <= 0xfffb) ||
    (code >= 0xd800 && code <= 0xdfff) ||
    (code >= 0xe000 && code <= 0xf8ff) ||
    (code >= 0xe0000 && code <= 0xe0fff) ||
    (code >= 0xf0000 && code <= 0x10ffff) ||
    (code & 0xfffe) === 0xfffe;
  if (!hidden) return null;
  return [`U+${code.toString(16).toUpperCase().padStart(4, '0')}`, known ?? kind(code)];
}

function kind(code: number): string {
  if (code < 0xa0) return 'control character';
  if (code >= 0xd800 && code <= 0xdfff) return 'half of a character';
  if (code >= 0xfe00 && code <= 0xfe0e) return 'variation selector';
  if (code >= 0xe0000 && code <= 0xe007f) return 'invisible tag character';
  if (code >= 0xe0100 && code <= 0xe01ef) return 'variation selector';
  return 'character without a sign';
}

/** Plain and marked parts; together they cover the whole text, in order. `lines` keeps line feeds and tabs as they are. */
export function visible(text: string, lines = false): TextPart[] {
  const parts: TextPart[] = [];
  let plain = '';
  for (const character of text) {
    const found = sign(character.codePointAt(0)!, lines);
    if (!found) {
      plain += character;
      continue;
    }
    if (plain) parts.push({ text: plain, mark: null });
    plain = '';
    parts.push({ text: found[0], mark: found[1] });
  }
  if (plain) parts.push({ text: plain, mark: null });
  return parts;
}

// Looking first is cheaper than cutting: nearly all text is plain. May say no for plain text, never yes for hidden characters.
export function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const plain = (code >= 0x20 && code < 0x7f) || (code > 0xa0 && code < 0x300 && code !== 0xad) || code === 0x2026;
    if (!plain) return false;
  }
  return true;
}

/** The same as one string, for places that take no elements (a title, a label). */
export const plainly = (text: string): string =>
  isPlain(text)
    ? text
    : visible(text)
        .map((part) => (part.mark === null ? part.text : `⟨${part.text}⟩`))
        .join('');
