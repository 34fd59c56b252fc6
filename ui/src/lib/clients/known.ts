// The clients that Callgate knows, as docs/clients.md lists them: a test holds the two together.

export const knownClients: readonly { id: string; name: string }[] = [
  { id: 'claude-desktop', name: 'Claude Desktop' },
  { id: 'claude-code', name: 'Claude Code' },
  { id: 'cursor', name: 'Cursor' },
  { id: 'vscode', name: 'VS Code' },
  { id: 'vscode-insiders', name: 'VS Code Insiders' },
  { id: 'windsurf', name: 'Windsurf' },
  { id: 'cline', name: 'Cline' },
  { id: 'zed', name: 'Zed' },
  { id: 'codex', name: 'Codex' },
  { id: 'gemini', name: 'Gemini CLI' },
  { id: 'qwen', name: 'Qwen Code' },
  { id: 'opencode', name: 'OpenCode' },
  { id: 'copilot', name: 'Copilot CLI' },
  { id: 'goose', name: 'Goose' },
  { id: 'continue', name: 'Continue' },
  { id: 'lmstudio', name: 'LM Studio' },
  { id: 'junie', name: 'Junie' },
  { id: 'kiro', name: 'Kiro' },
  { id: 'warp', name: 'Warp' },
  { id: 'antigravity', name: 'Antigravity' },
  { id: 'amazon-q', name: 'Amazon Q' },
];

/** As *Test now* starts a server: no client did. */
const ours = { id: 'callgate-test', name: 'Callgate (Test now)' };

const names = new Map([...knownClients, ours].map(({ id, name }) => [id, name]));

/** A client as a person knows it: by its name, or as it calls itself where it is none of ours. */
export const knownAs = (client: string): string => names.get(client) ?? client;
