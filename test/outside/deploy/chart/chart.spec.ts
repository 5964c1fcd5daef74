import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describeWith, say } from '../tools.ts';
import { definitions, validators } from './custom-resources.ts';
import { CHART, find, type Manifest, render, run } from './helm.ts';

const HELM = { helm: 'go install helm.sh/helm/v4/cmd/helm@v4.3.1' };
const VERSIONS = Array.from({ length: 13 }, (_, nth) => `1.${25 + nth}.0`);
const VALUE_SETS = readdirSync(join(CHART, 'ci'));
const valuesOf = (name: string): string[] => ['--values', join(CHART, 'ci', name)];
const isCustom = ({ apiVersion }: Manifest): boolean => /^(keda\.sh|monitoring\.coreos\.com)\//.test(apiVersion);

describeWith(HELM, 'the chart', () => {
  it.each(VALUE_SETS)('passes helm lint --strict with %s', async (name) => {
    expect(await run('helm', 'lint', '--strict', CHART, ...valuesOf(name))).toContain('0 chart(s) failed');
  });

  it.each(VALUE_SETS)(
    'runs everything as 1000 on a read-only root, without privileges or a token, with %s',
    async (name) => {
      const pods = (await render(...valuesOf(name))).filter(({ kind }) => /Deployment|Job|Pod$/.test(kind));
      expect(pods.length).toBeGreaterThanOrEqual(2);
      for (const { kind, spec } of pods) {
        const pod = kind === 'Pod' ? spec : spec.template.spec;
        expect(pod.automountServiceAccountToken).toBe(false);
        expect(pod.securityContext).toMatchObject({
          runAsNonRoot: true,
          runAsUser: 1000,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        for (const { securityContext, resources, volumeMounts } of pod.containers) {
          expect(securityContext).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
          expect(resources.limits.memory).toBeDefined();
          expect(volumeMounts).toContainEqual({ name: 'tmp', mountPath: '/tmp' });
        }
        expect(pod.volumes[0].emptyDir.sizeLimit).toBeDefined();
      }
    },
  );

  it('starts API and workers that differ in role, grace and scaling only', async () => {
    const manifests = await render(...valuesOf('minimal-values.yaml'));
    const [api, worker] = ['api', 'worker'].map((role) => {
      const pod = find(manifests, 'Deployment', `live-darkroom-${role}`).spec.template.spec;
      return { pod, container: pod.containers[0], env: envOf(pod.containers[0].env) };
    });
    expect(api!.env).toMatchObject({ ROLE: 'api', MIGRATE: 'off', SHUTDOWN_DELAY_S: '10', SHUTDOWN_GRACE_S: '25' });
    expect(worker!.env).toMatchObject({ ROLE: 'worker', SHUTDOWN_DELAY_S: '0', SHUTDOWN_GRACE_S: '300' });
    expect([api!.pod.terminationGracePeriodSeconds, worker!.pod.terminationGracePeriodSeconds]).toEqual([65, 330]);
    for (const { container } of [api!, worker!]) {
      const { readinessProbe, livenessProbe, startupProbe } = container;
      const probed = [readinessProbe, livenessProbe, startupProbe].map(({ httpGet }) => [httpGet.path, httpGet.port]);
      expect(probed).toEqual([
        ['/readyz?of=process', 'http'],
        ['/healthz', 'http'],
        ['/healthz', 'http'],
      ]);
    }
    const { env: _a, resources: _b, ...apiRest } = api!.container;
    const { env: _c, resources: _d, ...workerRest } = worker!.container;
    expect(apiRest).toEqual(workerRest);
  });

  it('migrates in a hook before anything else, with a Secret of its own', async () => {
    const manifests = await render(...valuesOf('secret-files-values.yaml'));
    const job = find(manifests, 'Job', 'live-darkroom-migrate');
    expect(job.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
    expect(envOf(job.spec.template.spec.containers[0].env)).toMatchObject({ MIGRATE: 'only' });
    const secret = find(manifests, 'Secret', 'live-darkroom-migrate');
    expect(Object.keys(secret.stringData).sort()).toEqual(['DATABASE_URL', 'SECRET_KEY']);
    expect(Number(secret.metadata.annotations!['helm.sh/hook-weight'])).toBeLessThan(0);
    const withoutJob = await render(...valuesOf('volume-values.yaml'));
    expect(withoutJob.filter(({ kind }) => kind === 'Job')).toEqual([]);
    const { spec } = find(withoutJob, 'Deployment', 'live-darkroom-api').spec.template;
    expect(envOf(spec.containers[0].env)).toMatchObject({ MIGRATE: 'auto' });
  });

  it('lets no Service, monitor or policy select the pods that run once', async () => {
    const manifests = await render(...valuesOf('production-values.yaml'));
    const once = [
      find(manifests, 'Job', 'live-darkroom-migrate').spec.template.metadata.labels,
      find(manifests, 'Pod', 'live-darkroom-generate').metadata.labels,
    ];
    const { selector } = find(manifests, 'Service', 'live-darkroom-metrics').spec;
    for (const labels of once) expect(labels).not.toMatchObject(selector);
    for (const role of ['api', 'worker']) {
      expect(find(manifests, 'Deployment', `live-darkroom-${role}`).spec.template.metadata.labels).toMatchObject(
        selector,
      );
    }
  });

  it('gives secrets as files where asked to, and AWS credentials as variables', async () => {
    const manifests = await render(...valuesOf('secret-files-values.yaml'));
    const [container] = find(manifests, 'Deployment', 'live-darkroom-worker').spec.template.spec.containers;
    expect(JSON.stringify(container.envFrom)).not.toContain('secretRef');
    expect(envOf(container.env)).toMatchObject({
      SECRET_KEY_FILE: '/run/secrets/darkroom/SECRET_KEY',
      OPENAI_API_KEY_FILE: '/run/secrets/darkroom/OPENAI_API_KEY',
      AWS_ACCESS_KEY_ID: { secretKeyRef: { name: 'live-darkroom', key: 'AWS_ACCESS_KEY_ID' } },
    });
    expect(container.volumeMounts).toContainEqual({
      name: 'secret',
      mountPath: '/run/secrets/darkroom',
      readOnly: true,
    });
  });

  it('keeps whole numbers whole', async () => {
    const manifests = await render(...valuesOf('volume-values.yaml'));
    expect(find(manifests, 'ConfigMap', 'live-darkroom').data).toMatchObject({
      MAX_FILE_BYTES_PER_KEY: '5368709120',
      LOW_PRIORITY_SHARE: '0',
      TASK_LEASE_S: '30.5',
    });
  });

  it('serves health and metrics on OPS_PORT, and only clients on the other port', async () => {
    const schemaHasIt =
      'OPS_PORT' in JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')).properties.config.properties;
    const args = [...valuesOf('production-values.yaml'), '--set', 'config.OPS_PORT=9400', '--skip-schema-validation'];
    const manifests = await render(...(schemaHasIt ? args.slice(0, -1) : args));
    const [container] = find(manifests, 'Deployment', 'live-darkroom-api').spec.template.spec.containers;
    expect(container.ports).toContainEqual({ name: 'ops', containerPort: 9400 });
    expect([container.readinessProbe.httpGet.port, container.livenessProbe.httpGet.port]).toEqual(['ops', 'ops']);
    expect(find(manifests, 'Service', 'live-darkroom-metrics').spec.ports[0]).toMatchObject({
      port: 9400,
      targetPort: 'ops',
    });
    const { ingress } = find(manifests, 'NetworkPolicy', 'live-darkroom').spec;
    expect(ingress.map(({ ports }: Manifest) => ports[0].port)).toEqual(['http', 'ops', 'http']);
  });

  it('scales workers by tasks over places, slowly down', async () => {
    const scaled = find(await render(...valuesOf('production-values.yaml')), 'ScaledObject', 'live-darkroom-worker');
    expect(scaled.spec).toMatchObject({ minReplicaCount: 1, maxReplicaCount: 40 });
    expect(scaled.spec.triggers[0].metadata.threshold).toBe('100'); // its WORKER_CONCURRENCY
    expect(scaled.spec.advanced.horizontalPodAutoscalerConfig.behavior.scaleDown.stabilizationWindowSeconds).toBe(600);
  });

  const rules = join(CHART, 'files/rules.yml');
  (existsSync(rules) ? it : it.skip)('ships the alerts of deploy/prometheus unchanged', async () => {
    const rule = find(await render(...valuesOf('production-values.yaml')), 'PrometheusRule', 'live-darkroom');
    expect(rule.spec).toEqual(load(readFileSync(join(CHART, '../../prometheus/rules.yml'), 'utf8')));
  });

  it.each([
    [['config.LOG_LEVELL=info'], /LOG_LEVELL/],
    [['config.SECRET_KEY=a'], /SECRET_KEY/],
    [['config.ROLE=api'], /ROLE/],
    [['apis.replicas=3'], /apis/],
    [['worker.autoscaling.type=vpa'], /type/],
    [['config.PUBLIC_URL='], /Set config.PUBLIC_URL/],
    [['secret.existingSecret='], /Set secret.values.DATABASE_URL, or secret.existingSecret/],
    [['secret.values.FAL_KEY=a'], /not both/],
    [['secret.as=files'], /secret.names/],
    [['persistence.enabled=true'], /only for installations without STORAGE_URL/],
    [['tests.enabled=true'], /tests.apiKeySecret.name is required/],
  ])('refuses %j', async (settings, fault) => {
    const sets = settings.flatMap((setting) => ['--set', setting]);
    await expect(render(...valuesOf('minimal-values.yaml'), ...sets)).rejects.toThrow(fault);
  });
});

describeWith({ ...HELM, 'kubernetes-validate': 'PyPI: kubernetes-validate' }, 'what the chart installs', () => {
  let folder: string;
  const files: string[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'darkroom-chart-'));
    for (const name of VALUE_SETS) {
      for (const [nth, manifest] of (await render(...valuesOf(name))).filter((one) => !isCustom(one)).entries()) {
        const file = join(folder, `${name}-${nth}-${manifest.kind}.yaml`);
        writeFileSync(file, JSON.stringify(manifest)); // YAML too, of every version
        files.push(file);
      }
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(VERSIONS)('is what Kubernetes %s takes, strictly', async (version) => {
    expect(files.length).toBeGreaterThan(40);
    const report = await run('kubernetes-validate', '--strict', '-k', version, ...files);
    expect(report.match(/INFO .*passed/g)).toHaveLength(files.length);
  });
});

describeWith(
  { ...HELM, go: 'for the schemas of KEDA and of the Prometheus operator' },
  'what the chart gives to operators',
  () => {
    it.each(VALUE_SETS)('fits their schemas with %s', async (name) => {
      const texts = await definitions().catch((error: Error) => {
        say(`SKIPPED the schemas of KEDA and of the Prometheus operator: ${error.message.split('\n', 2).join(' ')}`);
        return null;
      });
      if (texts === null) return;
      const known = validators(texts);
      for (const manifest of (await render(...valuesOf(name))).filter(isCustom)) {
        const validate = known.get(`${manifest.apiVersion} ${manifest.kind}`);
        expect([manifest.kind, validate?.(manifest), validate?.errors]).toEqual([manifest.kind, true, null]);
      }
    });
  },
);

function envOf(env: { name: string; value?: string; valueFrom?: object }[]): Record<string, unknown> {
  return Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom]));
}
