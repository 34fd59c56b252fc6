// The pages of docs/errors, which a message names by their code: in the window itself, since whoever installed a package has no
// repository to look into.

const files = import.meta.glob<string>('../../../docs/errors/CG-*.md', {
  query: '?raw',
  import: 'default',
  eager: true,
});

const pages = new Map(
  Object.entries(files).map(([path, text]) => [path.replace(/^.*\//, '').replace(/\.md$/, ''), text] as const),
);

export interface MessagePart {
  text: string;
  /** The page that this part leads to. */
  code: string | null;
}

/** A message with the codes that have a page set apart, however they are written. */
export function coded(message: string): MessagePart[] {
  const parts: MessagePart[] = [];
  let at = 0;
  for (const found of message.matchAll(/(?:docs\/errors\/)?(CG-\d{3})(?:\.md)?/g)) {
    const code = found[1]!;
    if (!pages.has(code)) continue;
    if (found.index > at) parts.push({ text: message.slice(at, found.index), code: null });
    parts.push({ text: code, code });
    at = found.index + found[0].length;
  }
  if (at < message.length) parts.push({ text: message.slice(at), code: null });
  return parts;
}

export interface Block {
  kind: 'title' | 'heading' | 'item' | 'text';
  text: string;
}

/** A page as what it consists of; nothing for a code that has none. The pages have headings, lists and paragraphs only. */
export function page(code: string): Block[] {
  const blocks: Block[] = [];
  let open = false;
  for (const line of (pages.get(code) ?? '').split('\n')) {
    const [, mark, rest] = /^(# |## |- )?(.*)$/.exec(line)!;
    const text = rest!.trim().replaceAll('`', '');
    const last = blocks.at(-1);
    if (text === '') open = false;
    else if (mark === undefined && open && last) last.text += ` ${text}`;
    else {
      const kind = mark === '# ' ? 'title' : mark === '## ' ? 'heading' : mark === '- ' ? 'item' : 'text';
      blocks.push({ kind, text });
      open = true;
    }
  }
  return blocks;
}
