// @vitest-environment node
import { expect, it } from 'vitest';
import { lineEnds } from './lines';

it('line ends of a file survive the editor', () => {
  const file = '{\r\n  "version": "1"\r\n}\r\n';
  const ends = lineEnds(file);
  const editor = file.replaceAll('\r\n', '\n');
  expect(ends.toFile(editor)).toBe(file);
  for (const word of ['{', '"version"', '}']) {
    expect(ends.toEditor(file.indexOf(word), file), word).toBe(editor.indexOf(word));
    expect(ends.fromEditor(editor.indexOf(word), editor), word).toBe(file.indexOf(word));
  }
});

it('plain and mixed line ends are left as the editor has them', () => {
  for (const file of ['{\n}\n', '{}', '', 'a\r\nb\nc']) {
    expect(lineEnds(file).toFile('a\nb')).toBe('a\nb');
    expect(lineEnds(file).toEditor(3, file)).toBe(3);
  }
});
