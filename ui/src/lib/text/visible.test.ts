import { describe, expect, it } from 'vitest';
import { isPlain, plainly, visible } from './visible';

const marks = (text: string, lines = false) =>
  visible(text, lines).flatMap((part) => (part.mark === null ? [] : [part.mark]));

describe('hidden characters become visible', () => {
  it.each([
    ['a\u202eb', 'right-to-left override'],
    ['a\u200bb', 'zero-width space'],
    ['a\u2066b', 'left-to-right isolate'],
    ['a\ufeffb', 'byte order mark'],
    ['a\u00adb', 'soft hyphen'],
    ['a\u0000b', 'null'],
    ['a\u001b[31mb', 'escape'],
    ['a\u0085b', 'control character'],
    ['a\u2028b', 'line separator'],
    ['a\u3164b', 'Hangul filler'],
    ['a\u{e0041}b', 'invisible tag character'],
    ['a\ud800b', 'half of a character'],
    ['a\rb', 'carriage return'],
  ])('%j', (text, mark) => {
    expect(marks(text)).toEqual([mark]);
    expect(isPlain(text)).toBe(false);
  });

  it('line feeds and tabs stay where lines are shown', () => {
    expect(marks('a\n\tb')).toEqual(['line feed', 'tab']);
    expect(visible('a\n\tb', true)).toEqual([{ text: 'a\n\tb', mark: null }]);
  });

  it.each(['', 'plain', 'Grüße, Ελλάδα', '日本語', '👩‍💻'.replace('\u200d', ''), 'naïve – “quoted” …'])(
    'leaves %j as it is',
    (text) => {
      expect(plainly(text)).toBe(text);
    },
  );

  it('a text that is called plain never holds a marked character, for every character there is', () => {
    for (let code = 0; code <= 0xffff; code += 1) {
      const text = String.fromCharCode(code);
      if (isPlain(text)) expect(marks(text), `U+${code.toString(16)}`).toEqual([]);
    }
  });

  it('parts cover the whole text in order', () => {
    const text = 'one\u202etwo\u200bthree';
    const plain = visible(text)
      .filter((part) => part.mark === null)
      .map((part) => part.text);
    expect(plain).toEqual(['one', 'two', 'three']);
  });
});
