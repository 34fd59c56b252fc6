// Policies, tools and versions of the in-memory backend: what a person who has used Callgate for some weeks would have.

export interface KnownTool {
  name: string;
  description: string;
  /** Calls and refusals of the last days. */
  calls: number;
  hits: number;
  lastMinutes: number | null;
}

export const tools: Record<string, KnownTool[]> = {
  playwright: [
    { name: 'browser_navigate', description: 'Navigate to a URL', calls: 1204, hits: 7, lastMinutes: 3 },
    { name: 'browser_click', description: 'Perform click on a web page', calls: 2310, hits: 41, lastMinutes: 1 },
    { name: 'browser_type', description: 'Type text into editable element', calls: 611, hits: 0, lastMinutes: 4 },
    {
      name: 'browser_snapshot',
      description: 'Capture accessibility snapshot of the current page',
      calls: 3120,
      hits: 0,
      lastMinutes: 1,
    },
    {
      name: 'browser_take_screenshot',
      description: 'Take a screenshot of the current page',
      calls: 340,
      hits: 0,
      lastMinutes: 25,
    },
    {
      name: 'browser_evaluate',
      description: 'Evaluate JavaScript expression on page or element',
      calls: 88,
      hits: 88,
      lastMinutes: 18,
    },
    { name: 'browser_run_code', description: 'Run Playwright code snippet', calls: 12, hits: 12, lastMinutes: 1500 },
    {
      name: 'browser_install',
      description: 'Install the browser specified in the config',
      calls: 0,
      hits: 2,
      lastMinutes: 9000,
    },
    { name: 'browser_file_upload', description: 'Upload one or multiple files', calls: 19, hits: 3, lastMinutes: 320 },
    { name: 'browser_fill_form', description: 'Fill multiple form fields', calls: 77, hits: 0, lastMinutes: 44 },
    { name: 'browser_press_key', description: 'Press a key on the keyboard', calls: 204, hits: 0, lastMinutes: 12 },
    { name: 'browser_hover', description: 'Hover over element on page', calls: 58, hits: 0, lastMinutes: 190 },
    {
      name: 'browser_tabs',
      description: 'List, create, close, or select a browser tab',
      calls: 131,
      hits: 0,
      lastMinutes: 33,
    },
    {
      name: 'browser_network_requests',
      description: 'Returns all network requests since loading the page',
      calls: 40,
      hits: 0,
      lastMinutes: 700,
    },
    {
      name: 'browser_console_messages',
      description: 'Returns all console messages',
      calls: 92,
      hits: 0,
      lastMinutes: 52,
    },
    { name: 'browser_handle_dialog', description: 'Handle a dialog', calls: 6, hits: 0, lastMinutes: 2600 },
    {
      name: 'browser_wait_for',
      description: 'Wait for text to appear or disappear or a specified time to pass',
      calls: 418,
      hits: 0,
      lastMinutes: 2,
    },
    { name: 'browser_close', description: 'Close the page', calls: 64, hits: 0, lastMinutes: 61 },
  ],
  notes: [
    { name: 'append_note', description: 'Append a line to a note', calls: 120, hits: 31, lastMinutes: 6 },
    { name: 'list_notes', description: 'List all notes', calls: 60, hits: 18, lastMinutes: 8 },
  ],
};

export const clients: Record<string, string[]> = { playwright: ['claude-ai', 'cursor-vscode'], notes: ['claude-ai'] };

const playwright = `{
  "version": "1",
  // Browsing is fine; scripts are not.
  "default": "allow",
  "hide": ["browser_install"],
  "all_tools": {
    "limits": [{ "counter": "all", "window": "minute", "max": 120, "scope": "session" }]
  },
  "tools": {
    "browser_navigate": {
      "deny_if": [
        { "conditions": [{ "path": "args.url", "op": "regex", "value": "^file:" }], "on_deny": "no local files" }
      ]
    },
    "browser_click": {
      "limits": [{ "counter": "browser_click_cap", "window": "minute", "max": 20, "scope": "grant" }]
    },
    "browser_evaluate": { "action": "deny", "reason": "no scripts: use browser_snapshot" },
    "browser_run_*": { "action": "deny", "reason": "no scripts" },
    "browser_file_upload": {
      "require": [{ "path": "args.paths", "op": "inside", "value": "~/Downloads" }] // only what was downloaded
    }
  }
}
`;

const files = `{
  "version": "1",
  "default": "deny", // what is not listed is refused
  "tools": {
    "read_file": {
      "deny_if": [
        { "path": "args.path", "op": "inside", "value": ["~/.ssh", "~/.gnupg", "~/.aws"], "on_deny": "keys stay here" }
      ]
    },
    "list_directory": {},
    "search_files": {},
    "edit_file": { "require": [{ "path": "args.path", "op": "inside", "value": "~/project" }] },
    "write_file": {
      "require": [{ "path": "args.path", "op": "inside", "value": "~/project" }],
      "limits": [{ "counter": "writes", "window": "minute", "max": 30 }]
    },
    "delete_file": { "action": "deny", "reason": "not from an agent" }
  }
}
`;

const github = `{
  "version": "1",
  "default": "allow",
  "tools": {
    "delete_*": { "action": "deny", "reason": "never from an agent" },
    "merge_pull_request": { "action": "ask" },
    // The sum is more than the form can show.
    "create_issue": {
      "limits": [{ "counter": "words", "kind": "sum", "amount_from": "args.size", "window": "day", "max": 500 }]
    }
  }
}
`;

const notes = `{
  "version": "1",
  "default": "allow",
  "tools": {
    "append_note": { "acton": "deny" }
  }
}
`;

const usual = `{
  "version": "1",
  "default": "allow",
  "all_tools": { "limits": [{ "counter": "all", "window": "minute", "max": 300, "scope": "grant" }] }
}
`;

export const defaultPolicy = usual;
export const policies: Record<string, string> = { playwright, files, github, notes };
