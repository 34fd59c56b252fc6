// What people copy from a server's README: an entry of a client's file, in one of the shapes that clients use.

export interface PastedServer {
  name: string | null;
  /** As in a terminal. */
  command: string;
  variables: { name: string; value: string }[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Comments and commas too many are common in READMEs; strings stay as they are. */
function parsed(text: string): unknown {
  const plain = text.replace(
    /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=\s*[}\]])/g,
    (_all, kept?: string) => kept ?? '',
  );
  for (const attempt of [plain, `{${plain}}`]) {
    try {
      const value: unknown = JSON.parse(attempt);
      if (isObject(value)) return value;
    } catch {
      // Perhaps it is the inside of an object.
    }
  }
  return null;
}

function entry(value: unknown): Omit<PastedServer, 'name'> | null {
  if (!isObject(value)) return null;
  const words = typeof value.command === 'string' ? [value.command, ...texts(value.args)] : texts(value.command);
  if (words.length === 0) return null;
  const env = [value.env, value.environment].find(isObject) ?? {};
  const variables = Object.entries(env).map(([name, one]) => ({
    name,
    value: typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean' ? String(one) : '',
  }));
  return { command: words.map(quoted).join(' '), variables };
}

/** The first server in a text that holds one; nothing in any other text. */
export function pastedServer(text: string): PastedServer | null {
  const trimmed = text.trim().replace(/,$/, '');
  if (!/^[{"]/.test(trimmed)) return null;
  const found = parsed(trimmed);
  if (!isObject(found)) return null;
  const alone = entry(found);
  if (alone) return { name: null, ...alone };
  const inside = [found.mcpServers, found.servers, found.context_servers, found.mcp, found].filter(isObject);
  for (const servers of inside)
    for (const [name, value] of Object.entries(servers)) {
      const one = entry(value);
      if (one) return { name, ...one };
    }
  return null;
}
