// The corpus server on the official TypeScript SDK: node server.mjs PACKAGES 1|2 FILE
//
// PACKAGES is where the packages are installed. Each run of `danger`, `hidden_one` or `slow` appends the tool's name to
// FILE before it answers.

import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [packages, generation, marks] = process.argv.slice(2);
const load = createRequire(`${packages}/`);
const [{ McpServer }, { StdioServerTransport }] =
  generation === '1'
    ? [load('@modelcontextprotocol/sdk/server/mcp.js'), load('@modelcontextprotocol/sdk/server/stdio.js')]
    : [load('@modelcontextprotocol/server'), load('@modelcontextprotocol/server/stdio')];

const server = new McpServer({ name: 'corpus', version: '1.0.0' });
const text = (words) => ({ content: [{ type: 'text', text: words }] });

server.registerTool('safe', { description: 'Harmless.' }, async () => text('safe ran'));
for (const name of ['danger', 'hidden_one', 'slow']) {
  server.registerTool(name, { description: 'Leaves a mark.' }, async () => {
    appendFileSync(marks, `${name}\n`);
    return text(`${name} ran`);
  });
}
server.registerTool('fails', { description: 'Always fails.' }, async () => {
  throw new Error('it failed');
});
server.registerTool('picture', { description: 'One pixel.' }, async () => ({
  content: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }],
}));
server.registerResource('text', 'corpus://text', {}, async (uri) => ({
  contents: [{ uri: uri.href, text: 'a resource' }],
}));
server.registerPrompt('greet', { description: 'Greets.' }, async () => ({
  messages: [{ role: 'user', content: { type: 'text', text: 'Greet.' } }],
}));

await server.connect(new StdioServerTransport());
