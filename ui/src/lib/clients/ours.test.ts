import { beforeEach, expect, it } from 'vitest';
import { readOurs, writeOurs } from './ours';

const key = { client: 'cursor', path: '/c.json', project: null, name: 'files' };

beforeEach(() => localStorage.clear());

it('remembers what was protected, each once, and forgets it again', () => {
  expect(writeOurs([key, { ...key }, { ...key, name: 'b' }])).toHaveLength(2);
  expect(readOurs().map((one) => one.name)).toEqual(['files', 'b']);
  writeOurs([]);
  expect(readOurs()).toEqual([]);
});

it('what it cannot read counts as nothing', () => {
  for (const text of ['nonsense', '{}', '[1, null, {"client": "x"}]']) {
    localStorage.setItem('callgate.protected', text);
    expect(readOurs(), text).toEqual([]);
  }
});
