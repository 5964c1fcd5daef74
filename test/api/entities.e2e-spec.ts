import type { DataSource, EntityMetadata } from 'typeorm';
import '../../src/app.module.ts'; // loads every module, and with it every entity that the service registers
import { createDataSource } from '../../src/platform/database/data-source.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

/** Tables of TypeORM itself. */
const BOOKKEEPING = ['schema_migrations'];
interface Table {
  columns: Record<string, string>;
  primaryKey: string[];
}

let database: TestDatabase;
let dataSource: DataSource;
let migrated: Map<string, Table>;

beforeAll(async () => {
  database = await cloneDatabase();
  dataSource = await createDataSource(database.url).initialize();
  migrated = await migratedTables();
});
afterAll(async () => {
  await dataSource?.destroy();
  await database?.drop();
});

describe('the entities agree with the migrated database', () => {
  it('every table has one entity, and every entity a table', () => {
    const tables = [...migrated.keys()].filter((name) => !BOOKKEEPING.includes(name));
    const entities = dataSource.entityMetadatas.map(({ tableName }) => tableName);
    expect(entities.toSorted()).toEqual(tables.toSorted());
    expect([...migrated.keys()]).toEqual(expect.arrayContaining(BOOKKEEPING));
  });

  it('columns, types, nullability and primary keys are the same', () => {
    for (const metadata of dataSource.entityMetadatas) {
      expect({ [metadata.tableName]: mappedTable(metadata) }).toEqual({
        [metadata.tableName]: migrated.get(metadata.tableName),
      });
    }
  });

  it('a property is named like its column', () => {
    const renamed = dataSource.entityMetadatas.flatMap(({ tableName, columns }) =>
      columns
        .filter(({ propertyName, databaseName }) => propertyName !== databaseName)
        .map(({ propertyName, databaseName }) => `${tableName}.${databaseName} as ${propertyName}`),
    );
    expect(renamed).toEqual([]);
  });
});

function mappedTable({ columns, primaryColumns }: EntityMetadata): Table {
  const { driver } = dataSource;
  return {
    columns: Object.fromEntries(
      columns.map((column) => [
        column.databaseName,
        describeColumn(driver.normalizeType(column) + (column.isArray ? '[]' : ''), column.isNullable),
      ]),
    ),
    primaryKey: primaryColumns.map(({ databaseName }) => databaseName),
  };
}

async function migratedTables(): Promise<Map<string, Table>> {
  const columns: { table: string; column: string; type: string; nullable: boolean }[] = await dataSource.query(`
    select t.table_name as "table", c.column_name as "column", c.is_nullable = 'YES' as nullable,
           case c.data_type when 'ARRAY' then e.data_type || '[]' else c.data_type end as type
    from information_schema.tables t
    join information_schema.columns c using (table_schema, table_name)
    left join information_schema.element_types e
           on e.object_schema = c.table_schema and e.object_name = c.table_name and e.object_type = 'TABLE'
          and e.collection_type_identifier = c.dtd_identifier
    where t.table_schema = 'public' and t.table_type = 'BASE TABLE'
      and not (select relispartition from pg_class where oid = quote_ident(t.table_name)::regclass)`);
  const keys: { table: string; column: string }[] = await dataSource.query(`
    select k.table_name as "table", k.column_name as "column"
    from information_schema.table_constraints c
    join information_schema.key_column_usage k using (constraint_schema, constraint_name)
    where c.constraint_schema = 'public' and c.constraint_type = 'PRIMARY KEY'
    order by k.ordinal_position`);

  const tables = new Map<string, Table>();
  for (const { table, column, type, nullable } of columns) {
    const found = tables.get(table) ?? { columns: {}, primaryKey: [] };
    found.columns[column] = describeColumn(type, nullable);
    tables.set(table, found);
  }
  for (const { table, column } of keys) tables.get(table)?.primaryKey.push(column); // a partition has the key of its table;
  return tables;
}

const describeColumn = (type: string, nullable: boolean): string => (nullable ? type : `${type} not null`);
