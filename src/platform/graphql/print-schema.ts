import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { GraphQLSchemaBuilderModule, GraphQLSchemaFactory } from '@nestjs/graphql';
import { NestFactory } from '@nestjs/core';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { describeRoots } from './graphql-options.ts';

/**
 * The sorted SDL for schema.graphql. Needs no database: an application in preview mode is enough, because only the
 * classes of its resolvers are read.
 */
export async function schemaText(app: INestApplication): Promise<string> {
  const classes = [...app.get(ModulesContainer).values()]
    .flatMap((module) => [...module.providers.values()])
    .map(({ metatype }) => metatype)
    .filter((metatype) => typeof metatype === 'function');
  const builder = await NestFactory.createApplicationContext(GraphQLSchemaBuilderModule, { logger: false });
  const schema = await builder.get(GraphQLSchemaFactory).create(classes);
  return `${printSchema(lexicographicSortSchema(describeRoots(schema)))}\n`;
}
