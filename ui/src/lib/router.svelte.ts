// Where the window is: "#/section/rest?query". The address is the only place where it is kept, so that a reload, the tray
// and a link agree.
export const sections = [
  'overview',
  'activity',
  'approvals',
  'servers',
  'tools',
  'clients',
  'rules',
  'settings',
  'welcome',
] as const;
export type Section = (typeof sections)[number];

export interface Route {
  section: Section;
  /** What follows the section: a server's name in "#/rules/files". */
  rest: string | null;
  query: URLSearchParams;
}

export function parseHash(hash: string): Route {
  const text = hash.replace(/^#\/?/, '');
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1));
  const [name, ...more] = path.split('/');
  const section = sections.find((known) => known === name) ?? 'activity';
  return { section, rest: decode(more.join('/')), query };
}

export function formatHash(section: Section, rest: string | null = null, query?: URLSearchParams): string {
  const tail = query?.toString();
  return `#/${section}${rest === null ? '' : `/${encodeURIComponent(rest)}`}${tail ? `?${tail}` : ''}`;
}

function decode(text: string): string | null {
  if (text === '') return null;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export class Router {
  route: Route = $state.raw(parseHash(''));
  /** Asked before leaving; where it says no, `go` goes there after all. */
  guard: ((to: Route, go: () => void) => boolean) | null = null;
  #at = '';

  /** Listens until the page ends. */
  start(): void {
    const read = () => {
      const { hash } = location;
      if (!this.#may(hash)) {
        history.pushState(null, '', this.#at);
        return;
      }
      this.#set(hash);
    };
    addEventListener('hashchange', read);
    read();
  }

  /** A place of its own: Back returns from it. */
  go(hash: string): void {
    if (location.hash === hash || !this.#may(hash)) return;
    this.#push(hash);
  }

  #may(hash: string): boolean {
    return this.guard?.(parseHash(hash), () => this.#push(hash)) ?? true;
  }

  #push(hash: string): void {
    history.pushState(null, '', hash);
    this.#set(hash);
  }

  #set(hash: string): void {
    this.#at = hash;
    this.route = parseHash(hash);
  }

  /** The same place, described anew (a filter typed letter by letter). */
  replace(hash: string): void {
    if (location.hash === hash) return;
    if (parseHash(hash).section !== this.route.section && !this.#may(hash)) return;
    history.replaceState(null, '', hash);
    this.#set(hash);
  }
}
