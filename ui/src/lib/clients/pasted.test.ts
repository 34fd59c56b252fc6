import { describe, expect, it } from 'vitest';
import { pastedServer } from './pasted';

const files = { name: 'files', command: 'npx -y server-filesystem /home/ada', variables: [] };

describe('what is copied from a README', () => {
  const inside = '"files": { "command": "npx", "args": ["-y", "server-filesystem", "/home/ada"] }';
  it.each([
    `{ "mcpServers": { ${inside} } }`,
    `{ "servers": { ${inside} } }`,
    `{ ${inside} }`,
    `${inside},`,
    `{ "mcpServers": {\n  // here\n  ${inside},\n} }`,
    '{ "mcp": { "files": { "type": "local", "command": ["npx", "-y", "server-filesystem", "/home/ada"] } } }',
  ])('is read in every shape: %s', (text) => expect(pastedServer(text)).toEqual(files));

  it('keeps words with blanks and quotes whole, and takes its variables along', () => {
    const text = `{ "command": "C:\\\\Program Files\\\\x.exe", "args": ["it's", "a//b"], "env": { "TOKEN": "t", "N": 3, "O": {} } }`;
    expect(pastedServer(text)).toEqual({
      name: null,
      command: `'C:\\Program Files\\x.exe' 'it'\\''s' a//b`,
      variables: [
        { name: 'TOKEN', value: 't' },
        { name: 'N', value: '3' },
        { name: 'O', value: '' },
      ],
    });
  });

  it.each(['npx -y x', '', '{', '{"a": 1}', '{"mcpServers": {"x": {"url": "https://x"}}}', '[1]', '"text"', 'null'])(
    'is nothing else: %s',
    (text) => expect(pastedServer(text)).toBeNull(),
  );
});
