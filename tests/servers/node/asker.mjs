// A client on the official TypeScript SDK that calls tools: node asker.mjs PACKAGES TIMEOUT ANSWER COMMAND ARGS…
//
// TIMEOUT is how long it waits for a call, in milliseconds; `-`: as long as the SDK does by itself. ANSWER is what it fills
// into every form; `-`: it shows none. It starts COMMAND as its server, and calls the tool that each line of its input
// names, { "call": TOOL, "arguments": {} }; then it says a line about it. At the end of its input it quits.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [packages, timeout, answer, command, ...args] = process.argv.slice(2);
const load = createRequire(`${packages}/`);
const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
const { ElicitRequestSchema } = load('@modelcontextprotocol/sdk/types.js');

const say = (object) => console.log(JSON.stringify(object));
const capabilities = answer === '-' ? {} : { elicitation: {} };
const client = new Client({ name: 'asker', version: '1' }, { capabilities });
if (answer !== '-') {
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    say({ asked: params.message });
    return { action: 'accept', content: { decision: answer } };
  });
}
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' }));
say({ tools: (await client.listTools()).tools.map((tool) => tool.name) });

const options = timeout === '-' ? undefined : { timeout: Number(timeout) };
for await (const line of createInterface(process.stdin)) {
  const { call, arguments: given } = JSON.parse(line);
  try {
    const { content, isError } = await client.callTool({ name: call, arguments: given }, undefined, options);
    say({ called: call, text: content[0].text, isError: isError === true });
  } catch (error) {
    say({ called: call, failed: String(error) });
  }
}
await client.close();
