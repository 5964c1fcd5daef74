import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { startInProcess } from '../../../support/in-process.ts';
import { describeWith } from '../tools.ts';
import { CHART, find, render } from './helm.ts';

interface IngressPath {
  path: string;
  pathType: 'Exact' | 'Prefix';
}

/** As Kubernetes matches paths: a prefix ends where a segment ends. */
const matches = (path: string, { path: wanted, pathType }: IngressPath): boolean =>
  path === wanted || (pathType === 'Prefix' && path.startsWith(`${wanted}/`));

/** The paths of all routes, from Fastify's tree of them: four characters of indentation a level. */
function pathsOf(fastify: FastifyInstance): string[] {
  const above: string[] = [];
  const lines = fastify.printRoutes({ commonPrefix: false }).split('\n');
  return lines.flatMap((line) => {
    const [, indent, part, methods] = /^([│├└─ ]*)(\S+)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? [];
    if (part === undefined) return [];
    const level = indent!.length / 4;
    above.length = level - 1;
    above.push(part);
    return methods === undefined ? [] : [above.join('').replace(/\/?\*$/, '/*')]; // Fastify leaves the slash out
  });
}

describeWith({ helm: 'go install helm.sh/helm/v4/cmd/helm@v4.3.1' }, 'the ingress', () => {
  it('forwards every route, but health and metrics', async () => {
    const manifests = await render('--values', join(CHART, 'ci', 'production-values.yaml'));
    const forwarded = find(manifests, 'Ingress', 'live-darkroom').spec.rules[0].http.paths as IngressPath[];
    const service = await startInProcess({ GRAPHQL_INTROSPECTION: 'on' });
    try {
      const printed = pathsOf(service.app.getHttpAdapter().getInstance());
      // The tree shows `/llms/*` without its beginning.
      const paths = [...new Set(printed.map((path) => (path === '/*' ? '/llms/*' : path)))];
      expect(paths).toEqual(
        expect.arrayContaining(['/mcp', '/llms.txt', '/app/*', '/client.tgz', '/docs', '/graphql']),
      );
      const inside = paths.filter((path) => !forwarded.some((one) => matches(path, one)));
      expect(inside.toSorted()).toEqual(['/healthz', '/metrics', '/readyz']);
      const unused = forwarded.filter((one) => !paths.some((path) => matches(path, one)));
      expect(unused).toEqual([]);
    } finally {
      await service.close();
    }
  });
});
