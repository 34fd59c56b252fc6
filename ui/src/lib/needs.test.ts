// @vitest-environment node
import { expect, it } from 'vitest';
import type { Need } from './backend';
import { needLines } from './needs';

const need = (words: string, more: Partial<Need> = {}): Need => ({
  words,
  fix: { kind: 'openClients' },
  server: null,
  serious: true,
  ...more,
});

it('one lost file is one line for its client, not a wall of them', () => {
  const lines = needLines([
    need('Claude Desktop: everything has lost its gate'),
    need('files: the policy is broken', { fix: { kind: 'openRules', server: 'files' } }),
    need('Claude Desktop: filesystem has lost its gate'),
    need('Claude Desktop: new is new and not protected', { serious: false }),
    need('Cursor: postgres has lost its gate'),
    need('~/.config/zed/settings.json cannot be understood any more'),
  ]);
  expect(lines.map((line) => [line.words, line.needs.length])).toEqual([
    ['Claude Desktop: 2 servers have lost their gate', 2],
    ['files: the policy is broken', 1],
    ['Claude Desktop: new is new and not protected', 1],
    ['Cursor: postgres has lost its gate', 1],
    ['~/.config/zed/settings.json cannot be understood any more', 1],
  ]);
});
