// @vitest-environment node
import { expect, it } from 'vitest';
import clientsFile from '../../../../docs/clients.md?raw';
import { knownAs, knownClients } from './known';

it('the clients that the window names are those of docs/clients.md, in its order', () => {
  const listed = new Map<string, string>();
  for (const [, name, id] of clientsFile.matchAll(/^\| ([^|]+) \| `([a-z-]+)` \|/gm)) listed.set(id!, name!);
  expect(knownClients.map(({ id, name }) => [id, name])).toEqual([...listed]);
  expect(knownClients).toHaveLength(21);
});

it('a client is shown by its name, not cut as claude-desk…; one that is none of ours as it calls itself', () => {
  expect(knownAs('claude-desktop')).toBe('Claude Desktop');
  expect(knownAs('claude-ai')).toBe('claude-ai');
  expect(knownAs('constructor')).toBe('constructor');
});
