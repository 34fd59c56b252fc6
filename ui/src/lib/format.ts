// Numbers and times as a person reads them, always with their unit.

const two = (n: number) => String(n).padStart(2, '0');

/** "14:03:27" in the person's own time zone. */
export function clock(ms: number, seconds = true): string {
  const date = new Date(ms);
  const hm = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return seconds ? `${hm}:${two(date.getSeconds())}` : hm;
}

export const sameDay = (a: number, b: number): boolean => new Date(a).toDateString() === new Date(b).toDateString();

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** "14:03:27" today, "12 Nov 14:03" otherwise: the row has a fixed width. */
export function when(ms: number, nowMs: number): string {
  if (sameDay(ms, nowMs)) return clock(ms);
  const date = new Date(ms);
  return `${date.getDate()} ${months[date.getMonth()]} ${clock(ms, false)}`;
}

/** Day, month, year and time with milliseconds: nothing left out. */
export function fully(ms: number): string {
  const date = new Date(ms);
  return `${date.getDate()} ${months[date.getMonth()]} ${date.getFullYear()} ${clock(ms)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** "840 µs", "12 ms", "1.4 s", "3 min 20 s". */
export function duration(us: number): string {
  if (us < 1_000) return `${Math.round(us)} µs`;
  const ms = us / 1_000;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return span(ms);
}

/** "4.2 s", "42 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". */
export function span(ms: number): string {
  const s = Math.max(0, ms) / 1_000;
  if (s < 10) return `${s.toFixed(1)} s`;
  const whole = Math.round(s);
  if (whole < 60) return `${whole} s`;
  const min = Math.floor(whole / 60);
  if (min < 60) return whole % 60 ? `${min} min ${whole % 60} s` : `${min} min`;
  const h = Math.floor(min / 60);
  if (h < 24) return min % 60 ? `${h} h ${min % 60} min` : `${h} h`;
  return h % 24 ? `${Math.floor(h / 24)} d ${h % 24} h` : `${Math.floor(h / 24)} d`;
}

/** "14:58", "1:04:10": what is left of something. */
export function countdown(ms: number): string {
  const s = Math.max(0, Math.ceil(ms / 1_000));
  const h = Math.floor(s / 3600);
  const rest = `${two(Math.floor((s % 3600) / 60))}:${two(s % 60)}`;
  return h > 0 ? `${h}:${rest}` : rest;
}

/** "just now", "5 min ago", "3 h ago", "2 d ago". */
export function ago(ms: number, nowMs: number): string {
  const s = Math.round((nowMs - ms) / 1_000);
  if (s < 5) return 'just now';
  if (s < 60) return `${s} s ago`;
  if (s < 3_600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86_400) return `${Math.floor(s / 3_600)} h ago`;
  return `${Math.floor(s / 86_400)} d ago`;
}

/** "640 B", "12.4 kB", "3.1 MB". */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = -1;
  do {
    value /= 1_000;
    unit += 1;
  } while (value >= 999.5 && unit < units.length - 1);
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** "12,480". */
export const number = (n: number): string => n.toLocaleString('en-US');

/** "1 call", "12,480 calls". */
export const count = (n: number, one: string, many = `${one}s`): string => `${number(n)} ${n === 1 ? one : many}`;
