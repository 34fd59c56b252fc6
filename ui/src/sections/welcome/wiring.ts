// What has to stand in a client's configuration, as the README says it.

export interface Wiring {
  before: string;
  after: string;
  /** The same for every client at once. */
  protect: string;
}

/** A server's entry before and with Callgate in front of it. `program` is the full path, since clients seldom see a person's PATH. */
export function wiring(program: string): Wiring {
  const quoted = JSON.stringify(program);
  const plain = /^[\w./:\\~-]+$/.test(program);
  return {
    protect: `${plain ? program : `"${program}"`} clients protect --all`,
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
