// Claude Desktop as far as its servers go, on the official TypeScript SDK: node desktop.mjs PACKAGES CONFIG COORDINATORS
//
// It reads CONFIG once and starts every server in it, once for each of its COORDINATORS, as Claude Desktop does: from the
// folder /, with the SDK's short list of variables and those of the entry. Then it does what its input says, an object a
// line, and says a line about each: { "call": TOOL, "server": NAME, "by": COORDINATOR } calls a tool;
// { "settings": ... } writes the file anew from memory, as it does when it could not read its servers.
// At the end of its input it quits.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [packages, config, coordinators] = process.argv.slice(2);
const load = createRequire(`${packages}/`);
const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');

const say = (object) => console.log(JSON.stringify(object));
const connections = new Map();

async function start(by, server, { command, args, env }) {
  const client = new Client({ name: 'claude-ai', version: '0.1.0' });
  const transport = new StdioClientTransport({ command, args, env, cwd: '/', stderr: 'inherit' });
  await client.connect(transport);
  connections.set(`${by} ${server}`, client);
  const { tools } = await client.listTools();
  say({ started: server, by, pid: transport.pid, tools: tools.map((tool) => tool.name) });
}

const { mcpServers } = JSON.parse(readFileSync(config, 'utf8'));
const starts = Array.from({ length: Number(coordinators) }).flatMap((_, by) =>
  Object.entries(mcpServers).map(([server, entry]) => start(by, server, entry)),
);
await Promise.all(starts);

for await (const line of createInterface(process.stdin)) {
  const { call, server, by, settings } = JSON.parse(line);
  if (settings) {
    writeFileSync(config, JSON.stringify({ preferences: settings }, null, 2));
    say({ wrote: config });
  } else {
    const { content, isError } = await connections.get(`${by} ${server}`).callTool({ name: call, arguments: {} });
    say({ called: call, by, text: content[0].text, isError: isError === true });
  }
}
await Promise.all([...connections.values()].map((client) => client.close()));
