import { globSync, readdirSync, readFileSync } from 'node:fs';
import { FLOORS, ROOMS } from '../../oxlint.config.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** The rows of the table under "Inside a room": room and its floors. */
function documentedFloors(): Map<string, string> {
  const [, text = ''] = read('docs/architecture.md').split('## Inside a room');
  const rows = [...text.matchAll(/^\| `(?<room>[a-z]+)`\s*\|(?<floors>[^|]*)\|$/gm)];
  return new Map(rows.map(({ groups }) => [groups!['room']!, groups!['floors']!.trim()]));
}

/** The rows of the first table of docs/architecture.md: room and what it may import. */
function documentedRooms(): Map<string, string> {
  const [table = ''] = read('docs/architecture.md').split('## Inside a room');
  const rows = [...table.matchAll(/^\| `(?<room>[a-z]+)`\s*\|[^|]*\|(?<imports>[^|]*)\|$/gm)];
  return new Map(rows.map(({ groups }) => [groups?.['room'] ?? '', (groups?.['imports'] ?? '').trim()]));
}

describe('the rooms of src', () => {
  it('are the folders of src, no more and no fewer', () => {
    const folders = readdirSync(new URL('src', root), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).toSorted()).toEqual(Object.keys(ROOMS).toSorted());
  });

  it('may import what docs/architecture.md says', () => {
    const documented = documentedRooms();
    expect([...documented.keys()].toSorted()).toEqual(Object.keys(ROOMS).toSorted());
    for (const [room, imports] of documented) {
      const lint = ROOMS[room] ?? [];
      const words = imports.startsWith('every room but')
        ? Object.keys(ROOMS).filter((other) => other !== room && !imports.includes(other))
        : imports.split(', ').filter((word) => word !== '');
      expect({ room, imports: words.toSorted() }).toEqual({ room, imports: lint.toSorted() });
    }
  });

  it('have the floors that docs/architecture.md says, and no other folders', () => {
    const named = (floor: string | readonly string[]) =>
      typeof floor === 'string' ? floor : 'the adapters (side by side)';
    const floors = Object.entries(FLOORS).map(([room, all]) => [room, all.map(named).join(', ')]);
    expect([...documentedFloors()]).toEqual(floors);
    for (const room of Object.keys(ROOMS)) {
      const folders = readdirSync(new URL(`src/${room}`, root), { withFileTypes: true }).filter(
        (entry) => entry.isDirectory() && entry.name !== '__snapshots__', // Jest's, beside the specs
      );
      expect([room, folders.map(({ name }) => name).toSorted()]).toEqual([
        room,
        (FLOORS[room] ?? []).flat().toSorted(),
      ]);
    }
  });

  it('import downwards: no two rooms may import each other', () => {
    for (const [room, imports] of Object.entries(ROOMS)) {
      for (const other of imports) expect(ROOMS[other]).not.toContain(room);
    }
  });

  it('keep their SQL statements in sql folders', () => {
    const statements = globSync('src/**/*.ts', { cwd: root.pathname }).filter(
      (path) => !path.endsWith('.spec.ts') && /: Statement = \{/.test(read(path)),
    );
    expect(statements.length).toBeGreaterThan(20);
    expect(statements.filter((path) => !path.includes('/sql/'))).toEqual([]);
  });

  it('send no other SQL than that, besides the platform and the checks of an installation', () => {
    const senders = globSync('src/**/*.ts', { cwd: root.pathname }).filter(
      (path) => !path.endsWith('.spec.ts') && /\.query(<[^()]*>)?\(/.test(read(path)),
    );
    const rooms = senders.filter((path) => !path.startsWith('src/platform/') && !path.includes('/sql/'));
    expect(rooms).toEqual(['src/cli/installation/installation-checks.ts']);
  });

  it('name a class with a Nest role after its file: `x.service.ts` holds `XService`', () => {
    const paths = globSync('src/**/*.{controller,guard,module,service,worker}.ts', { cwd: root.pathname });
    const words = (path: string) => path.split('/').at(-1)!.split(/[.-]/).slice(0, -1);
    const nameOf = (path: string) =>
      words(path)
        .map((word) => word[0]!.toUpperCase() + word.slice(1))
        .join('');
    expect(paths.length).toBeGreaterThan(20);
    expect(paths.filter((path) => !read(path).includes(`class ${nameOf(path)} `))).toEqual([]);
  });
});
