// A stand-in for @playwright/mcp, for pictures: it lists the tools that everybody knows and says that all went well. With `files` one for
// a server of files.
import { createInterface } from 'node:readline';

const files = {
  read_text_file: 'Read the complete contents of a file as text',
  write_file: 'Create a new file or completely overwrite an existing file with new content',
  move_file: 'Move or rename files and directories',
  delete_file: 'Delete a file for good',
  run_script: 'Execute a shell script in the project folder',
};
const pages = {
  browser_navigate: 'Navigate to a URL',
  browser_snapshot: 'Capture accessibility snapshot of the current page',
  browser_click: 'Perform click on a web page',
  browser_type: 'Type text into editable element',
  browser_fill_form: 'Fill multiple form fields',
  browser_select_option: 'Select an option in a dropdown',
  browser_wait_for: 'Wait for text to appear or disappear or a specified time to pass',
  browser_take_screenshot: 'Take a screenshot of the current page',
  browser_console_messages: 'Returns all console messages',
  browser_network_requests: 'Returns all network requests since loading the page',
  browser_evaluate: 'Evaluate JavaScript expression on page or element',
  browser_install: 'Install the browser specified in the config',
};

const tools = process.argv[2] === 'files' ? files : pages;

const answers = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'Playwright', version: '0.0.45' },
  }),
  'tools/list': () => ({
    tools: Object.entries(tools).map(([name, description]) => ({ name, description, inputSchema: { type: 'object' } })),
  }),
  'tools/call': ({ name }) => ({ content: [{ type: 'text', text: `### Result\n${tools[name]}: done` }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  // A wait is still waiting when the picture is taken.
  if (id === undefined || params?.name === 'browser_wait_for') return;
  const result = answers[method]?.(params) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
});
