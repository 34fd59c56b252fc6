// An MCP server for worlds: `server.mjs NAME TOOL,TOOL…`. It lists these tools and answers each call in a line of text; `fail` in
// the arguments makes an error of it, `hold` keeps it waiting for ever.
import { createInterface } from 'node:readline';

const [name = 'server', names = ''] = process.argv.slice(2);
const property = { type: 'string' };
const tools = names.split(',').map((tool) => ({
  name: tool,
  description: `What ${tool.replaceAll('_', ' ')} does`,
  inputSchema: { type: 'object', properties: { url: property, path: property, text: property, element: property } },
}));
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (words) => [{ type: 'text', text: words }];

/** What a call is answered with. */
function answer(tool, args) {
  if (args.fail) return { content: text('ENOENT: no such file'), isError: true };
  if (tool === 'start_codegen_session') {
    const session = { sessionId: '4f1c2a91-7be0-4c55-9a51-0d6f3f1e77a2', options: args.options };
    return { content: text(JSON.stringify(session)) };
  }
  return { content: text(args.says ?? `${tool} of ${name}: done`) };
}

for (const line of [`${name} listens`, 'a line that turns \u202e around']) process.stderr.write(`${line}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || params?.arguments?.hold) continue;
  const { protocolVersion } = params ?? {};
  const hello = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version: '1.2.3' } };
  if (method === 'initialize') say({ id, result: hello });
  else if (method === 'tools/list') say({ id, result: { tools } });
  else if (method === 'tools/call') say({ id, result: answer(params.name, params.arguments ?? {}) });
  else if (method === 'ping') say({ id, result: {} });
  else say({ id, error: { code: -32601, message: `Method not found: ${method}` } });
}
