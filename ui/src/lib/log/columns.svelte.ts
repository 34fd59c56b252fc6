// How wide the columns of the log are: names take the room that they need before arguments do, and a person can drag each one.
// What was dragged counts on this machine until it is taken back by a double click.
import type { CallLine } from '../backend';

export type Room = 'all' | 'most' | 'some' | 'few';
export type Column = 'time' | 'client' | 'server' | 'tool' | 'decision' | 'duration' | 'size';
type Named = 'client' | 'server' | 'tool';

/** In little room the last ones go. Who called is never one of them. */
export const shownIn: Record<Room, readonly Column[]> = {
  all: ['time', 'client', 'server', 'tool', 'decision', 'duration', 'size'],
  most: ['time', 'client', 'server', 'tool', 'decision', 'duration'],
  some: ['time', 'client', 'server', 'tool', 'decision'],
  few: ['time', 'client', 'tool', 'decision'],
};

/** What each has at least, unless it was dragged narrower; of arguments what is left for them. */
const least: Record<Room, Record<Column | 'arguments', number>> = {
  all: { time: 92, client: 112, server: 96, tool: 120, arguments: 260, decision: 132, duration: 68, size: 64 },
  most: { time: 92, client: 96, server: 76, tool: 96, arguments: 190, decision: 128, duration: 64, size: 0 },
  some: { time: 92, client: 84, server: 64, tool: 92, arguments: 72, decision: 118, duration: 0, size: 0 },
  few: { time: 64, client: 68, server: 0, tool: 82, arguments: 62, decision: 118, duration: 0, size: 0 },
};
export const narrowest = 48;
export const widest = 480;
const gap = 12;
const storage = 'callgate.log.columns';
const columns: readonly Column[] = shownIn.all;

export const roomFor = (width: number): Room =>
  width > 1000 ? 'all' : width > 760 ? 'most' : width > 500 ? 'some' : 'few';

/** Those behind the arguments are dragged by their left edge. */
export const isBehind = (column: Column): boolean => columns.indexOf(column) > columns.indexOf('tool');

const clamp = (width: number) => Math.round(Math.min(widest, Math.max(narrowest, width)));

export class Columns {
  dragged: Partial<Record<Column, number>> = $state.raw(read());
  /** What the longest name so far takes. It only grows: columns that move with every page could not be read. */
  needs: Record<Named, number> = $state.raw({ client: 0, server: 0, tool: 0 });
  readonly #letters: Record<Named, number> = { client: 0, server: 0, tool: 0 };
  readonly #measure: (text: string) => number;

  constructor(measure: (text: string) => number = measurer()) {
    this.#measure = measure;
  }

  /** Takes note of names that are shown. */
  see(calls: readonly CallLine[], knownAs: (client: string) => string): void {
    const needs = { ...this.needs };
    for (const call of calls) {
      const names: Record<Named, string> = {
        client: knownAs(call.client ?? ''),
        server: call.server,
        tool: call.tools.length > 1 ? '' : (call.tool ?? call.method ?? ''),
      };
      for (const column of ['client', 'server', 'tool'] as const) {
        // As a line for several calls it has an arrow before it.
        const name = names[column] + (column === 'tool' ? '   ' : '');
        if (name.length <= this.#letters[column]) continue;
        this.#letters[column] = name.length;
        needs[column] = Math.max(needs[column], Math.min(widest, Math.ceil(this.#measure(name.slice(0, 200))) + 4));
      }
    }
    if (Object.keys(needs).some((name) => needs[name as Named] !== this.needs[name as Named])) this.needs = needs;
  }

  /** For `grid-template-columns`. A track between two lengths grows before one that takes what is left. */
  template(room: Room): string {
    const base = least[room];
    const track = (column: Column) => {
      const dragged = this.dragged[column];
      if (dragged !== undefined) return `minmax(${Math.min(dragged, base[column])}px, ${dragged}px)`;
      const need = column in this.needs ? this.needs[column as Named] : 0;
      return need > base[column] ? `minmax(${base[column]}px, ${need}px)` : `${base[column]}px`;
    };
    const tracks = shownIn[room].map((column) => ({ column, width: track(column) }));
    const before = tracks.filter(({ column }) => !isBehind(column)).map(({ width }) => width);
    const behind = tracks.filter(({ column }) => isBehind(column)).map(({ width }) => width);
    return [...before, `minmax(${base.arguments}px, 1fr)`, ...behind].join(' ');
  }

  /** Pixels behind the arguments. */
  behind(room: Room): number {
    const widths = shownIn[room].filter(isBehind).map((column) => this.dragged[column] ?? least[room][column]);
    return widths.reduce((sum, width) => sum + width + gap, 16);
  }

  drag(column: Column, width: number): void {
    this.dragged = { ...this.dragged, [column]: clamp(width) };
  }

  /** As wide as it is by itself. */
  release(column: Column): void {
    const { [column]: _, ...rest } = this.dragged;
    this.dragged = rest;
    this.keep();
  }

  keep(): void {
    try {
      localStorage.setItem(storage, JSON.stringify(this.dragged));
    } catch {
      // Then it counts for this session.
    }
  }
}

function read(): Partial<Record<Column, number>> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storage) ?? '{}');
    const widths = Object.entries(kept ?? {}).filter(
      ([name, width]) => columns.some((column) => column === name) && Number.isFinite(width),
    );
    return Object.fromEntries(widths.map(([name, width]) => [name, clamp(Number(width))]));
  } catch {
    return {};
  }
}

/** In the font of the page; by the number of letters where nothing can be drawn. */
function measurer(): (text: string) => number {
  const byLetters = (text: string) => text.length * 7.2;
  if (typeof CanvasRenderingContext2D === 'undefined') return byLetters;
  const context = document.createElement('canvas').getContext('2d');
  if (!context) return byLetters;
  const { fontFamily, fontSize } = getComputedStyle(document.body);
  context.font = `500 ${fontSize} ${fontFamily}`;
  return (text) => context.measureText(text).width;
}
