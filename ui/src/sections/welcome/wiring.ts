// What has to stand in a client's configuration, as the README says it.

export interface Wiring {
  before: string;
  after: string;
}

/** A server's entry before and with Callgate in front of it. `program` is the full path, since clients seldom see a person's PATH. */
export function wiring(program: string): Wiring {
  const quoted = JSON.stringify(program);
  return {
    before: `"playwright": {
  "command": "npx",
  "args": ["-y", "@playwright/mcp@latest"]
}`,
    after: `"playwright": {
  "command": ${quoted},
  "args": ["run", "--server", "playwright", "--",
           "npx", "-y", "@playwright/mcp@latest"]
}`,
  };
}
